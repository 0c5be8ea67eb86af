"""Moments are those of all samples, however they came."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolf_adapters.ppo.moments import Moments

NAN = float("nan")


def test_moments_by_hand() -> None:
    """1, 3, 5, 7: mean 4, squared distances 9 + 1 + 1 + 9."""
    moments = Moments()
    moments.update([1.0, 3.0])
    moments.update([NAN, 5.0, 7.0], mask=[False, True, True])
    assert (moments.count, float(moments.mean), float(moments.variance)) == (4, 4, 5)


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_parts_give_what_the_whole_gives(seed: int, sizes: list[int]) -> None:
    """By batches, or each apart and then merged: a spread of 1 round a mean of 10^8 is kept."""
    rng = np.random.default_rng(seed)
    samples = rng.normal(1e8, 1.0, (sum(sizes), 3))
    parts = np.split(samples, np.cumsum(sizes)[:-1])
    bit_by_bit, merged = Moments((3,)), Moments((3,))
    for part in parts:
        bit_by_bit.update(part)
        own = Moments((3,))
        own.update(part)
        merged.merge(own)
    for found in (bit_by_bit, merged):
        assert found.count == len(samples)
        if len(samples):
            np.testing.assert_allclose(found.mean, samples.mean(axis=0), rtol=1e-15)
            np.testing.assert_allclose(found.deviation, samples.std(axis=0), rtol=1e-6, atol=1e-7)


def test_state_is_plain_and_keeps_every_bit() -> None:
    moments = Moments((2,))
    moments.update(np.random.default_rng(0).normal(size=(7, 2)))
    again = Moments.of(json.loads(json.dumps(moments.state())))
    assert again.state() == moments.state()
    for each in (moments, again):
        each.update([[0.1, 0.2]])
    assert again.state() == moments.state()


def test_what_is_no_sample_changes_nothing() -> None:
    moments = Moments((2,))
    moments.update([[1.0, 2.0]])
    before = moments.state()
    with pytest.raises(ValueError, match=r"samples have shape \(1, 3\); give \(n, 2\)"):
        moments.update([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="of 2 samples, 1 numbers are not finite"):
        moments.update([[1.0, 2.0], [3.0, NAN]])
    with pytest.raises(ValueError, match=r"moments of shape \(\) cannot be merged into \(2,\)"):
        moments.merge(Moments())
    assert moments.state() == before


@pytest.mark.parametrize("state", [{}, {"count": 1, "mean": [1.0], "squares": [1.0, 2.0]}, {"count": -1, "mean": 0.0}])
def test_what_is_no_state_is_refused(state: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="is no state of moments"):
        Moments.of(state)
