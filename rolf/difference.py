"""Difference: the first place where two values that should be equal are not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rolf.plain import plain

SHORTENED = 200
"""Longest value that a report quotes [characters]."""
ABSENT = object()
"""Stands for a value that one side has and the other has not."""


class Difference(NamedTuple):
    """One value that differs, in words."""

    field: str
    """Where it is: ``observation.stdout``, ``info.checks[0].passed``."""
    left: str
    """The value on one side, shortened around the first difference."""
    right: str
    """The value on the other, shortened in the same way."""

    def __str__(self) -> str:
        return f"{self.field}: {self.left} and {self.right}"


def difference(name: str, left: Any, right: Any, volatile: Sequence[str] = ()) -> Difference | None:
    """Return the first difference between two values of any kind, or None.

    Args:
        name: What the values are called: ``observation``.
        left: One of them.
        right: The other.
        volatile: Fields that may differ.

    Example:
        >>> print(difference("info", {"seen": [1, 2]}, {"seen": (1, 3)}))
        info.seen[1]: 2 and 3
    """
    found = next(differences(name, plain(left), plain(right), volatile), None)
    return None if found is None else Difference(found[0], *shortened(*found[1:]))


def differences(name: str, left: Any, right: Any, volatile: Sequence[str] = ()) -> Iterator[tuple[str, Any, Any]]:
    """Yield (field, left, right) for each leaf of plain data that differs.

    Args:
        name: What the values are called.
        left: Dictionaries, lists, arrays, and what JSON knows besides.
        right: To compare with it.
        volatile: Fields that may differ.
    """
    if name in volatile:
        return
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            yield from differences(f"{name}.{key}", left.get(key, ABSENT), right.get(key, ABSENT), volatile)
    elif isinstance(left, list) and isinstance(right, list):
        for index in range(max(len(left), len(right))):
            one = left[index] if index < len(left) else ABSENT
            other = right[index] if index < len(right) else ABSENT
            yield from differences(f"{name}[{index}]", one, other, volatile)
    elif isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        yield from _of_arrays(name, left, right)
    elif told(left) != told(right):
        yield name, left, right


def _of_arrays(name: str, left: NDArray[Any], right: NDArray[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the elements that differ; bit for bit, so that -0.0 is not 0.0, but any NaN is NaN."""
    if left.dtype != right.dtype:
        yield f"{name}.dtype", str(left.dtype), str(right.dtype)
    elif left.shape != right.shape:
        yield f"{name}.shape", list(left.shape), list(right.shape)
    elif left.tobytes() != right.tobytes():
        differs = left != right
        if left.dtype.kind in "fc":
            differs &= ~(np.isnan(left) & np.isnan(right))
        if left.dtype.kind == "f":
            differs |= (np.signbit(left) != np.signbit(right)) & ~np.isnan(left)
        for place in np.argwhere(differs):
            at = "".join(f"[{index}]" for index in place.tolist())
            yield f"{name}{at}", left[tuple(place)].item(), right[tuple(place)].item()


def told(value: Any) -> str:
    """Return plain data as text in which equal values are equal."""
    return "nothing" if value is ABSENT else json.dumps(value, sort_keys=True, default=_array_told)


def _array_told(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "shape": value.shape, "values": value.tolist()}
    return repr(value)


def shortened(left: Any, right: Any) -> tuple[str, str]:
    """Return two values as text, cut so that the first differing character is in sight."""
    one, other = told(left), told(right)
    if max(len(one), len(other)) <= SHORTENED:
        return one, other
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, shared - SHORTENED // 4)

    def around(text: str) -> str:
        end = start + SHORTENED
        return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"

    return around(one), around(other)
