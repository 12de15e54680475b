# The single entry: every target sets up what it needs in .venv, from nothing but Python and make.
PYTHON ?= $(shell for p in python3.12 python3.13 python3.11 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(not (3,11) <= sys.version_info[:2] < (3,14))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal -q
EXTRAS ?= dev
# What .venv is set up for stands in the stamp's name, so that asking for more extras installs them.
comma := ,
STAMP := .venv/.installed-$(subst $(comma),-,$(EXTRAS))

.PHONY: demo test lint soak fmt clean setup models llamacpp
.DEFAULT_GOAL := demo

demo: setup
	$(BIN)/obviate demo

test: setup
	$(PYTEST)

soak: setup
	OBVIATE_SOAK=1 $(PYTEST) -m soak

# The local model, for the tests that want the real one; needs the extra llm.
models: setup
	$(BIN)/obviate models fetch

# llama.cpp is built from source, for minutes: its tests on the real thing run here only.
llamacpp: EXTRAS := dev,llm,llamacpp
llamacpp:
	$(MAKE) setup EXTRAS=$(EXTRAS)
	$(BIN)/python -m pytest -q tests/compilers/llamacpp_real.py

lint: setup
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	MYPYPATH=.venv/src $(BIN)/mypy -p obviate.kb -p obviate.engine -p obviate.compilers -p obviate.adapters
	MYPYPATH=.venv/src:tests:tests/kb:tests/engine:tests/world:tests/compilers $(BIN)/mypy tests benchmarks examples
	$(BIN)/lint-imports

fmt: setup
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

setup: $(STAMP)

$(STAMP): pyproject.toml Makefile bootstrap.sh
	PYTHON="$(PYTHON)" EXTRAS="$(EXTRAS)" TORCH="$(TORCH)" sh bootstrap.sh
	touch $@

clean:
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
