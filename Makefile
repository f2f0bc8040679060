# make demo    sets up everything and values a game
# make test    sets up everything and runs the tests
# make check   ruff, mypy and import-linter
# make bench   measures against peers and physical floors, rewrites benchmarks/RESULTS.md
# make release-check   builds the distributions, tries them and every extra alone, kills workers

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check install --quiet

.PHONY: demo test check bench release-check clean

demo: $(VENV)/base.stamp
	$(RUN) examples/quickstart.py

test: $(VENV)/test.stamp
	$(RUN) -m pytest

check: $(VENV)/check.stamp
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(VENV)/test.stamp
	$(RUN) benchmarks/run_all.py

release-check: $(VENV)/check.stamp
	$(RUN) benchmarks/release_check.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "fairfield needs Python 3.11 or newer, $(PYTHON) is older; run: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/base.stamp: pyproject.toml | $(VENV)/bin/python
	$(PIP) --constraint constraints.txt --editable .
	@touch $@

$(VENV)/test.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --constraint constraints.txt --editable '.[test]'
	@touch $@

$(VENV)/check.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --constraint constraints.txt --editable '.[check]'
	@touch $@

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
