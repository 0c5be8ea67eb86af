"""What a row earned beyond its twins, by hand, and what that leaves of what comes from outside."""

from __future__ import annotations

import numpy as np
import pytest

from rolf_adapters.ppo.twins import beyond_twins


def test_each_row_is_held_against_the_others_of_its_group() -> None:
    """Of 1, 2, 6 the others have means 4, 3.5, 1.5; of 5, 5, 8 they have 6.5, 6.5, 5."""
    assert beyond_twins([[1, 2, 6, 5, 5, 8]], 3).tolist() == [[-3, -1.5, 4.5, -1.5, -1.5, 3]]
    assert beyond_twins([[1, 2], [3, 7]], 2).tolist() == [[-1, 1], [-4, 4]]


def test_what_comes_from_outside_is_taken_out_and_nothing_else() -> None:
    """Seen over many draws, what a row owes to itself is estimated without bias, and with less variance."""
    drawing = np.random.default_rng(0)
    outside = np.repeat(drawing.normal(0, 3, (5_000, 1)), 4, axis=1)
    own = drawing.normal([0.5, 0, 0, 0], 1, (5_000, 4))
    found = beyond_twins(outside + own, 4)
    assert np.allclose(found, beyond_twins(own, 4))
    assert found[:, 0].mean() == pytest.approx(0.5, abs=0.06)
    assert found.var() < 0.2 * (outside + own).var()


def test_without_twins_nothing_changes() -> None:
    advantages = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(beyond_twins(advantages, 1), advantages)


def test_rows_that_cannot_be_shared_out_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"\(2, 5\) cannot be shared out among twins=3"):
        beyond_twins(np.zeros((2, 5)), 3)
