# make demo    sets up everything, values training data and features, writes demo/report.html
# make test    sets up everything and runs the tests
# make setup   installs at once what all of these need
# make torch   adds the CPU build of PyTorch, for the tests of neural set functions
# make check   ruff, mypy and import-linter
# make paper   the paper's experiments again, small, into build/paper; FULL=1: at the paper's sizes; ARGS=: more options
# make docs    builds the documentation site, strictly, into site/
# make bench   measures against peers and physical floors, rewrites benchmarks/RESULTS.md, docs/charts.md, README's figures
# make release-check   builds the distributions, tries them and every extra alone, attacks them
# make hashes  lists what the tests install with the hash of every file, for pip --require-hashes

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
# Python compiles what is imported when it is imported; pip would compile all there is.
PIP := $(RUN) -m pip --disable-pip-version-check install --quiet --no-compile
TORCH := torch==2.13.0+cpu
# What is compiled is kept for the many processes of the tests: without it each compiles scikit-learn anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test torch check paper docs bench release-check hashes clean

demo: $(VENV)/demo.stamp
	$(VENV)/bin/fairfield demo

demo/report.html: $(shell find src -name '*.py')
	$(MAKE) demo

# Workers share the cores: threads of BLAS and OpenMP inside them would wait for each other.
test: $(VENV)/test.stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(RUN) -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

torch: $(VENV)/torch.stamp

check: $(VENV)/check.stamp
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

paper: $(VENV)/test.stamp
	$(RUN) -m paper all $(if $(FULL),--full,--quick) $(ARGS)

# Material for MkDocs advertises its successor on every run unless this is set.
docs: $(VENV)/docs.stamp demo/report.html
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict
	@echo "open site/index.html"

bench: $(VENV)/torch.stamp
	$(RUN) benchmarks/run_all.py

release-check: $(VENV)/bin/python
	$(RUN) release/check.py

hashes: $(VENV)/bin/python
	$(PIP) uv
	@mkdir -p build
	$(VENV)/bin/uv pip compile --quiet --generate-hashes --extra test --constraint constraints.txt \
	  --output-file build/hashes.txt pyproject.toml
	@echo "pip install --require-hashes -r build/hashes.txt, then pip install --no-deps -e ."

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "fairfield needs Python 3.11 or newer, $(PYTHON) is older; run: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --constraint constraints.txt --editable '.[cli,trees]'
	@touch $@

$(VENV)/test.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --constraint constraints.txt --editable '.[test]'
	@touch $@

# The build without CUDA is on an index of its own, which need not answer where another has it.
$(VENV)/torch.stamp: $(VENV)/test.stamp
	@$(PIP) --constraint constraints.txt '$(TORCH)' || \
	  { echo "no index of pip has the CPU build of PyTorch; name one that has it in PIP_EXTRA_INDEX_URL"; exit 1; }
	@touch $@

$(VENV)/check.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --constraint constraints.txt --editable '.[check]'
	@touch $@

$(VENV)/docs.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --constraint constraints.txt --editable '.[docs]'
	@touch $@

# All of these at once: five runs of pip take twice the time of one.
setup: | $(VENV)/bin/python
	$(PIP) --constraint constraints.txt --editable '.[check,docs]' '$(TORCH)'
	@touch $(addprefix $(VENV)/,$(addsuffix .stamp,test torch check docs demo))

clean:
	rm -rf $(VENV) build dist demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis
