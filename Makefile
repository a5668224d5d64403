# A fresh machine needs python3 (3.11 or newer), make and git; everything else is installed from requirements/*.txt.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
BENCH  := .venv-bench

export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help venv demo test cue lint bench format requirements port sign-example clean

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

venv: $(STAMP)  ## install everything into .venv

$(STAMP): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes --requirement requirements/dev.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q calaudit
	touch $@

EXAMPLE := examples/model-port/tiny-dense
TRUST   := examples/trust

# An empty state directory: what the user has pinned is not the example's business.
demo: $(STAMP)  ## audit the example port, with and without its trust root, and show its gate table
	@state=$$(mktemp -d); export CALAUDIT_STATE_DIR="$$state"; trap 'rm -rf "$$state"' EXIT; \
	  say() { echo; echo "exit code $$1: $$2"; test "$$1" -eq "$$3" || exit 1; echo; }; \
	  echo '$$ calaudit verify $(EXAMPLE)'; $(BIN)/calaudit verify $(EXAMPLE); \
	  say $$? 'nothing is wrong, but nobody said whose signatures count, so none is believed.' 3; \
	  echo '$$ calaudit verify $(EXAMPLE) --trust $(TRUST)'; $(BIN)/calaudit verify $(EXAMPLE) --trust $(TRUST); \
	  say $$? 'passed through G2, signed by the owners that this root and its registry name.' 0; \
	  echo '$$ calaudit status $(EXAMPLE) --trust $(TRUST)'; $(BIN)/calaudit status $(EXAMPLE) --trust $(TRUST)

JS := tests/interop/sigstore-js

$(JS)/node_modules/.installed: $(JS)/package.json $(JS)/package-lock.json
	@command -v npm >/dev/null || { echo "npm is not installed: the tests run sigstore-js (Node.js 20.17 or newer)." >&2; exit 1; }
	npm ci --prefix $(JS) --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# Whatever the caller's shell says: pytest keeps what it makes of each test file, which takes it ten seconds a process.
test: export PYTHONDONTWRITEBYTECODE =
test: $(STAMP) $(JS)/node_modules/.installed cue  ## all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

cue: $(STAMP)  ## build the real cue that the tests run, once, into .cache (takes minutes)
	@$(BIN)/python scripts/build_cue.py

lint: $(STAMP)  ## ruff, mypy --strict, import-linter, policies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/calaudit policy lint
	$(BIN)/calaudit policy test

format: $(STAMP)  ## let ruff format and fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(BENCH)/.installed  ## ratios against named peers, in one run
	$(BENCH)/bin/python -m bench

$(BENCH)/.installed: requirements/bench.txt pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet --require-hashes --requirement requirements/bench.txt
	$(BENCH)/bin/pip install --quiet --no-deps --no-build-isolation --editable .
	$(BENCH)/bin/python -m compileall -q calaudit $(BENCH)/lib
	touch $@

port: $(STAMP)  ## rebuild examples/model-port/tiny-dense from the frozen checkpoint
	$(BIN)/python -m examples.toolchain build examples/model-port/tiny-dense

sign-example: $(STAMP)  ## new throw-away keys, a new examples/trust, and all signatures of the example port
	$(BIN)/python scripts/sign_example.py

requirements:  ## compile requirements/*.txt from pyproject.toml (needs uv)
	uv pip compile pyproject.toml $(COMPILE) -o requirements/core.txt
	uv pip compile pyproject.toml $(COMPILE) --extra example --extra harness --extra hsm --extra keyless --group test --group lint -o requirements/dev.txt
	uv pip compile pyproject.toml $(COMPILE) --extra example --extra harness --extra hsm --extra keyless --group test --group lint --group bench -o requirements/bench.txt

COMPILE := --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header

clean:  ## remove what make made
	rm -rf $(VENV) $(BENCH) .cache $(JS)/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
