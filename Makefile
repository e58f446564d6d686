# Everything starts here: `make run` shows it, `make test` proves it. Each target sets up what it needs first.

VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# More arguments for pytest: make test T="-k restore"
T ?=
# How many tests run at once. Each of the two has a broker of its own, and most of a stream test is waiting.
N ?= 2

# Stamps: a file that is newer than what it was made from.
RUN_READY := $(VENV)/.run-ready
DEV_READY := $(VENV)/.dev-ready

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

.PHONY: help
help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: $(RUN_READY) ## start a broker, topics and a worker, publish the examples; Ctrl-C ends it (ARGS=--once: ends by itself)
	@$(BIN)/qrstream up examples/requests.jsonl $(ARGS)

.PHONY: setup
setup: $(RUN_READY) $(DEV_READY) ## only the set-up: .venv, dependencies, a Java if there is none

.PHONY: test
test: setup ## unit and integration tests, on a real broker (T="-k word" picks some)
	@$(BIN)/python -m pytest -q -m "not long" -n $(N) --dist loadfile $(T)

.PHONY: test-long
test-long: setup ## the tests that take minutes: chaos and load
	@$(BIN)/python -m pytest -q -m long tests/integration tests/chaos tests/unit $(T)

.PHONY: unit
unit: setup ## the tests that need no broker
	@$(BIN)/python -m pytest -q -m "not long" tests/unit $(T)

.PHONY: lint
lint: setup ## rules of style, and of who may import whom
	@$(BIN)/ruff check --quiet .
	@$(BIN)/lint-imports --no-logo

.PHONY: types
types: setup ## mypy --strict
	@$(BIN)/mypy

.PHONY: pins
pins: setup ## write requirements*.txt anew from requirements*.in
	@.ci/pins $(BIN)

.PHONY: clean
clean: ## remove the .venv, caches, and the local broker with its records
	@rm -rf $(VENV) .qrstream build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# No package index is named: pip uses the one that the machine is set up for.
$(RUN_READY): requirements.txt requirements-setup.txt requirements-java.txt pyproject.toml ops/local/setup ops/local/pom.xml
	@ops/local/setup $(VENV)
	@touch $@

$(DEV_READY): requirements-dev.txt $(RUN_READY)
	@ops/local/setup $(VENV) dev
	@touch $@
