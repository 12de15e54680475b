#!/bin/sh
# Builds .venv on a bare Debian or Ubuntu machine: called by make, never needed by hand.
set -eu
if [ -z "${PYTHON:-}" ]; then
  echo "obviate needs Python 3.11, 3.12 or 3.13, and found none on PATH." >&2
  echo "Install one (apt-get install python3 python3-venv) or name it: make test PYTHON=/path/to/python3.12" >&2
  exit 2
fi
install_package() {
  echo "installing $1, which this machine lacks"
  SUDO=""
  [ "$(id -u)" = 0 ] || SUDO="sudo -n"
  if ! { $SUDO apt-get update -qq && $SUDO apt-get install -y -qq --no-install-recommends "$1"; } >/dev/null 2>&1; then
    echo "could not install it: run 'apt-get install $1' as root, then make again" >&2
    exit 2
  fi
}
# Debian and Ubuntu ship Python without ensurepip; python3-venv brings it.
if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
  install_package "$("$PYTHON" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
fi
# The extra is a binding to SWI-Prolog, which no wheel brings.
case ",$EXTRAS," in
*,prolog,*) command -v swipl >/dev/null 2>&1 || install_package swi-prolog-nox ;;
esac
[ -x .venv/bin/python ] || "$PYTHON" -m venv .venv
# A build of torch to take in place of the newest, which may bring gigabytes for a GPU.
[ -z "${TORCH:-}" ] || .venv/bin/python -m pip install --quiet --disable-pip-version-check "$TORCH"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[$EXTRAS]"
# The import names differ from the folders; tools that read files and not imports find them here.
mkdir -p .venv/src/obviate
for part in kb engine compilers adapters examples; do ln -sfn "../../../$part" ".venv/src/obviate/$part"; done
