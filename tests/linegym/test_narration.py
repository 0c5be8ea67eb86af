"""A shift told through from its commands: what came of them is what came of them when they were given."""

from __future__ import annotations

import numpy as np
import pytest

from linegym import catalogue
from linegym.actions import COMMANDS, dispatch
from linegym.batch import Batch
from linegym.errors import ArgumentError
from linegym.evaluation import entry
from linegym.layout import FACTS
from linegym.policies import Lineup, policy
from linegym.variants import variant
from rolf.evaluation.narration import Narrator
from rolf.exhibit import Charts, Table

LINE = variant("serial/thermocouple/profinet/bearing+sensor:2")
SEED = 5


@pytest.fixture(scope="module")
def played() -> tuple[list[int], dict[str, int], int]:
    """Actions of a shift, its last facts, and the orders that were closed rightly."""
    batch = Batch([LINE], autoreset="disabled", evaluation=True)
    batch.reset(np.array([SEED], np.uint64))
    player = policy("cusum")
    player.begin(Lineup.of([LINE], [SEED]))
    actions, right = [], 0
    for _ in range(batch.horizon):
        action = player.act(batch.observations, batch.masks, {})
        actions.append(int(action[0]))
        batch.step(COMMANDS[action][:, None])
        right += int(batch.facts[0][FACTS.index("closed_right")])
    return actions, dict(zip(FACTS, batch.facts[0].tolist(), strict=True)), right


def test_the_line_is_a_narrator() -> None:
    assert isinstance(catalogue, Narrator)


def test_tells_what_was_done_and_what_came_of_it(played: tuple[list[int], dict[str, int], int]) -> None:
    actions, facts, right = played
    told = catalogue.narrate(entry(LINE), SEED, actions)
    assert len(told.deeds) == len(actions)
    assert {deed.lane for deed in told.deeds} <= {"", "inspect", "diagnose", "order", "dispatch", "close", "throttle"}
    assert [deed.lane == "" for deed in told.deeds] == [action == 0 for action in actions]
    table, charts = told.blocks
    assert isinstance(table, Table)
    assert isinstance(charts, Charts)
    assert right > 0
    assert [row[2] for row in table.rows].count("fault gone") == right
    assert all(len(row) == len(table.headings) for row in table.rows)
    output, scrap = charts.charts[0].series
    assert facts["output"] - 3 <= output.points[-1][1] <= facts["output"]
    assert scrap.points[-1][1] <= facts["scrap"]


def test_a_command_is_told_in_words() -> None:
    [deed] = catalogue.narrate(entry(LINE), SEED, [dispatch(2, 7)]).deeds
    assert (deed.lane, deed.words) == ("dispatch", "dispatch technician 2 to station 7")


@pytest.mark.parametrize(
    ("actions", "reason"),
    [
        ([545], "545 is out of range"),
        (["x"], "no whole number"),
        ([[1, 2]], "no whole number"),
        ([0] * 601, "601 commands"),
    ],
)
def test_refuses_what_is_no_shift(actions: list[object], reason: str) -> None:
    """The actions of a stranger's file may be anything."""
    with pytest.raises(ArgumentError, match=reason):
        catalogue.narrate(entry(LINE), SEED, actions)
