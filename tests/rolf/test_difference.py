"""The first difference between two values is named, and what is equal is equal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pytest

from rolf.checks.stray import stray
from rolf.difference import SHORTENED, difference
from rolf.plain import plain


class Colour(Enum):
    RED = "red"


@dataclass
class Part:
    name: str
    at: tuple[int, int]


class Pair(NamedTuple):
    left: int
    right: int


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1),
        ((1, 2), [1, 2]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (math.nan, math.nan),
        (np.array([np.nan, 1.0]), np.array([np.nan, 1.0])),
        (Colour.RED, "red"),
        (Part("x", (1, 2)), {"name": "x", "at": [1, 2]}),
        ({3, 1, 2}, {2, 3, 1}),
        (object(), object()),
        (np.float64(0.5), 0.5),
    ],
)
def test_equal_values_do_not_differ(left: Any, right: Any) -> None:
    assert difference("it", left, right) is None


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        (1, 2, ("it", "1", "2")),
        (1, 1.0, ("it", "1", "1.0")),
        (True, 1, ("it", "true", "1")),
        (0.0, -0.0, ("it", "0.0", "-0.0")),
        ("a", None, ("it", '"a"', "null")),
        ({"a": [1, 2]}, {"a": [1]}, ("it.a[1]", "2", "nothing")),
        ({"a": 1}, {"b": 1}, ("it.a", "1", "nothing")),
        (Pair(1, 2), Pair(1, 3), ("it.right", "2", "3")),
        (np.zeros(3), np.array([0.0, 0.0, 1.0]), ("it[2]", "0.0", "1.0")),
        (np.zeros(2), -np.zeros(2), ("it[0]", "0.0", "-0.0")),
        (np.zeros(1), np.array([np.nan]), ("it[0]", "0.0", "NaN")),
        (np.zeros((2, 2)), np.zeros((2, 3)), ("it.shape", "[2, 2]", "[2, 3]")),
        (np.zeros(2, np.float32), np.zeros(2), ("it.dtype", '"float32"', '"float64"')),
        (np.array(["a", "b"]), np.array(["a", "c"]), ("it[1]", '"b"', '"c"')),
        (np.array([1 + 2j]), np.array([1 + 3j]), ("it[0]", '"(1+2j)"', '"(1+3j)"')),
        (np.zeros(1), [0.0], ("it", '{"dtype": "float64", "shape": [1], "values": [0.0]}', "[0.0]")),
    ],
)
def test_the_first_difference_is_named(left: Any, right: Any, found: tuple[str, str, str]) -> None:
    assert difference("it", left, right) == found


def test_an_element_among_many_thousands_is_named() -> None:
    """A trajectory file has a digest of so large an array; who compares two arrays wants the element."""
    left = np.zeros((100, 100))
    right = left.copy()
    right[17, 3] = 1.0
    assert difference("it", left, right) == ("it[17][3]", "0.0", "1.0")


def test_what_may_differ_is_left_out() -> None:
    left, right = {"time": 1, "seen": {"at": 1, "n": 1}}, {"time": 2, "seen": {"at": 2, "n": 1}}
    assert difference("info", left, right, ["info.time", "info.seen.at"]) is None
    assert difference("info", left, right, ["info.time"]) == ("info.seen.at", "1", "2")


def test_long_values_are_shown_around_their_difference() -> None:
    found = difference("it", "x" * 5_000 + "here" + "y" * 5_000, "x" * 5_000 + "there" + "y" * 5_000)
    assert found is not None
    assert "here" in found.left
    assert "there" in found.right
    assert max(map(len, found[1:])) <= SHORTENED + 2


def test_a_plain_copy_shares_nothing() -> None:
    value = {"array": np.zeros(2), "list": [np.zeros(2)], "objects": np.array([{"a": np.zeros(1)}], dtype=object)}
    copied = plain(value)
    value["array"][0] = value["list"][0][0] = value["objects"][0]["a"][0] = 1.0
    assert difference("it", copied, plain({**copied})) is None
    assert copied["array"].tolist() == copied["list"][0].tolist() == [0.0, 0.0]
    assert copied["objects"][0]["a"].tolist() == [0.0]


def test_what_is_of_no_kind_that_is_known_is_described() -> None:
    """A lock in `info` is of no use to anybody, but no reason to stop."""
    assert plain({"by": object()}) == {"by": "<object object at …>"}
    assert plain(3 + 4j) == "(3+4j)"


def test_what_keeps_a_value_out_of_a_space_is_named() -> None:
    from gymnasium import spaces

    inner = spaces.Tuple([spaces.Discrete(3), spaces.MultiBinary(2)])
    space = spaces.Dict({"a": inner, "b": spaces.Box(-1.0, np.array([1.0, 2.0]), dtype=np.float64)})
    good = {"a": (1, np.array([0, 1], np.int8)), "b": np.array([0.0, 2.0])}
    assert stray("seen", space, good) is None
    cases: list[tuple[Any, tuple[str, str, str]]] = [
        ({**good, "c": 1}, ("seen", "the keys ['a', 'b']", "['a', 'b', 'c']")),
        ([], ("seen", "a dict", "[] of type list")),
        ({**good, "a": (1,)}, ("seen.a", "a tuple of 2", "(1,) of type tuple")),
        ({**good, "a": (3, good["a"][1])}, ("seen.a[0]", "Discrete(3)", "3 of type int")),
        ({**good, "b": np.array([0.0, 2.5])}, ("seen.b[1]", "-1.0 to 2.0", "2.5")),
        ({**good, "b": np.array([np.nan, 0.0])}, ("seen.b[0]", "-1.0 to 1.0", "nan")),
        ({**good, "b": np.zeros(3)}, ("seen.b", "shape (2,)", "shape (3,)")),
        ({**good, "b": np.zeros(2, np.float32)}, ("seen.b", "dtype float64", "dtype float32")),
    ]
    for value, found in cases:
        assert stray("seen", space, value) == found
