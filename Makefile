# Everything runs in .venv, which the first target that needs it creates. `make` alone lists the targets.
PYTHON ?= python3
VENV   ?= .venv

# Acceptance cases: a folder with harness.py and cases/, where there is one; CASES picks groups by their two digits.
CASES_DIR ?= ../shared/cases
CASES     ?= 01 02 03 04 05 06 07 08 09 10 11 12
# TIER=core leaves the hard ones out.
TIER      ?=
JOBS      ?= 2

# Extra arguments for pytest, for example: make test ARGS='-k star -x'
ARGS ?=

ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
STAMP       := $(VENV)/.installed
BENCH_STAMP := $(VENV)/.installed-bench
# What goes into $(VENV), and the versions that are asked for.
EXTRAS      ?= dev
CONSTRAINTS ?=
# Fixit, with the older click that it wants, and pre-commit have an environment of their own.
FIXIT_VENV  := .venv-fixit
FIXIT_BIN   := $(FIXIT_VENV)/$(notdir $(BIN))
FIXIT_STAMP := $(FIXIT_VENV)/.installed

.DEFAULT_GOAL := help
# A form for `make forms FORM=name`: prints what its fixture becomes, ready to be recorded.
FORM ?=

.PHONY: help demo forms test fuzz test-fixit test-page lint guard cases real-vllm real-guard real-packages every-reexport
.PHONY: import-cost-truth type-check bench clean everything dist coverage mutate audit test-python test-lowest
.DELETE_ON_ERROR:

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)$$/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{ printf "%-18s %s\n", $$1, $$2 }'

demo: $(STAMP) ## narrow a re-export in a small look-alike of vLLM, and show what changes
	@$(BIN)/python fixtures/narrow_reexport/demo.py

forms: $(STAMP) ## write docs/forms.md from its fixtures (FORM=name prints what one of them becomes)
	@$(BIN)/python fixtures/narrow_reexport/forms_page.py $(if $(FORM),after $(FORM))

test: $(STAMP) ## run the test suite
	$(BIN)/python -m pytest $(ARGS)

# How many random trees, from which seed: make fuzz N=20000 SEED=3. A failure names the command that repeats it.
N    ?= 2000
SEED ?= 1

fuzz: $(FIXIT_STAMP) ## narrow N random trees (SEED=1) and let the interpreter judge; failures are saved in .cache/fuzz
	$(FIXIT_BIN)/python -m tests.fuzz -n $(N) --seed $(SEED) $(ARGS)

test-fixit: $(FIXIT_STAMP) ## run the tests of the Fixit rule and of the command lines, with the click that Fixit wants
	$(FIXIT_BIN)/python -c 'import click, fixit; print("fixit", fixit.__version__)'
	$(FIXIT_BIN)/python -m pytest tests/rules $(wildcard tests/*/test_cli.py) $(ARGS)
	$(FIXIT_BIN)/python -m mypy codemods/rules

test-python: ## run the tests with another Python and the newest of everything, in an environment of its own (PYTHON=python3.12)
	$(MAKE) test PYTHON=$(PYTHON) VENV=.venv-$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

# The oldest Python that is there, and with it the oldest release of each requirement.
LOWEST_PYTHON ?= $(firstword $(foreach each,python3.10 python3.11 python3.12 $(PYTHON),$(if $(shell $(each) -V 2>/dev/null),$(each))))

test-lowest: ## run the tests with the oldest Python and the oldest release of each requirement that is allowed
	$(MAKE) test PYTHON=$(LOWEST_PYTHON) VENV=.venv-lowest EXTRAS=dev,fixit CONSTRAINTS='-c tests/lowest.txt'

test-page: $(STAMP) ## test the page of import_cost in a headless Chromium, which must be there
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
	    { echo "Chromium is not installed: on Debian, apt-get install chromium"; exit 1; }
	$(BIN)/python -m pytest tests/import_cost/test_page.py $(ARGS)

lint: $(STAMP) ## ruff and strict type checking
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy

guard: $(FIXIT_STAMP) ## the pre-commit hooks, the GitHub Action and the GitLab job, for real in scratch repositories
	INSTALLS=1 $(FIXIT_BIN)/python -m pytest tests/test_integrations.py $(ARGS)

dist: $(STAMP) ## build the wheel and the source archive, look into them, and use them from a clean environment
	$(BIN)/python -m pip install -q --disable-pip-version-check build
	INSTALLS=1 $(BIN)/python -m pytest tests/test_distribution.py $(ARGS)

coverage: $(STAMP) ## run the tests, measure the branches of codemods/ and list the lines not covered; fails below 95 %
	$(BIN)/python -m pip install -q --disable-pip-version-check 'coverage>=7.10'
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q $(ARGS)
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report

mutate: $(STAMP) ## change the planner and the splice a little, many times, and see whether a test notices
	$(BIN)/python benchmarks/mutate.py

# --strict: a requirement that cannot be looked up is a failure, not a warning.
audit: $(STAMP) ## ask the index for known vulnerabilities of what is installed
	$(PYTHON) -m venv .venv-audit
	.venv-audit/$(notdir $(BIN))/python -m pip install -q --disable-pip-version-check pip-audit
	$(BIN)/python -m pip freeze --exclude-editable > .venv-audit/installed.txt
	.venv-audit/$(notdir $(BIN))/python -m pip_audit --strict --disable-pip --no-deps -r .venv-audit/installed.txt

cases: $(STAMP) ## run the acceptance cases, if their folder is there (CASES='01 02' picks groups)
	@if [ ! -f $(CASES_DIR)/harness.py ]; then echo "no acceptance cases at $(CASES_DIR): nothing to run"; exit 0; fi; \
	for python in "$(BIN)/python" "$(PYTHON)" python3 python3.14 python3.13 python3.12 python3.11; do \
	    if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then harness=$$python; break; fi; \
	done; \
	if [ -z "$${harness:-}" ]; then echo "skipped: the acceptance cases need a Python of 3.11 or newer, and none was found"; exit 0; fi; \
	set --; for group in $(CASES); do set -- "$$@" --case "$$group*"; done; \
	"$$harness" $(CASES_DIR)/harness.py --cmd 'mine="$(abspath $(BIN))/python" -m codemods.narrow_reexport {package} {symbols}' \
	    --adapter mine "$$@" $(if $(TIER),--tier $(TIER)) -j $(JOBS) --python "$$("$$harness" -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))')"

real-vllm: $(BENCH_STAMP) ## run on the released vLLM 0.27.0 and compare byte for byte (downloads 40 MB once)
	$(BIN)/python benchmarks/real_vllm.py

# SKIP='peers scale thousand' leaves parts out, ROUNDS=1 is quicker.
bench: $(BENCH_STAMP) ## time the commands beside their floors and peers, write benchmarks/RESULTS.md (half an hour, 60 MB)
	$(BIN)/python -m pip install -q --disable-pip-version-check grimp rope ruff
	$(BIN)/python benchmarks/bench.py $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SKIP),--skip $(SKIP))

every-reexport: $(BENCH_STAMP) ## plan each re-export of vLLM 0.33.0 by itself, write nothing, print the table (half an hour)
	$(BIN)/python benchmarks/every_reexport.py vllm-0.33.0 vllm

import-cost-truth: $(STAMP) ## compare import_cost with a recount and with the interpreter (after real-packages: its packages)
	$(BIN)/python benchmarks/import_cost_truth.py

real-packages: $(STAMP) ## narrow random re-exports of sympy, networkx, django, ... on a copy; the interpreter judges (an hour)
	$(BIN)/python benchmarks/real_packages.py

PKG ?= networkx

everything: $(BENCH_STAMP) ## narrow each re-export of PKG by itself, then all at once, on a copy; the interpreter judges (ARGS='-n 200 --tests')
	$(BIN)/python benchmarks/everything.py $(PKG) $(ARGS)

real-guard: $(BENCH_STAMP) $(FIXIT_STAMP) ## put offences back into a narrowed vLLM 0.27.0: check, rule and codemod must agree to the byte
	FIXIT_PYTHON="$(abspath $(FIXIT_BIN))/python" $(BIN)/python benchmarks/real_guard.py

type-check: $(BENCH_STAMP) ## let pyrefly read vLLM 0.33.0 before and after five large narrowings
	$(BIN)/python -m pip install -q --disable-pip-version-check pyrefly
	$(BIN)/python benchmarks/type_check.py

clean: ## remove the environments, caches and build output
	rm -rf $(VENV) $(FIXIT_VENV) .venv-* .coverage* .cache build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find codemods tests benchmarks fixtures -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.10 or newer is needed: make PYTHON=python3.12 ..." if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check $(CONSTRAINTS) -e '.[$(EXTRAS)]'
	@touch $@

$(FIXIT_STAMP): pyproject.toml
	$(PYTHON) -m venv $(FIXIT_VENV)
	$(FIXIT_BIN)/python -m pip install -q --disable-pip-version-check -e '.[fixit,dev]' pre-commit
	@touch $@

$(BENCH_STAMP): $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check unearth
	@touch $@
