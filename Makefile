# The two commands of the README, and a developer's. `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := list
.PHONY: list demo test nightly lint format packaging docs docs-check help-text bench bench-line bench-board bench-buffer bench-training baselines lock system clean

list: ## List these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

demo: .venv/core ## An episode in a real terminal, then 7 000 production lines; writes runs/demo/report.html
	@$(BIN)/rolf demo

test: system lint docs packaging ## Everything that a change must pass
	.ci/wheel-tests -m "not nightly"

nightly: system lint docs packaging ## The same with the tests that take minutes
	.ci/wheel-tests -m "" --hypothesis-profile=nightly

lint: .venv/dev ## Style, layers and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

format: .venv/dev ## Put the code into the house's form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

packaging: .venv/dev ## What the wheel holds, and that it installs
	$(BIN)/python -m pytest -q tests/test_packaging.py

docs: .venv/dev ## Build the reference from the docstrings into docs/reference/api
	$(BIN)/python -W error docs/build.py

help-text: .venv/dev ## Write docs/reference/command-line.md anew from the commands' --help
	$(BIN)/python docs/help_text.py

bench: .venv/dev ## Timings beside pexpect, tmux, rsync, diff, SWE-ReX and docker, as ratios
	$(INSTALL) -e '.[bench]'
	$(BIN)/python benchmarks/terminal.py
	$(BIN)/python benchmarks/image.py
	$(BIN)/python benchmarks/image_reset.py

bench-line: .venv/dev ## Timings of the production line beside C, NumPy, LineFlow and JSSEnv, as ratios
	$(BIN)/python benchmarks/line.py

bench-board: .venv/core ## How long a whole leaderboard takes: six policies, 200 production lines, five attempts
	$(BIN)/python benchmarks/board.py

bench-buffer: .venv/dev ## The trajectory buffer beside LMDB, LevelDB and SQLite alone, as ratios
	$(INSTALL) -e '.[buffer,leveldb]'
	$(BIN)/python benchmarks/buffer.py

bench-training: .venv/dev ## Training beside Stable-Baselines3 on lines and beside TRL's GRPO in terminals, as ratios
	$(INSTALL) -e '.[bench,ppo,sb3,trl]'
	$(BIN)/python benchmarks/line_training.py
	$(BIN)/python benchmarks/language_training.py

baselines: .venv/core ## Play every policy that comes with an environment on every split, into submissions/ (hours)
	$(BIN)/python benchmarks/baselines.py --jobs 2 --out submissions

lock: ## Write constraints.txt anew from the newest versions
	rm -rf .cache/lock && $(PYTHON) -m venv .cache/lock
	.cache/lock/bin/python -m pip install -q --disable-pip-version-check torch==2.13.0
	.cache/lock/bin/python -m pip install -q --disable-pip-version-check '.[dev,bench,llm,sb3,torchrl,ray,trl,openenv,ppo,leveldb,export]' setuptools
	{ sed '/^[^#]/d' constraints.txt; .cache/lock/bin/python -m pip freeze --exclude rolf; } > .cache/constraints.txt
	mv .cache/constraints.txt constraints.txt

system: ## Install the programs that the tests run (as root; else say which line does it)
	@.ci/system-packages

clean: ## Remove what can be made again
	rm -rf .venv .cache build dist runs docs/reference/api *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "rolf needs Python 3.11 or newer; $(PYTHON) is older: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "This installs what is missing: sudo apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing rolf into .venv"
	@$(INSTALL) -e .
	@touch $@

.venv/dev: .venv/core
	@$(INSTALL) -e '.[dev]'
	@touch $@
