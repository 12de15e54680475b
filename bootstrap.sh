#!/bin/sh
# Builds .venv on a bare Debian or Ubuntu machine: called by make, never needed by hand.
set -eu
if [ -z "${PYTHON:-}" ]; then
  echo "obviate needs Python 3.11, 3.12 or 3.13, and found none on PATH." >&2
  echo "Install one (apt-get install python3 python3-venv) or name it: make test PYTHON=/path/to/python3.12" >&2
  exit 2
fi
rm -f .venv/.installed
# Debian and Ubuntu ship Python without ensurepip; python3-venv brings it.
if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
  package=$("$PYTHON" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
  echo "installing $package, which this machine's Python lacks"
  SUDO=""
  [ "$(id -u)" = 0 ] || SUDO="sudo -n"
  if ! { $SUDO apt-get update -qq && $SUDO apt-get install -y -qq --no-install-recommends "$package"; } >/dev/null 2>&1; then
    echo "could not install it: run 'apt-get install $package' as root, then make again" >&2
    exit 2
  fi
fi
[ -x .venv/bin/python ] || "$PYTHON" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[$EXTRAS]"
# The import names differ from the folders; tools that read files and not imports find them here.
mkdir -p .venv/src/obviate
for part in kb engine compilers adapters examples; do ln -sfn "../../../$part" ".venv/src/obviate/$part"; done
touch .venv/.installed
