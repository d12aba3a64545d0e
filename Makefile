# Two commands for a newcomer: `make demo` and `make test`. Each bootstraps what it needs.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
TRAINING := .venv-training
DOCS := .venv-docs
BIN := $(VENV)/bin
BASE := $(VENV)/.base
STAMP := $(VENV)/.installed
export OPENBLAS_NUM_THREADS = 1

DATA ?= ../shared/data
OUT ?= build/bench

.PHONY: help install demo demo-ui test test-long test-training check format bench bench-guard peers results figures llm-local lock clean reference docs follow-docs
.DEFAULT_GOAL := help

help: ## List the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

install: $(STAMP) ## Create .venv with everwhen, its extras (all but bench) and the development tools

$(BASE): requirements-base.lock
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "everwhen needs Python 3.11 or newer: make PYTHON=python3.11 …"'
	@echo "installing what everwhen needs into $(VENV), once: about a minute"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes --requirement requirements-base.lock
	@touch $@

# Chromium and axe-core for the browser tests, where this machine can install them.
$(VENV)/.browser: $(STAMP) scripts/browser_tools.sh
	@scripts/browser_tools.sh $(VENV)/axe
	@touch $@

$(STAMP): $(BASE) pyproject.toml requirements.lock
	$(BIN)/pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(BASE) ## A story's timeline and answers with reasons, no key asked
	@PYTHONPATH=src $(BIN)/python -m everwhen demo
	@echo "In this checkout: make demo-ui; make install puts everwhen into .venv/bin"

demo-ui: $(STAMP) ## The page on the same story, in your browser (Ctrl-C ends it)
	@$(BIN)/everwhen demo --ui

# Each worker takes the tests of one part in their order, and helps the others at the end: what a file's tests share is
# made in one of them. Three for two cores: some tests wait.
PYTEST := $(BIN)/pytest -n 3 --dist worksteal
# Empty: compiled tests are kept for the next run and for the processes that tests start.
test test-long test-training check: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.browser ## The whole test suite, offline: about five minutes on two quiet cores
	$(PYTEST)

test-long: $(STAMP) ## What `make test` leaves out: training, benches, quality and speed, long fuzzing and crash points
	$(PYTEST) -m long

$(TRAINING)/.installed: requirements-training.txt
	$(PYTHON) -m venv $(TRAINING)
	$(TRAINING)/bin/pip install --quiet --disable-pip-version-check --requirement requirements-training.txt
	@touch $@

# Without tests/conftest.py, which needs everwhen and its tools.
test-training: $(TRAINING)/.installed ## The steps of training/ that need torch, small, on the CPU (an environment of their own)
	$(TRAINING)/bin/python -m pytest tests/training_torch --confcutdir=tests/training_torch

check: $(VENV)/.browser ## Format, lint, types, architecture, tests: what CI runs
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST)

format: $(STAMP) ## Format and fix what can be fixed
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

$(VENV)/.bench: $(STAMP) requirements-bench.lock
	$(BIN)/pip install --quiet --require-hashes --requirement requirements-bench.lock
	@touch $@

bench: $(VENV)/.bench ## Every table of docs/results.md and benchmarks/history but the peers', from the development data in DATA
	$(BIN)/everwhen bench all --data $(DATA) --out $(OUT) --again

bench-guard: $(STAMP) ## Three minutes: fails where quality fell by more than two points (not part of `make test`)
	$(BIN)/everwhen bench guard --data $(DATA)

$(PEERS)/.installed: $(STAMP) requirements-peers.lock
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --require-hashes --requirement requirements-peers.lock
	$(PEERS)/bin/pip install --quiet --no-deps --editable .
	@touch $@

peers: $(PEERS)/.installed ## Other memories beside everwhen: an environment of their own (1.3 GB), then both tables
	$(BIN)/everwhen bench peers --data $(DATA)/locomo_dev.json --out $(OUT)/peers_locomo.json
	$(BIN)/everwhen bench peers --data $(DATA)/longmemeval_pool_dev.json.xz --cached --out $(OUT)/peers_longmemeval.json

results: $(STAMP) ## Write the tables of results, performance, retrieval and benchmarks/history from the files in OUT
	$(BIN)/python scripts/results_tables.py $(OUT)
	$(BIN)/python scripts/retrieval_tables.py $(wildcard $(OUT)/locomo.json $(OUT)/longmemeval.json)

figures: $(STAMP) ## Draw the pictures of the documents from real runs
	$(BIN)/python scripts/figures.py

reference: $(STAMP) ## Write docs/reference/ (not in the repository) from the code
	$(BIN)/python scripts/reference.py

$(DOCS)/.installed: requirements-docs.lock
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-docs.lock
	@touch $@

docs: $(DOCS)/.installed reference ## Build the documentation site into build/site, with search (an environment of its own)
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build
	@echo "to read it: $(PYTHON) -m http.server --directory build/site 8000, then http://127.0.0.1:8000"

follow-docs: ## Do what README and guides say, word by word, in a clean clone and a fresh environment (about ten minutes)
	$(PYTHON) scripts/follow_docs.py --clone

llm-local: $(STAMP) ## Extraction by a real local model (opt-in: builds llama.cpp, about 10 minutes)
	scripts/llm_local.sh

lock: $(STAMP) ## Resolve the five lock files again
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra llm --extra serve --extra ui --extra postgres --extra dev --quiet \
	  --universal --python-version 3.11 --generate-hashes --no-header --output-file requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra llm --extra serve --extra ui --extra postgres --extra dev --extra bench --quiet \
	  --universal --python-version 3.11 --generate-hashes --no-header --output-file requirements-bench.lock
	$(BIN)/uv pip compile pyproject.toml --extra peers --quiet \
	  --universal --python-version 3.11 --generate-hashes --no-header --output-file requirements-peers.lock
	$(BIN)/uv pip compile --group docs --quiet \
	  --universal --python-version 3.11 --generate-hashes --no-header --output-file requirements-docs.lock
	$(BIN)/uv pip compile pyproject.toml --constraint requirements.lock --quiet \
	  --universal --python-version 3.11 --generate-hashes --no-header --output-file requirements-base.lock

clean: ## Remove the environments and caches
	rm -rf $(VENV) $(PEERS) $(TRAINING) $(DOCS) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
