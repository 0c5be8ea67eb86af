"""Real steps of GRPO with a tiny model, whose calls run in real shells."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from machine_faults import kill_supervisor
from scripts import EXAMPLES
from trl import GRPOConfig, GRPOTrainer

from rolf_adapters.trl import TerminalTools
from rolf_adapters.trl.caller import caller

GENERATIONS = 8
STEPS = 2

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore:.*is deprecated and will be removed in v6:FutureWarning"),  # of transformers
    pytest.mark.filterwarnings("ignore:.*environment_factory.*experimental:UserWarning"),
]


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """What the example is made of."""
    return runpy.run_path(str(EXAMPLES / "training" / "train_trl_terminal.py"), run_name="example")


def factory(example: dict[str, Any], made: list[TerminalTools], faults: list[str]) -> Any:
    """Return what makes environments, of which the last is on a machine that fails as soon as it is used."""

    def one() -> TerminalTools:
        tools: TerminalTools = example["TOOLS"](max_steps=1)  # so that the others are over when it happens
        made.append(tools)
        if len(made) == GENERATIONS:
            well = tools.run

            def run(command: str, timeout: float = 60.0) -> str:
                kill_supervisor()
                faults.append(well(command, timeout))
                return faults[-1]

            tools.run = run  # type: ignore[method-assign]
        return tools

    return one


def test_two_steps_of_grpo(example: dict[str, Any], tmp_path: Path) -> None:
    """Calls reach the shell, rewards differ, weights move; a machine that fails leaves the others' rewards alone."""
    torch.set_num_threads(1)
    model, words = caller(example["TOOLS"], example["USER"], {"seed": 0}, example["CALLS"])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    made: list[TerminalTools] = []
    faults: list[str] = []
    config = GRPOConfig(str(tmp_path), max_steps=STEPS, **example["BATCH"], **example["HERE"])
    rows = Dataset.from_list([{"prompt": [{"role": "user", "content": example["USER"]}], "seed": 0}])
    make = factory(example, made, faults)
    trainer = GRPOTrainer(model, None, config, rows, processing_class=words, environment_factory=make)
    trainer.train()
    logged = [line for line in trainer.state.log_history if "reward" in line]
    assert len(logged) == STEPS
    assert len(made) == GENERATIONS
    assert any(line["tools/call_frequency"] > 0 for line in logged)
    assert any(line["reward_std"] > 0 for line in logged)
    assert all(0 <= line["reward"] <= 1 for line in logged)  # NaN is neither
    assert faults
    assert all("the machine failed" in each for each in faults)
    after = model.state_dict()
    assert all(torch.isfinite(value).all() for value in after.values())
    assert any(not torch.equal(before[name], after[name]) for name in before)
