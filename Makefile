# Every target sets itself up: the first one makes .venv from requirements.lock, later ones find it ready.
# PYTHON=/path/to/python chooses the interpreter for it.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

BIN := .venv/bin
READY := .venv/ready
# Notebooks and pages need less than the tests: a third of the size.
LAB := $(if $(wildcard $(READY)),$(READY),.venv/ready-lab)
RELEASE := .venv-release
LOGS := build/test
UV := $(or $(shell command -v uv),$(wildcard $(BIN)/uv))
NOTEBOOKS = $(wildcard notebooks/*.ipynb)

# A local time zone would move the times in notebooks and tests.
export TZ := UTC

# Modules are compiled once, and not again by each of the processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

comma := ,
heading = @printf '\n== %s\n' "$(1)"
# A test run is also kept in a file, so that `make test` can end with all that was skipped.
compile = @"$(UV)" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-emit-find-links --custom-compile-command 'make lock' $(2) pyproject.toml -o $(1)
pytest = $(BIN)/python -m pytest --color=no $(2) 2>&1 | tee $(LOGS)/$(1).log

.PHONY: help report lab test lint fix rename bench fuzz wheels bundle docs release-check lock clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

report: $(LAB) ## Run the notebooks on sample_data/, write build/report/ and show the headline figures
	@$(BIN)/python -m iolab report-notebooks --out build/report

lab: $(LAB) ## Open JupyterLab on the notebooks
	@$(BIN)/python -m iolab lab .

test: lint ## Check everything: lint, types, tests, doctests, real logs, browser, notebooks
	@rm -rf $(LOGS) && mkdir -p $(LOGS)
	$(call heading,Tests$(comma) doctests and browser)
# One thread of Polars in each process, and a process more than processors: tests of the browser wait half of the time.
# In the order of the files: the last ones are short, so that all processes end at about the same time.
	@export POLARS_MAX_THREADS=1; $(call pytest,tests,-n $(shell expr $$(nproc) + 1) --dist loadfile --no-loadscope-reorder)
	$(call heading,Notebooks)
	@if [ -z "$(NOTEBOOKS)" ]; then echo "SKIPPED notebooks/ holds no notebook" | tee $(LOGS)/notebooks.log; else \
	    $(call pytest,notebooks,-n 2 --dist loadfile --nbval --nbval-current-env --nbval-sanitize-with notebooks/sanitize.cfg notebooks); fi
	$(call heading,Skipped)
	@grep -h '^SKIPPED' $(LOGS)/*.log || echo "nothing"

lint: $(READY) ## Check style, format and types
	$(call heading,Lint)
	@$(BIN)/ruff check .
	$(call heading,Format)
	@$(BIN)/ruff format --check .
	$(call heading,Types)
	@$(BIN)/mypy

fix: $(READY) ## Format the code, and repair what the linter can repair
	@$(BIN)/ruff check --fix . || true
	@$(BIN)/ruff format .

rename: $(READY) ## Rename a column everywhere: OLD=total_wait_s NEW=wait_time_s
	@$(BIN)/python docs/rename.py $(OLD) $(NEW)
	@$(BIN)/ruff format .
	@$(BIN)/python docs/generate.py docs

bench: export POLARS_MAX_THREADS = 1
bench: $(READY) ## Measure speed against wc, awk, plain Python and other readers on the same logs
	@$(BIN)/python benchmarks/start.py
	@$(BIN)/python benchmarks/strace.py
	@$(BIN)/python benchmarks/awr.py
	@$(BIN)/python benchmarks/spool.py
	@$(BIN)/python benchmarks/sqltrace.py
	@$(BIN)/python benchmarks/ledger.py
	@$(BIN)/python benchmarks/large.py
# Longer, and by hand: benchmarks/upload.py (400 MB through a browser), benchmarks/coverage_of_intervals.py,
# benchmarks/extremes.py (logs of up to 5 GB).

fuzz: $(READY) ## Double hard shapes, try every pattern, then read and show mutated logs, SECONDS (600) each, in PROCESSES (2); CORPUS=folder adds logs
	@POLARS_MAX_THREADS=1 $(BIN)/python -m fuzz.growth
	@$(BIN)/python -m fuzz.patterns $(if $(CORPUS),--corpus $(CORPUS))
	@for depth in thorough pages; do \
	    $(BIN)/python -m fuzz --count 1000000000 --seconds $(or $(SECONDS),600) --processes $(or $(PROCESSES),2) \
	        --seed $(or $(SEED),1) --$$depth $(if $(CORPUS),--corpus $(CORPUS)); done

wheels: $(RELEASE)/ready ## Build the source distribution and the wheels of all platforms into dist/
	@$(RELEASE)/bin/python release/wheels.py

bundle: $(RELEASE)/ready ## Build dist/iolab-VERSION-linux-x86_64.tar.gz for hosts without a network
	@$(RELEASE)/bin/python release/bundle.py

docs: $(RELEASE)/ready ## Build the documentation site, build/site/index.html
	@$(RELEASE)/bin/python release/site.py

release-check: $(RELEASE)/ready ## Try every step of a release but the publishing; TAG=v1.2.3 is compared with the version
	@$(RELEASE)/bin/python release/check.py $(if $(TAG),--tag $(TAG))

lock: ## Write the lock files anew from pyproject.toml (needs uv; UPGRADE=1 takes the newest versions)
	@[ -n "$(UV)" ] || { echo "make lock needs uv on the PATH" >&2; exit 1; }
	$(call compile,requirements.lock,--extra dev $(if $(UPGRADE),--upgrade))
	$(call compile,requirements-lab.lock,--extra lab --group build --constraint requirements.lock)
	$(call compile,requirements-release.lock,--extra lab --group release --constraint requirements.lock)

clean: ## Remove what was built and cached; .venv stays
	@rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -path ./.venv -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

MADE_OF := pyproject.toml hatch_build.py .ci/venv $(wildcard */*.c labextension/* labextension/*/*)

$(READY): requirements.lock $(MADE_OF)
	@.ci/venv
	@touch $@

.venv/ready-lab: requirements-lab.lock $(MADE_OF)
	@.ci/venv requirements-lab.lock
	@touch $@

$(RELEASE)/ready: requirements-release.lock $(MADE_OF)
	@.ci/venv requirements-release.lock $(RELEASE)
	@touch $@
