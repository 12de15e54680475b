# The single entry: every target sets up what it needs in .venv, from nothing but Python and make.
PYTHON ?= $(shell for p in python3.12 python3.13 python3.11 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(not (3,11) <= sys.version_info[:2] < (3,14))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal -q
EXTRAS ?= dev

.PHONY: demo test lint soak fmt clean setup
.DEFAULT_GOAL := demo

demo: setup
	$(BIN)/obviate demo

test: setup
	$(PYTEST)

soak: setup
	OBVIATE_SOAK=1 $(PYTEST) -m soak

lint: setup
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	MYPYPATH=.venv/src $(BIN)/mypy -p obviate.kb -p obviate.engine -p obviate.compilers -p obviate.adapters
	MYPYPATH=.venv/src:tests:tests/kb:tests/engine:tests/world $(BIN)/mypy tests benchmarks examples
	$(BIN)/lint-imports

fmt: setup
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

setup: .venv/.installed

.venv/.installed: pyproject.toml Makefile bootstrap.sh
	PYTHON="$(PYTHON)" EXTRAS="$(EXTRAS)" sh bootstrap.sh

clean:
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
