# Two commands for a newcomer: `make demo` and `make test`. Each bootstraps what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export OPENBLAS_NUM_THREADS = 1

DATA ?= ../shared/data
OUT ?= build/bench

.PHONY: help install demo test check format bench figures llm-local lock clean
.DEFAULT_GOAL := help

help: ## List the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(STAMP) ## Create .venv with everwhen, its extras (all but bench) and the development tools

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "everwhen needs Python 3.11 or newer: make PYTHON=python3.11 …"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP) ## A story's timeline and three answers with reasons, no key asked
	@$(BIN)/everwhen demo

test: $(STAMP) ## The whole test suite, offline
	$(BIN)/pytest -n 2

check: $(STAMP) ## Format, lint, types, architecture, tests: what CI runs
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2

format: $(STAMP) ## Format and fix what can be fixed
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

$(VENV)/.bench: $(STAMP) requirements-bench.lock
	$(BIN)/pip install --quiet --require-hashes --requirement requirements-bench.lock
	@touch $@

bench: $(VENV)/.bench ## Every table of docs/, from the development data in DATA
	$(BIN)/everwhen bench timex --data $(DATA)/timex_chat_dev.json --peers --out $(OUT)/timex_chat.json
	$(BIN)/everwhen bench timex --data $(DATA)/timex_recognizers.json --peers --out $(OUT)/timex_recognizers.json
	$(BIN)/everwhen bench locomo --data $(DATA)/locomo_dev.json --when $(DATA)/locomo_when_dev.json --ablate --out $(OUT)/locomo.json
	$(BIN)/everwhen bench longmemeval --data $(DATA)/longmemeval_pool_dev.json.xz --ablate --out $(OUT)/longmemeval.json
	$(BIN)/everwhen bench speed --units 10000 --out $(OUT)/speed_10k.json
	$(BIN)/everwhen bench speed --units 100000 --out $(OUT)/speed_100k.json

figures: $(STAMP) ## Draw the pictures of the documents from real runs
	$(BIN)/python scripts/figures.py

llm-local: $(STAMP) ## Extraction by a real local model (opt-in: builds llama.cpp, about 10 minutes)
	scripts/llm_local.sh

lock: $(STAMP) ## Resolve requirements.lock and requirements-bench.lock again
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra llm --extra serve --extra ui --extra dev --quiet \
	  --universal --python-version 3.11 --generate-hashes --no-header --output-file requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra llm --extra serve --extra ui --extra dev --extra bench --quiet \
	  --universal --python-version 3.11 --generate-hashes --no-header --output-file requirements-bench.lock

clean: ## Remove .venv and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
