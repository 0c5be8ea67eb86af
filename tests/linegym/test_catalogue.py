"""What `rolf list`, `rolf tasks validate` and `rolf doctor` get to know of production lines."""

from __future__ import annotations

import gymnasium as gym
import pytest

from linegym import catalogue, validation
from linegym.policies import POLICIES
from linegym.splits import SETS
from rolf.environments import State


def test_every_set_is_listed_and_can_be_made() -> None:
    entries = catalogue.tasks()
    assert [entry.name for entry in entries] == sorted(SETS)
    for entry in entries:
        gym.make_vec("linegym:LineEnv-v1", num_envs=2, variants=entry.name).reset(seed=0)


def test_the_example_runs() -> None:
    envs = eval(catalogue.EXAMPLE, {"gymnasium": gym})
    envs.reset(seed=0)
    assert envs.num_envs == 64


def test_episodes_can_be_won_by_who_knows_the_faults_and_by_nobody_idle() -> None:
    verdicts = list(catalogue.validate(["iid", "serial/current/profinet/jam"], 3))
    assert len(verdicts) == 6
    assert [verdict.problems for verdict in verdicts] == [()] * 6
    assert verdicts[3].task == "serial/current/profinet/jam@0"


def test_what_cannot_be_won_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A validation that never finds anything would be worth nothing."""
    monkeypatch.setattr(validation, "POLICIES", dict.fromkeys(POLICIES, POLICIES["no-op"]))
    (verdict,) = catalogue.validate(["serial/current/profinet/jam"], 1)
    assert "who knows the faults does not succeed: 0 of" in verdict.problems[0]


def test_unknown_names_are_refused() -> None:
    for name in ("trian", "serial/current/profinet/jams"):
        with pytest.raises(LookupError, match="did you mean"):
            list(catalogue.validate([name], 1))


def test_the_checkup_finds_the_kernel_compiled() -> None:
    findings = {finding.subject: finding for finding in catalogue.checkup()}
    assert set(findings) == {"numba", "compiled kernel", "pictures"}
    assert {finding.state for finding in findings.values()} == {State.OK}
    assert findings["compiled kernel"].found.startswith(("ready in", "compiled now in"))
