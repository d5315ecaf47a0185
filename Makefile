# Everything a newcomer types. Each target sets up what it needs in .venv, from pinned and hashed requirements.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CHECK_PYTHON := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

.PHONY: demo test test-all lint bench clean help

help:
	@echo "make demo    see Proctor at work (under two minutes after installation)"
	@echo "make test    run the tests"
	@echo "make lint    style, types and the direction of imports"
	@echo "make bench   measure, with ratios against baselines"

demo: $(VENV)/run.stamp
	@$(BIN)/proctor demo
	@echo "The command is $(BIN)/proctor; to type just proctor: . $(BIN)/activate"

test: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -n 2

test-all: $(VENV)/dev.stamp
	@PROCTOR_SEEDS=20 PROCTOR_CRASH_POINTS=500 $(BIN)/python -m pytest -n 2

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff format --check src tests bench
	@$(BIN)/ruff check src tests bench
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/dev.stamp
	@for file in bench/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

$(VENV)/python.stamp:
	@$(PYTHON) -c '$(CHECK_PYTHON)' 2>/dev/null || { \
	  echo "Proctor needs Python 3.11 or newer with venv; found: $$($(PYTHON) --version 2>&1)."; \
	  echo "On Debian: apt-get install python3 python3-venv. Another interpreter: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/run.stamp: $(VENV)/python.stamp requirements.lock pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/python.stamp requirements-dev.lock pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/run.stamp

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis
