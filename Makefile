# Each target sets up all that it needs in .venv, from a bare checkout.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# mypy does not know that `strategies` is installed as `gradfuzz.strategies`: it is shown a copy.
TYPED := $(VENV)/typed

BUDGET ?= 2m
CORPUS ?= corpus
SEED ?=

.PHONY: fuzz test night quick lint replay false-alarms check-cost clean

# Exit code 1 of the fuzzer says that it found something new: what it is for.
fuzz: $(READY)
	$(BIN)/gradfuzz fuzz --budget $(BUDGET) --corpus $(CORPUS) $(if $(SEED),--seed $(SEED)) || [ $$? -eq 1 ]

test: lint
	$(BIN)/pytest -n 2 -m "not night"

# Fifty kills of workers, fork server and campaign, resumed each time: minutes by itself.
night: lint
	$(BIN)/pytest -m night

quick: lint
	$(BIN)/pytest -n 2 -m "not slow"

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	rm -rf $(TYPED) && mkdir $(TYPED) && cp -rp gradfuzz $(TYPED) && cp -rp strategies $(TYPED)/gradfuzz
	cd $(TYPED) && ../bin/mypy --config-file ../../pyproject.toml -p gradfuzz

replay: $(READY)
	$(BIN)/gradfuzz replay $(CORPUS)

false-alarms: $(READY)
	$(BIN)/python benchmarks/false_alarms.py

check-cost: $(READY)
	$(BIN)/python benchmarks/check_cost.py

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cpu,dev]'
	touch $@

clean:
	rm -rf $(VENV)
