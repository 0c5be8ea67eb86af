"""What a learner says that it will measure is what its trainings measure: gates are held against it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from small_learner import small_config

from rolf_adapters.ppo import metrics
from rolf_adapters.ppo.config import builder, checked
from rolf_adapters.ppo.language.measures import measures as of_language
from rolf_adapters.ppo.learner import Measures
from rolf_adapters.ppo.metrics import GROUPS, METRICS, OF_THE_LOOP, TIMES, read
from rolf_adapters.ppo.train import train
from rolf_adapters.ppo.vector.measures import measures as of_vector

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "train-an-agent.md"

LINE: Mapping[str, Any] = {
    "experiment": {"kind": "vector"},
    "environment": {
        "id": "linegym:LineEnv-v1",
        "kwargs": {"max_episode_steps": 20, "ticks_per_step": 5},
        "variants": [f"serial/{sensor}/profinet/bearing" for sensor in ("rtd", "current", "thermocouple")],
    },
    "rollout": {"rows": 4, "steps": 20, "statistics": 20, "evaluation_rows": 2},
    "reward": {"curiosity": 0.02},
    "policy": {"width": 16, "layout": "line"},
    "training": {
        "iterations": 5,
        "evaluate_every": 0,
        "imitation": {"teacher": "linegym.teaching:oracle_diagnosis", "iterations": 2},
        "replay": {"share": 0.3, "sampler": "uniform", "rows": 2},
        "distillation": {"every": 2, "count": 2, "attempts": 2},
    },
}
CART: Mapping[str, Any] = {
    "experiment": {"kind": "vector"},
    "environment": {"id": "CartPole-v1"},
    "rollout": {"rows": 2, "steps": 16, "statistics": 16, "evaluation_rows": 1},
    "training": {"iterations": 1},
}
TERMINAL: Mapping[str, Any] = {
    "experiment": {"kind": "language"},
    "environment": {"id": "file_tasks:FileTasks-v0"},
    "rollout": {"episodes": 4, "environments": 2, "turns": 2, "tokens": 24, "window": 256, "evaluation": 2,
                "speech": {"system": ""}},
    "reward": {"limit_ends": True},
    "policy": {"model": "file_tasks:tiny"},
    "training": {"iterations": 1, "evaluate_every": 0},
}  # fmt: skip
WHOLE: Mapping[str, Any] = {
    **TERMINAL,
    "rollout": TERMINAL["rollout"] | {"staleness": 1},
    "training": {
        "iterations": 3,
        "evaluate_every": 0,
        "kl": {"weight": 0.1},
        "warm_start": {"policy": "termgym.policies.oracle:Oracle", "episodes": 2, "epochs": 1, "until": 1.0,
                       "check_every": 1, "check": 2},
    },
}  # fmt: skip
QUIET = {"logging": {"tensorboard": False}}


def said(plain: Mapping[str, Any]) -> set[str]:
    """Return what the learner of a configuration says that it will measure."""
    config = checked({**plain, **QUIET})
    learner = builder(config.experiment.kind)(config, seed=0)
    try:
        assert isinstance(learner, Measures)
        return {*learner.measures()}
    finally:
        learner.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("plain", [LINE, CART, TERMINAL, WHOLE], ids=["line", "cart", "terminal", "whole"])
def test_a_training_measures_what_its_learner_says(tmp_path: Path, plain: Mapping[str, Any]) -> None:
    """Neither more nor less, from the first iteration to the last; a group whose names show in playing may be any."""
    train(checked({**plain, **QUIET}), tmp_path)
    lines = [*read(tmp_path / METRICS), *read(tmp_path / TIMES)]
    measured = {name for line in lines for name in line if "/" in name}
    promised = said(plain) | {*OF_THE_LOOP}
    groups = {name.removesuffix("*") for name in promised if name.endswith("/*")}
    assert {name for name in measured - promised if not any(name.startswith(group) for group in groups)} == set()
    assert {name for name in promised - measured if not name.endswith("/*")} == set()
    assert {name.partition("/")[0] for name in promised} <= {*GROUPS}


def test_what_no_settings_ask_for_is_not_promised() -> None:
    """A gate on it would never close."""
    bare = {**LINE, "environment": {"id": "linegym:LineEnv-v1"}, "training": {"iterations": 1}}
    gone = {name for name in said(LINE) - said(bare) if not name.startswith("variants/")}
    assert gone == {
        "own/imitation", "own/hard_variants", "own/hard_score", "own/hard_imitated", "own/hard_gain", "own/hard_loss",
        "own/hard_held", "replay/steps", "replay/age", "replay/weight", "replay/truncated", "replay/covered",
        "family/*", "rollout/family/*",
    }  # fmt: skip
    assert not any(name.startswith("variants/") for name in said(bare))


def test_three_imitating_iterations_and_a_gate_on_the_loss_of_ppo(tmp_path: Path) -> None:
    """Which is measured from the fourth on: it closes there, and not before."""
    gates = [{"measure": "policy/loss", "when": "above", "value": -1e9, "then": "stop"},
             {"measure": "own/hard_gain", "when": "above", "value": 1e9, "then": "fail"},
             {"measure": "replay/weight", "when": "above", "value": 1e9, "then": "fail"}]  # fmt: skip
    imitation = {**LINE["training"]["imitation"], "iterations": 3}
    training = {**LINE["training"], "iterations": 6, "imitation": imitation}
    outcome = train(checked({**LINE, **QUIET, "training": training, "stages": {"gates": gates}}), tmp_path)
    assert (outcome.iterations, outcome.ended.partition(" is ")[0]) == (4, "policy/loss")


def test_the_small_learner_is_one_that_says_what_it_measures() -> None:
    """Tests of the loop rest on that."""
    assert "rollout/return" in said(small_config())


def everything() -> set[str]:
    """Return the names of all that either kind may measure, whatever is asked for."""
    vector = {**LINE, "environment": {**LINE["environment"], "score": "linegym.scores:scorer"}}
    language = {**WHOLE, "rollout": {**WHOLE["rollout"], "actors": 1}}
    configs: list[Any] = [checked(vector), checked(language)]
    return {*of_vector(configs[0]), *of_language(configs[1]), "variants/*", *OF_THE_LOOP}


def test_the_page_and_the_docstring_name_all_that_is_measured_and_nothing_else() -> None:
    """Who looks for a number finds its name; who reads a name finds a number."""
    page = PAGE.read_text().partition("Metrics are called `group/name`")[2]
    names = {name.replace("*", "…") for name in everything()}
    for group in GROUPS:
        mine = {name.removeprefix(f"{group}/") for name in names if name.startswith(f"{group}/")}
        row = re.search(rf"^\| `{group}` \|(.*)$", page, re.MULTILINE)
        assert row is not None, group
        told = {*re.findall(r"`([a-z_/]*[a-z…])`", row[1])} - {group}
        settings = {"until"}
        assert mine <= told, f"the page does not tell {sorted(mine - told)} of {group}"
        assert told - mine <= settings, f"the page tells {sorted(told - mine)} of {group}, which nothing measures"
        said = re.search(rf"^{group} +(.*?)(?=^\S)", str(metrics.__doc__), re.MULTILINE | re.DOTALL)
        assert said is not None, group
        words = {*re.findall(r"[a-z_]+(?:/…)?", said[1])}
        assert mine - {"…"} <= words, f"the docstring does not tell {sorted(mine - words)} of {group}"
