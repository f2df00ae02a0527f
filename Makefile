# Each command sets up the virtual environment when that is missing: the demo only what it needs, the others all of it.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
# Processes of the tests; each of them computes with one thread.
WORKERS ?= $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
# Hundreds of processes of the tests start sooner with compiled modules, which some shells forbid to keep.
unexport PYTHONDONTWRITEBYTECODE
# Folder of the real data sets; tests that need it are skipped, and counted, without it.
export HEEDFUL_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: demo test trials versions lint site bench load ray format clean

demo: $(VENV)/.installed ## train on the generated corpus, predict, explain
	$(BIN)/heedful demo

test: $(VENV)/.ready ## run the tests, one file a process at a time on every core
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

trials: $(VENV)/.ready ## kills, full disks, flipped bits, hostile input by the thousand: about 20 minutes
	$(BIN)/pytest -m trial tests/trials

versions: $(VENV)/.ready ## the tests with the oldest libraries that are promised and with the newest, without heedful-en: an hour
	$(BIN)/python -m heedful_lab.repository.versions build/versions oldest newest $(ARGUMENTS)

lint: $(VENV)/.ready ## style, types, import order, docstrings, the site of the documents
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pydoclint -q src/heedful packages/heedful-lab/src
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q --strict

site: $(VENV)/.ready ## the documents as a site, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.ready ## time heedful against its peers
	$(BIN)/heedful bench

load: $(VENV)/.ready ## the server under load on the loopback, beside FastAPI where that is installed: some minutes
	$(BIN)/python -m heedful_lab.studies.load $(ARGUMENTS)

ray: $(VENV)/.ready ## a million rows through a local Ray with killed workers; needs the extra ray: some minutes
	$(BIN)/python -m heedful_lab.studies.ray_million $(ARGUMENTS)

format: $(VENV)/.ready
	$(BIN)/ruff check --fix-only -q .
	$(BIN)/ruff format -q .

# torch first and pinned: without the pin pip would choose a build with gigabytes of CUDA libraries.
SOURCES := pyproject.toml constraints.txt setup.py $(wildcard src/heedful/csrc/*)
TORCH = test -x $(BIN)/python || $(PYTHON) -m venv $(VENV); $(BIN)/pip install -q -c constraints.txt torch

$(VENV)/.installed: $(SOURCES)
	$(TORCH)
	$(BIN)/pip install -q -c constraints.txt -e .
	touch $@

# Not after .installed, which would compile the kernels once more.
$(VENV)/.ready: $(SOURCES) packages/heedful-en/pyproject.toml packages/heedful-lab/pyproject.toml
	$(TORCH)
	$(BIN)/pip install -q -c constraints.txt -e '.[dev]' -e ./packages/heedful-en -e ./packages/heedful-lab
	touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info
