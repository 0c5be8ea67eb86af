"""Seeds: whole numbers that ``reset`` takes."""

from __future__ import annotations

from hypothesis import strategies as st

from rolf.variant import SEEDS

_EDGES = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, SEEDS - 1)
"""Where a seed that is kept in too few bits comes out as another."""


def seeds() -> st.SearchStrategy[int]:
    """Return seeds from 0 to 2**62 - 1, among them those at which 32 bits end.

    It shrinks to 0.

    Example::

        @given(seeds())
        def test_a_seed_is_all_that_matters(seed):
            assert play(seed) == play(seed)
    """
    return st.one_of(st.integers(0, 9), st.sampled_from(_EDGES), st.integers(0, SEEDS - 1))
