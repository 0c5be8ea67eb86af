"""What was measured is written down once, whatever stopped the training in between."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rolf_adapters.ppo.metrics import METRICS, TENSORBOARD, TIMES, Metrics, read

SEEN = {"rollout/return": 1.5, "policy/kl": math.nan, "time/collect": 0.25}


def written(folder: Path, count: int, *, first: int = 0, lines: int = 0, tensorboard: bool = False) -> None:
    with Metrics(folder, lines=lines, step=first, tensorboard=tensorboard) as metrics:
        for iteration in range(first, first + count):
            metrics.add({"iteration": iteration, "rollbacks": 0}, SEEN | {"rollout/return": iteration / 2})
        metrics.sync()


def test_times_have_a_file_of_their_own(tmp_path: Path) -> None:
    """So that the other one has the same bytes in every run. What was not measured is null: NaN is no JSON."""
    written(tmp_path, 1)
    line = b'{"iteration": 0, "rollbacks": 0, "policy/kl": null, "rollout/return": 0.0}\n'
    assert (tmp_path / METRICS).read_bytes() == line
    assert json.loads((tmp_path / TIMES).read_text()) == {"iteration": 0, "rollbacks": 0, "time/collect": 0.25}


def test_what_follows_the_checkpoint_is_cut_off(tmp_path: Path) -> None:
    """A killed run has written lines that the resumed one writes again, and perhaps half a line."""
    written(tmp_path, 5)
    whole = (tmp_path / METRICS).read_bytes()
    with (tmp_path / METRICS).open("ab") as file:
        file.write(b'{"iteration": 5, "roll')
    written(tmp_path, 2, first=3, lines=3)
    assert (tmp_path / METRICS).read_bytes() == whole
    assert [line["iteration"] for line in read(tmp_path / TIMES)] == [0, 1, 2, 3, 4]


def test_fewer_lines_than_the_checkpoint_tells_of_are_an_error(tmp_path: Path) -> None:
    """A curve with a hole that nobody notices is worse than none."""
    written(tmp_path, 2)
    with pytest.raises(ValueError, match="has 2 whole lines of 3"):
        Metrics(tmp_path, lines=3, tensorboard=False)


def test_tensorboard_shows_each_iteration_once(tmp_path: Path) -> None:
    """After a resumption too: what was written for later iterations counts no more."""
    written(tmp_path, 4, tensorboard=True)
    written(tmp_path, 3, first=2, lines=2, tensorboard=True)
    events = EventAccumulator(str(tmp_path / TENSORBOARD)).Reload()
    assert set(events.Tags()["scalars"]) == {"rollout/return", "time/collect"}
    assert [(each.step, each.value) for each in events.Scalars("rollout/return")] == [
        (0, 0.0), (1, 0.5), (2, 1.0), (3, 1.5), (4, 2.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rolout/return", "did you mean 'rollout/return'?"),
        ("return", "has none of the groups rollout,"),
        ("rollout/", "has none of the groups"),
    ],
)
def test_names_are_those_that_are_documented(tmp_path: Path, name: str, said: str) -> None:
    """Two spellings make two curves."""
    with Metrics(tmp_path, tensorboard=False) as metrics, pytest.raises(ValueError, match="metric") as caught:
        metrics.add({"iteration": 0}, {name: 1.0})
    assert said in str(caught.value)


@pytest.mark.parametrize("value", ["1.0", True, None, [1.0]])
def test_values_are_numbers(tmp_path: Path, value: object) -> None:
    """A tensor or a text would fail later, in a reader that cannot say whose fault it is."""
    with Metrics(tmp_path, tensorboard=False) as metrics, pytest.raises(TypeError, match="expected an int or a float"):
        metrics.add({"iteration": 0}, {"own/value": value})
    assert (tmp_path / METRICS).read_bytes() == b""
