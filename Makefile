# Everything needs Python 3.11 or later and make, nothing else; uv is used where it is installed.
PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD := 1
# Containers often set it; then each of the many processes of a test run compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE

CHECKS := check-format check-style check-types check-templates check-migrations check-imports check-docs

.DEFAULT_GOAL := help
.PHONY: help run services services-stop test test-browser looks test-postgres test-unit check $(CHECKS) bench format demo docs screenshots package lock \
	clean chromium

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.core ## Start PlanJury at http://localhost:8000 (PORT=… for another port)
	@exec $(PY) manage.py serve

services: ## Start a PostgreSQL and a Redis for this machine; prints the variables to export
	@requirements/scripts/services.sh start

services-stop: ## Stop them; their data stay
	@requirements/scripts/services.sh stop

# Three parts: the browser's event loop would get in the way of other tests in its processes, and a
# process knows one database.
test: $(VENV)/.dev chromium ## Run all tests
	@MAKE="$(MAKE)" requirements/scripts/test_all.sh

test-browser: $(VENV)/.dev ## Run the tests that drive a browser
	@$(PY) -m pytest tests/functional -m browser -n 2 --dist worksteal --durations=15; code=$$?; [ $$code -eq 5 ] || exit $$code

looks: $(VENV)/.dev chromium ## Compare the style guide with its kept pictures (KEEP=1 keeps new ones)
	@PLANJURY_LOOKS=$(if $(KEEP),keep,compare) $(PY) -m pytest tests/functional/test_looks.py -q

test-postgres: $(VENV)/.dev ## Run the tests that use database or queue on PostgreSQL and Redis
	@requirements/scripts/test_postgres.sh $(PY) -m "not browser" -n 2 --dist worksteal --durations=25

test-unit: $(VENV)/.dev ## Run all other tests
	@$(PY) -m pytest -m "not browser" -n 2 --dist worksteal --durations=25

check: $(CHECKS) ## Check format, style, types, templates, migrations, import rules and docs

$(CHECKS): $(VENV)/.dev

check-format:
	$(PY) -m ruff format --check .

check-style:
	$(PY) -m ruff check .

check-types:
	$(PY) -m mypy

check-templates:
	$(PY) -m djlint --lint --quiet templates benchmarks/systems
	$(PY) manage.py check_templates --settings config.settings.test

check-migrations:
	$(PY) manage.py makemigrations --check --dry-run --settings config.settings.test

check-imports:
	$(VENV)/bin/lint-imports

check-docs: docs

bench: $(VENV)/.dev ## Measure start, pages and background work
	@for script in tests/bench/[!_]*.py; do PYTHONPATH=. $(PY) $$script || exit 1; done

format: $(VENV)/.dev ## Put the code into its usual form
	$(PY) -m ruff check --fix-only --quiet .
	$(PY) -m ruff format .

demo: $(VENV)/.core ## Make the finished demo that ships with the product anew (some ten minutes)
	@$(PY) requirements/scripts/make_demo.py annotation/demo/demo.zip.zst

docs: $(VENV)/.dev ## Build the documentation into site/, which the product serves under /docs/
	@$(PY) requirements/scripts/build_docs.py

screenshots: $(VENV)/.dev chromium ## Make the pictures of README and docs anew, from the demo
	@$(PY) requirements/scripts/screenshots.py

package: $(VENV)/.dev ## Build wheels and sources of PlanJury and its client into dist/
	@requirements/scripts/package.sh $(PY) dist

lock: ## Pin the dependencies of pyproject.toml anew (needs uv)
	@requirements/scripts/lock.sh

clean: ## Remove the environment and all caches; the data in var/ stays
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

chromium:
	@requirements/scripts/chromium.sh

$(PY):
	@PYTHON="$(PYTHON)" requirements/scripts/venv.sh "$(VENV)"

# The stamps make the next call quick; a changed lock file makes them old.
$(VENV)/.core: requirements/core.lock | $(PY)
	@requirements/scripts/install.sh "$(PY)" $<
	@touch $@

$(VENV)/.dev: requirements/dev.lock | $(PY)
	@requirements/scripts/install.sh "$(PY)" $<
	@touch $@ $(VENV)/.core
