"""The batch of lines refuses what it cannot step, and costs no second compilation."""

from __future__ import annotations

import numpy as np
import pytest

from linegym.batch import Batch
from linegym.errors import ArgumentError
from linegym.kernel.batch import step_serial
from linegym.variants import variant

LINE = variant("serial/thermocouple/profinet/bearing")


def begun(**options: object) -> Batch:
    batch = Batch([LINE, LINE], **options)  # type: ignore[arg-type]
    batch.reset(np.arange(2, dtype=np.uint64))
    return batch


@pytest.mark.parametrize("shape", [(2, 3), (1, 1, 3), (2, 2, 3), (2, 1, 2)])
def test_commands_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    """The kernel looks at no bounds: it would read what lies behind the array."""
    batch = begun()
    before = batch.digest()
    with pytest.raises(ArgumentError, match=r"it must be \(2, 1, 3\)"):
        batch.step(np.zeros(shape, np.int32))
    assert batch.digest() == before


def test_read_only_commands_are_stepped_without_another_compilation() -> None:
    """To numba an array that cannot be written has a type of its own: half a minute, for a view of one's own table."""
    batch = begun()
    commands = np.zeros((2, 1, 3), np.int32)
    batch.step(commands)
    compiled = len(step_serial.signatures)  # type: ignore[attr-defined]
    commands.flags.writeable = False
    batch.step(commands)
    assert len(step_serial.signatures) == compiled  # type: ignore[attr-defined]
    assert (batch.facts[:, 1] == 2).all()


def test_a_step_before_the_first_reset_is_refused() -> None:
    """There is no episode to step."""
    with pytest.raises(ArgumentError, match="reset"):
        Batch([LINE]).step(np.zeros((1, 1, 3), np.int32))


def test_a_finished_row_is_not_stepped_and_the_others_stay_as_they_are() -> None:
    """Without an autoreset somebody must decide; nothing has moved when the error comes."""
    batch = begun(horizon=2, autoreset="disabled")
    for _ in range(2):
        batch.step(np.zeros((2, 1, 3), np.int32))
    batch.reset(rows=np.array([True, False]))
    before = batch.digest()
    with pytest.raises(ArgumentError, match=r"rows \[1\] have ended"):
        batch.step(np.zeros((2, 1, 3), np.int32))
    assert batch.digest() == before


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("horizon", 0),
        ("horizon", 30_001),
        ("ticks_per_step", 0),
        ("commands", 4),
        ("threads", True),
        ("autoreset", "x"),
    ],
)
def test_options_out_of_range_are_named(option: str, value: object) -> None:
    """With the value got and what is allowed."""
    with pytest.raises(ArgumentError, match=f"{option} is {value!r}"):
        Batch([LINE], **{option: value})  # type: ignore[arg-type]
