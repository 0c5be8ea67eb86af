"""Moments are those of all samples, however they came, and a normalisation moves only when it is told to."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolf_adapters.ppo.moments import Moments, Normaliser

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


# ---- a normaliser


def test_a_normaliser_moves_only_when_settled() -> None:
    """Within an iteration the same observation is the same numbers; then 2 and 4 are -1 and 1."""
    normaliser = Normaliser((1,))
    normaliser.observe([[2.0], [4.0]])
    assert normaliser([[4.0]]).tolist() == [[4.0]]
    normaliser.settle()
    assert normaliser([[2.0], [4.0]]).tolist() == [[-1.0], [1.0]]
    assert normaliser([[2.0]]).dtype == np.float32


def test_a_normaliser_stands_still_after_its_steps() -> None:
    """Two steps count, the third is not taken in; dead rows are not either."""
    normaliser = Normaliser((1,), steps=2)
    normaliser.observe([[2.0], [NAN]], alive=[True, False])
    assert not normaliser.frozen
    normaliser.observe([[2.0], [8.0]])
    assert normaliser.frozen
    normaliser.observe([[1000.0], [1000.0]])
    normaliser.settle()
    assert (normaliser.moments.count, float(normaliser.moments.mean[0])) == (3, 4.0)


def test_what_has_never_moved_is_only_centred_and_surprises_are_clipped() -> None:
    """A number that was always 0.1 has no spread but what rounding makes of it."""
    normaliser = Normaliser((2,), clip=3.0)
    for _ in range(7):
        normaliser.observe([[0.1, 0.0], [0.1, 1.0]])
    normaliser.settle()
    assert normaliser([[0.1, 0.5], [1.1, 100.0]]).tolist() == [[0.0, 0.0], [pytest.approx(1.0), 3.0]]


def test_processes_settle_on_the_same() -> None:
    """Each has seen other rows; what all gave is merged in one order, and equals one process with all rows."""
    rows = np.random.default_rng(1).normal(3, 2, (5, 4, 2))
    alone = Normaliser((2,))
    halves = [Normaliser((2,)), Normaliser((2,))]
    for step in rows:
        alone.observe(step)
        for half, own in zip(halves, np.split(step, 2), strict=True):
            half.observe(own)
    states = [half._new.state() for half in halves]
    for half in halves:
        half.settle(lambda _: states)
    alone.settle()
    assert halves[0].state() == halves[1].state()
    np.testing.assert_allclose(halves[0](rows[0]), alone(rows[0]), atol=1e-6)


def test_a_normaliser_goes_on_where_it_stopped() -> None:
    """And does not forget what it has not yet settled without a word."""
    first, second = Normaliser((1,), steps=3), Normaliser((1,), steps=3)
    first.observe([[1.0], [2.0]])
    with pytest.raises(RuntimeError, match="2 observations have not taken effect"):
        first.state()
    first.settle()
    second.load(json.loads(json.dumps(first.state())))
    for each in (first, second):
        for step in range(4):
            each.observe([[float(step)], [0.3]])
        each.settle()
    assert first.state() == second.state()
    assert second.frozen
    with pytest.raises(ValueError, match=r"of observations of shape \(1,\), not \(2,\)"):
        Normaliser((2,)).load(first.state())
    with pytest.raises(ValueError, match="is no state of a normaliser"):
        second.load({"seen": 3})


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"clip": 0.0}])
def test_a_normaliser_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        Normaliser((1,), **wrong)  # type: ignore[arg-type]
