"""What an evaluation says of how far it has got: no count without what it is of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from rolf.commands.evaluate import Tally
from rolf.evaluation.episode import Episode
from rolf.evaluation.evaluate import Advance

Run = Callable[..., Any]


def episode(success: bool | None, fault: str = "") -> Episode:
    values: dict[str, Any] = dict.fromkeys(field.name for field in fields(Episode))
    return Episode(**values | {"success": success, "fault": fault})


@pytest.mark.parametrize(
    ("kept", "told"), [(0, "1 of 2 succeeded, 1 fault"), (4, "1 of 2 new ones succeeded, 1 fault")]
)
def test_successes_are_of_those_that_were_played_now(kept: int, told: str) -> None:
    """How the kept ones went is not looked up, so a share of all would be wrong."""
    tally = Tally()
    tally.add(Advance(9, kept, ()))
    tally.add(Advance(9, kept, [episode(True), episode(False), episode(None, "gone")]))
    assert str(tally) == told
    assert tally.count == kept + 3


def test_one_is_no_plural(rolf: Run) -> None:
    done = rolf("eval", "--split", "toy-v0/small[:1]", "--policy", "truth", "--attempts", "1", "--out", "sub")
    assert "1 episode in sub; " in done.stderr
