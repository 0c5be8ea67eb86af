"""What the production line shows of itself in `rolf demo`."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from linegym.demonstration import MEASURES, TOLD_OF, demonstrate
from linegym.errors import ArgumentError
from linegym.fleet import BLOCK, play_all, shared_out
from linegym.play import play
from linegym.policies import policy
from linegym.story import story
from linegym.variants import FAMILIES, split, variant
from rolf.exhibit import Charts, Figures, Picture, Table

HORIZON = 150
"""Ticks, where the whole shift says no more than a part."""


def test_many_processes_reach_what_one_reaches() -> None:
    """How lines are shared out has no part in what becomes of them."""
    variants = split("train")[:130]
    told: list[tuple[int, int]] = []
    played, cost = play_all("cusum", variants, [3] * 130, lambda done, all_: told.append((done, all_)), horizon=HORIZON)
    alone = play(policy("cusum"), variants, [3] * 130, horizon=HORIZON, evaluation=False)
    assert np.array_equal(played.returns, alone.returns)
    assert np.array_equal(played.closed_due, alone.closed_due)
    assert told[-1] == (130 * HORIZON, 130 * HORIZON)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert cost.steps == 130 * HORIZON
    assert 0.9 * cost.steps < cost.stepped < cost.steps
    assert cost.rate_alone > cost.rate_played > 0


def test_an_unknown_policy_is_told_not_waited_for() -> None:
    """An error in another process ends the play here, with its own words."""
    with pytest.raises(ArgumentError, match="did you mean 'cusum'"):
        play_all("cusun", split("train")[:2], [0, 0], lambda _done, _all: None, horizon=5)


@pytest.mark.parametrize(("lines", "processes"), [(1, 2), (63, 8), (100, 16), (7000, 1), (7000, 2), (7000, 64)])
def test_lines_are_shared_out_evenly(lines: int, processes: int) -> None:
    """Each once, none in a part too large for the caches, and no process has much more to do than another."""
    parts = shared_out(lines, processes)
    assert [number for part in parts for number in range(lines)[part]] == list(range(lines))
    sizes = [len(range(lines)[part]) for part in parts]
    assert max(sizes) <= BLOCK
    if lines == 7000:
        assert len(parts) % processes == 0
        assert max(sizes) - min(sizes) < processes * len(parts)


def test_the_story_is_what_happened() -> None:
    """Times, deeds and truth fit together; the same seed tells the same."""
    told = story("cusum", variant(TOLD_OF), 7)
    assert list(told.starts) == sorted(set(told.starts))
    identify, assess, _, execute = told.deeds
    assert identify[-1] == f"open a work order for station {told.station}: {told.fault}"
    assert assess[-1].endswith(f"to station {told.station}")
    assert execute[-1] == f"close the work order of station {told.station}"
    assert told.true[0][0] < told.starts[0]
    assert told.true[-1][0] > told.starts[4]
    assert [tick for tick, _ in told.true] == [tick for tick, _ in told.delivered]
    assert Image.open(io.BytesIO(told.picture)).size == (1280, 768)
    assert story("cusum", variant(TOLD_OF), 7) == told


def test_the_kernel_is_compiled_once_for_story_and_fleet() -> None:
    """A second form of it would cost whoever tries the demo another half minute, in every process."""
    code = (
        "from linegym.story import story; from linegym.variants import variant; from linegym.kernel.batch import *\n"
        "from linegym.play import play; from linegym.policies import policy\n"
        f"story('cusum', variant({TOLD_OF!r}), 7); play(policy('no-op'), [variant({TOLD_OF!r})], [7], horizon=2)\n"
        "print(len(step_serial.signatures), len(reset_rows.signatures))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=110)
    assert done.stdout.split() == ["1", "1"], done.stderr


def test_a_policy_that_never_closes_has_no_story() -> None:
    """Looking for one must come to an end, and say so."""
    with pytest.raises(RuntimeError, match="'no-op' closed nothing rightly"):
        story("no-op", variant(TOLD_OF), 0)


def test_the_table_counts_every_line_once() -> None:
    """Figures of a report must add up; more lines than the set has go round again."""
    told: list[int] = []
    order, many = demonstrate(70, 7, lambda done, _all: told.append(done))
    table, phases = (next(block for block in each.blocks if isinstance(block, Table)) for each in (many, order))
    assert sum(int(row[2]) for row in table.rows) == 70
    assert {row[0] for row in table.rows} == set(FAMILIES)
    assert [row[0] for row in phases.rows] == ["identify", "assess", "dispatch", "execute"]
    assert any(isinstance(block, Picture) for block in order.blocks)
    assert any(isinstance(block, Figures) for block in many.blocks)
    charts = next(block for block in many.blocks if isinstance(block, Charts)).charts
    assert [chart.title for chart in charts] == list(MEASURES)
    assert told[-1] == 70 * 600
