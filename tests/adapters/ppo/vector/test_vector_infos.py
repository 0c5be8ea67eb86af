"""What an environment tells of its rows is read as it is meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rolf_adapters.ppo.vector.infos import mask, masks


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([[1, 0], [0, 1]], [[1, 0], [0, 1]]),
        ([[1, 0, 1], [0, 1, 1]], [[1, 1], [1, 1]]),
        ([None, np.array([0, 1])], [[1, 1], [0, 1]]),
        ([[1, 0], [0, 1, 1]], [[1, 0], [1, 1]]),
    ],
)
def test_a_mask_is_taken_where_it_fits(told: list[Any], expected: list[Any]) -> None:
    """Row by row, as an array of numbers or of objects, and of one environment as of many."""
    ragged = any(each is None or len(each) != len(told[0] or ()) for each in told)
    given = np.empty(2, object) if ragged else np.array(told)
    given[:] = told
    assert masks({"mask": given}, "mask", 2, 2).tolist() == [[bool(each) for each in row] for row in expected]
    assert [mask({"mask": each}, "mask", 2).tolist() for each in told] == [
        [each == 1 for each in row] for row in expected
    ]
    assert mask({}, "mask", 2).all()
