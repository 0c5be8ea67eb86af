"""The gates of the examples let a training pass that goes well, and close where one does not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import yaml

from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.reading import parsed
from rolf_adapters.ppo.stages import Gates, Verdict

ROOT = Path(__file__).parents[3]
NAMES = ("terminal_tiny", "terminal_smollm2", "line")
TINY, SMOLLM2, LINE = (ROOT / "examples" / "training" / f"train_{name}.yaml" for name in NAMES)
WELL = (0.61, 0.64, 0.66, 0.70, 0.66, 0.66, 0.71, 0.73, 0.70, 0.68, 0.75, 0.78, 0.77, 0.80, 0.79, 0.80, 0.85, 0.79)
"""Success of the iterations of a training that went well, of a language model with 128 episodes each."""


def gates_of(path: Path) -> Gates:
    return Gates(checked(parsed(path.read_text(), path.name)).stages.gates)


def first(path: Path, measure: str, values: Iterable[float], begins: int) -> tuple[int, Verdict] | None:
    """Return when a plan's first gate closes, of measurements from an iteration on."""
    gates = gates_of(path)
    for iteration, value in enumerate(values, begins):
        verdict = gates.see(iteration, {measure: value})
        if verdict is not None:
            return iteration, verdict
    return None


@pytest.mark.parametrize(
    ("path", "measure", "begins"),
    [(TINY, "rollout/success", 1), (SMOLLM2, "rollout/success", 1), (LINE, "rollout/score", 70)],
)
def test_a_plan_lets_pass_what_goes_well_and_goes_back_from_a_collapse(path: Path, measure: str, begins: int) -> None:
    """Through chance as it is in an iteration."""
    assert first(path, measure, WELL, begins) is None
    noise = np.random.default_rng(0).normal(0, 0.05, (200, 50))
    assert all(first(path, measure, 0.75 + each, begins) is None for each in noise)
    fallen = first(path, measure, [*WELL, *[0.45] * 8], begins)
    assert fallen is not None
    assert fallen[1].then == "roll back"


@pytest.mark.parametrize(
    ("path", "measure", "begins", "reached"),
    [
        (TINY, "evaluation/success", 4, 0.595),
        (SMOLLM2, "rollout/success", 1, 0.5),
        (LINE, "rollout/score", 70, 0.7),
    ],
)
def test_a_plan_fails_where_its_warm_start_was_not_reached(
    path: Path, measure: str, begins: int, reached: float
) -> None:
    """What cannot begin is told early, and not before it could be known."""
    assert first(path, measure, [reached], begins) is None
    poor = first(path, measure, [0.1] * 8, begins)
    assert poor is not None
    assert poor[1].then == "fail"
    assert first(path, measure, [0.0], 1) is None


@pytest.mark.parametrize(("path", "measure"), [(TINY, "evaluation/success"), (LINE, "evaluation/score")])
def test_a_plan_ends_where_nothing_is_left_to_learn(path: Path, measure: str) -> None:
    """And not before."""
    assert first(path, measure, [0.5, 0.9, 0.95], 90) is None
    done = first(path, measure, [0.9, 1.01], 90)
    assert done is not None
    assert done[1].then == "stop"


def test_while_a_line_is_imitated_nothing_is_gone_back_to() -> None:
    """What is played then is not what is judged."""
    assert first(LINE, "rollout/score", [0.9, *[-1.0] * 69], 0) is None
    assert first(LINE, "policy/kl", [9.0] * 70, 0) is None


def test_steps_that_are_too_long_are_taken_back() -> None:
    """An ordinary one is a tenth of that."""
    for path, begins, ordinary, long in ((TINY, 1, 0.01, 0.06), (LINE, 70, 0.05, 0.2)):
        assert first(path, "policy/kl", [ordinary] * 9, begins) is None
        taken = first(path, "policy/kl", [ordinary, long], begins)
        assert taken is not None
        assert taken[1].then == "roll back"


def test_the_page_shows_a_plan_that_is_used() -> None:
    """Word for word."""
    page = (ROOT / "docs" / "how-to" / "train-an-agent.md").read_text()
    shown = page.partition("### A plan in stages")[2].partition("```yaml\n")[2].partition("```")[0]
    assert shown == TINY.read_text()[TINY.read_text().index("stages:") :]
    assert len(yaml.safe_load(shown)["stages"]["gates"]) == 4
