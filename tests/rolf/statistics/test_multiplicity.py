"""Who compares many times finds something by chance; corrected, seldom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolf.statistics import holm

UNHURRIED = settings(deadline=None, max_examples=60)
"""On a busy machine an example may take long."""
probabilities = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)


@UNHURRIED
@given(probabilities)
def test_it_lies_between_the_raw_values_and_bonferroni(values: list[float]) -> None:
    raw, adjusted = np.array(values), holm(values)
    assert (adjusted >= raw).all()
    assert (adjusted <= np.minimum(1.0, len(raw) * raw) + 1e-12).all()
    assert adjusted.min() == pytest.approx(min(1.0, len(raw) * raw.min()))


@UNHURRIED
@given(probabilities, st.randoms())
def test_the_order_of_comparisons_is_of_no_matter(values: list[float], shuffle: Any) -> None:
    order = list(range(len(values)))
    shuffle.shuffle(order)
    assert holm([values[one] for one in order]).tolist() == holm(values)[order].tolist()


def test_where_nothing_is_there_one_board_in_twenty_finds_something() -> None:
    boards = np.random.default_rng(1).random((4000, 15))
    assert np.mean([(holm(board) < 0.05).any() for board in boards]) == pytest.approx(0.05, abs=0.01)
    assert np.mean((boards < 0.05).any(1)) > 0.5


@pytest.mark.parametrize("values", [[[0.1]], [1.1], [-0.1], [float("nan")]])
def test_what_is_no_p_value_is_refused(values: Any) -> None:
    with pytest.raises(ValueError, match="give a list of numbers from 0 to 1"):
        holm(values)
