"""Actions: one list of 545 commands, in three spellings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linegym
from linegym.actions import CLAIM_NAMES, COMMANDS, batch_commands, command, describe, single_command
from linegym.plant import (
    ACTIONS,
    FIRST_CLOSE,
    FIRST_DIAGNOSE,
    FIRST_DISPATCH,
    FIRST_INSPECT,
    FIRST_ORDER,
    FIRST_THROTTLE,
    Fault,
    Verb,
)


def test_every_command_is_in_the_list_once() -> None:
    """Two numbers for one command would split what a policy learns of it."""
    assert COMMANDS.shape == (ACTIONS, 3)
    assert len({tuple(row) for row in COMMANDS.tolist()}) == ACTIONS
    assert len({describe(number) for number in range(ACTIONS)}) == ACTIONS


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, (Verb.NOOP, 0, 0)),
        (FIRST_INSPECT + 5 * 3 + 2, (Verb.INSPECT, 5, 2)),
        (FIRST_DIAGNOSE + 5 * 10 + 9, (Verb.DIAGNOSE, 5, 9)),
        (FIRST_ORDER + 7 * 2 + 1, (Verb.ORDER, 0, 15)),
        (FIRST_DISPATCH + 3 * 24 + 11, (Verb.DISPATCH, 11, 3)),
        (FIRST_CLOSE + 23, (Verb.CLOSE, 23, 0)),
        (FIRST_THROTTLE + 8 * 2 + 1, (Verb.THROTTLE, 8, 1)),
        (ACTIONS - 1, (Verb.THROTTLE, 23, 1)),
    ],
)
def test_numbers_mean_what_the_specification_says(number: int, expected: tuple[int, int, int]) -> None:
    """The kernel's mask is numbered by the same rule, written down in docs/reference/plant.md."""
    assert tuple(command(number)) == expected
    assert tuple(single_command(np.array(expected), "multi")) == expected


def test_words_write_the_numbers_that_describe_reads() -> None:
    said = {
        linegym.inspect(3, channel=2): "inspect channel 2 of station 3",
        linegym.diagnose(4, "jam"): "open a work order for station 4: jam",
        linegym.diagnose(4, Fault.JAM - 1): "open a work order for station 4: jam",
        linegym.diagnose(4, "network"): "dismiss the alarm of station 4: network",
        linegym.order("leak", 3): "order 3 of the part against leak",
        linegym.dispatch(5, 23): "dispatch technician 5 to station 23",
        linegym.close(0): "close the work order of station 0",
        linegym.throttle(7): "throttle station 7",
        linegym.resume(7): "resume station 7",
        0: "do nothing",
    }
    assert {number: describe(number) for number in said} == said
    assert {number: describe(command(number)) for number in said} == said


def test_describe_knows_commands_that_no_flat_action_has() -> None:
    """A multi-discrete policy can say them all, and they are shown to people."""
    for verb in range(7):
        for argument in range(16):
            assert describe(np.array([verb, 23, argument]))
    assert describe(np.array([2, 3, 15])).endswith("unknown claim 15")


def test_claims_are_the_fault_classes_and_two_that_dismiss() -> None:
    assert (*(f.name.lower().replace("_", "-") for f in Fault if f), "disturbance", "network") == CLAIM_NAMES


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint16, lambda number: np.array(number)])
def test_any_whole_number_is_an_action(kind: Any) -> None:
    """Frameworks hand over what their tensors hold."""
    assert tuple(single_command(kind(100), "flat")) == tuple(COMMANDS[100])


def test_a_batch_is_its_rows() -> None:
    numbers = np.arange(ACTIONS)
    assert (batch_commands(numbers, ACTIONS, "flat")[:, 0] == COMMANDS).all()
    assert (batch_commands(COMMANDS, ACTIONS, "multi")[:, 0] == COMMANDS).all()
    assert batch_commands([3, 4], 2, "flat").tolist() == [[COMMANDS[3].tolist()], [COMMANDS[4].tolist()]]


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (
            lambda: single_command(545, "flat"),
            ValueError,
            "action 545 is out of range; give a whole number from 0 to 544",
        ),
        (lambda: single_command(-1, "flat"), ValueError, "-1"),
        (lambda: single_command(float("nan"), "flat"), TypeError, "nan of type float is no whole number"),
        (lambda: single_command(3.0, "flat"), TypeError, "float"),
        (lambda: single_command("3", "flat"), TypeError, "'3' of type str"),
        (lambda: single_command(np.array([3]), "flat"), TypeError, "no whole number"),
        (lambda: single_command(None, "flat"), TypeError, "None"),
        (lambda: single_command(np.zeros(2, int), "multi"), ValueError, r"shape \(2,\)"),
        (lambda: single_command(np.array([0, 24, 0]), "multi"), ValueError, r"\(7, 24, 16\)"),
        (lambda: single_command(np.array([0, np.nan, 0]), "multi"), TypeError, "float64"),
        (lambda: batch_commands(np.array([0, 545]), 2, "flat"), ValueError, "action 545 of row 1"),
        (lambda: batch_commands(np.array([0.0, np.nan]), 2, "flat"), TypeError, "float64"),
        (lambda: batch_commands(np.zeros(3, int), 2, "flat"), ValueError, r"shape \(3,\).*shape \(2,\)"),
        (lambda: batch_commands(np.zeros((2, 2), int), 2, "multi"), ValueError, r"shape \(2, 3\)"),
        (lambda: batch_commands([True, False], 2, "flat"), TypeError, "bool"),
        (lambda: linegym.inspect(24), ValueError, "station=24"),
        (lambda: linegym.inspect(1.0), TypeError, "station=1.0"),
        (lambda: linegym.dispatch(6, 0), ValueError, "technician=6"),
        (lambda: linegym.order("leak", 2), ValueError, "quantity=2 cannot be ordered; give 1 or 3"),
        (lambda: linegym.order("network"), ValueError, "'network' is not known"),
        (lambda: linegym.diagnose(0, "bearings"), ValueError, "did you mean 'bearing'"),
    ],
)
def test_what_is_no_action_is_refused(call: Any, kind: type[Exception], told: str) -> None:
    """NaN cast to an integer is some action; a policy that has diverged must not go on unnoticed."""
    with pytest.raises(kind, match=told):
        call()
