# Each target is complete on a fresh machine: it makes .venv, installs, runs. A second call does not reinstall.
PYTHON ?= python3
BIN := .venv/bin
STORE := adversarium.sqlite
SHAPED := $(addprefix tests/,attacks constructions data measure networks training) $(wildcard tests/papers/*/) src
SHAPES := adversarium,beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))

.PHONY: verify test ledger bench faults docs clean

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

verify: .venv/installed
	$(BIN)/adversarium verify --preset quick --store $(STORE)
	$(BIN)/adversarium report --store $(STORE) --out report

test: .venv/installed
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest tests $(addprefix --ignore=,$(SHAPED))
	$(BIN)/python -m pytest "--jaxtyping-packages=$(SHAPES)" $(SHAPED)  # every shape checked

ledger: .venv/installed
	$(BIN)/adversarium verify --preset quick --store $(STORE) --write src/adversarium/papers/ledger.json
	$(BIN)/python -m adversarium.report.readme README.md $(STORE)
	$(BIN)/python -m adversarium.report.marks docs $(STORE)

faults: .venv/installed
	$(BIN)/python -m pytest -m "" tests/planted tests/runs/test_store.py tests/report tests/test_docs.py tests/test_wheel.py
	$(BIN)/python -m tests.planted --new-page  # docs/faults.md

bench: .venv/installed
	for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

.venv/docs: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $@

docs: .venv/docs
	$(BIN)/python -m sphinx -q -E -W --keep-going -b html docs site-docs
	@echo site-docs/index.html

clean:
	rm -rf .venv report site-docs $(STORE) $(STORE)-wal $(STORE)-shm $(STORE).checkpoints
