# Quartermaster: `make run` starts it, `make test` tests it. The rest is for contributors.
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.PHONY: help install install-dev install-js run test test-all test-sqlite test-services check lint types deploy-check fuzz lock clean

PORT ?= 8000
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet install --require-hashes
RUNTIME := $(VENV)/.requirements
DEVELOPMENT := $(VENV)/.requirements-dev
SENDERS := tests/clients/js/node_modules/.package-lock.json
TEMPLATES = $(shell find templates -name '*.html' 2>/dev/null)
LOCK := uv pip compile --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 22

install: $(RUNTIME)  ## make .venv with what the portal needs

install-dev: $(DEVELOPMENT)  ## add what the tests and checks need

install-js: $(SENDERS)  ## add the JavaScript senders of the tests (needs Node and npm)

run: install  ## start the portal with sample data on http://127.0.0.1:$(PORT)
	@$(PY) manage.py migrate --no-input --verbosity 0
	@$(PY) manage.py sample_data
	@exec $(PY) manage.py serve --port $(PORT)

test: install-dev  ## the tests, without the slow ones
	$(PY) -m pytest -n 2 -m "not slow"

test-all: install-dev check test-sqlite test-services  ## every check and test, on both databases

# QM_REQUIRE_ALL: a program that is missing fails its tests instead of skipping them. What may be skipped
# even so: samples that are no part of the project (`shared` in tests/requirements.py), names that this
# file system cannot hold, and what belongs to the other database or queue.
test-sqlite: install-dev install-js  ## every test on SQLite, without Redis
	env -u DATABASE_URL -u REDIS_URL QM_REQUIRE_ALL=1 $(PY) -m pytest -n 2

test-services: install-dev install-js  ## every test on PostgreSQL and Redis
	QM_REQUIRE_ALL=1 tests/with-services $(PY) -m pytest -n 2

check: lint types deploy-check  ## style, types, layers, migrations, settings

lint: install-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(if $(TEMPLATES),$(VENV)/bin/djade --check --target-version 5.2 $(TEMPLATES))

types: install-dev
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# The environment of a real installation, so that its warnings are seen; the keys are thrown away.
deploy-check: install-dev
	$(PY) manage.py makemigrations --check --dry-run
	env DEBUG=0 ALLOWED_HOSTS=quartermaster.example SECRET_KEY=$$(openssl rand -hex 32) \
	  MASKING_KEY=$$(openssl rand -hex 32) $(PY) manage.py check --deploy --fail-level WARNING

MINUTES ?= 10
# Each reader of hostile bytes with each fuzzer; stops at the first input that raises, takes long or eats memory.
fuzz: install-dev  ## feed the readers of uploads and telemetry hostile bytes, MINUTES=10 each, twelve runs
	set -e; for reader in archive frontmatter manifest schema spans records; do \
	  $(PY) -m tests.fuzz $$reader --with hypothesis --minutes $(MINUTES); \
	  if $(PY) -c 'import atheris' 2>/dev/null; then \
	    $(PY) -m tests.fuzz $$reader --with atheris --minutes $(MINUTES); \
	  else echo "$$reader with atheris: not installed, left out"; fi; \
	done

lock:  ## write both requirements files anew from pyproject.toml (needs uv)
	$(LOCK) pyproject.toml -o requirements.txt
	$(LOCK) --extra dev -c requirements.txt pyproject.toml -o requirements-dev.txt

clean:  ## remove .venv and caches; var/ stays
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis staticfiles \
	  tests/clients/js/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@bin/make-venv $(VENV)

$(RUNTIME): requirements.txt | $(PY)
	@echo "Installing what Quartermaster needs into $(VENV) (a minute the first time) ..."
	@$(PIP) -r requirements.txt
	@touch $@

$(DEVELOPMENT): requirements-dev.txt $(RUNTIME)
	@echo "Installing what the tests need into $(VENV) ..."
	@$(PIP) -r requirements-dev.txt
	@touch $@

$(SENDERS): tests/clients/js/package-lock.json
	@echo "Installing the JavaScript senders of the tests ..."
	@cd tests/clients/js && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
