"""What an iteration tells of its episodes, of all processes together."""

from __future__ import annotations

import numpy as np
import pytest

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.families import FAMILIES, OTHERS
from rolf_adapters.ppo.language.collector import Collected
from rolf_adapters.ppo.language.report import by_family, of_episodes
from rolf_adapters.ppo.language.turns import Episode, Said, Turn

END = 2


def episode(label: str, success: bool, timeouts: tuple[bool, ...] = (False,)) -> Episode:
    no = np.zeros(1, np.float32)
    said = Said((END,), no, np.ones(1, np.bool_), no)
    turns = [Turn((1,), said, 0.0, True, False, 0, timeout=late) for late in timeouts]
    return Episode(tuple(turns), success=success, label=label)


def test_shares_are_told_beside_counts() -> None:
    """A time-out is one of an answer, a fault one of an episode that was to be played."""
    found = [episode("a", True, (False, True)), episode("a", False), episode("b", True), episode("", False), None]
    told = of_episodes(Collected(found, ["gone"]), END)
    assert (told["rollout/faults"], told["rollout/fault_share"]) == (1, 0.2)
    assert told["rollout/timeouts"] == 0.2, "of five answers"
    assert told["rollout/success"] == 0.5
    families = {name: value for name, value in told.items() if "family" in name}
    assert families == {"rollout/family/a": 0.5, "rollout/family/b": 1.0}
    nothing = of_episodes(Collected([None], ["gone"]), END)
    assert nothing["rollout/fault_share"] == 1.0
    assert all(np.isfinite(value) for value in nothing.values())


def test_families_are_those_of_all_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has played some of a family's tasks."""
    monkeypatch.setattr(parallel, "gathered", lambda mine: [mine, [["a", False], ["c", True]]])
    told = of_episodes(Collected([episode("a", True)]), END)
    assert {name: value for name, value in told.items() if "family" in name} == {
        "rollout/family/a": 0.5,
        "rollout/family/c": 1.0,
    }


def test_no_more_families_are_told_than_can_be_looked_at() -> None:
    """Of a suite of thousands; none of the episodes is forgotten."""
    names = [f"{number:04d}" for number in range(1000)]
    many = by_family([(name, number < FAMILIES - 1) for number, name in enumerate(names)])
    assert len(many) == FAMILIES
    assert many[f"family/{OTHERS}"] == 0.0
    assert all(many[f"family/{name}"] == 1.0 for name in names[: FAMILIES - 1])
    few = by_family([(name, True) for name in names[:FAMILIES]])
    assert list(few) == [f"family/{name}" for name in names[:FAMILIES]]
