"""Intervals are the same for the same seed, whatever is done on the way, and say when they know nothing."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rolf.statistics import (
    interval,
    iqm,
    kernels,
    mean,
    median,
    optimality_gap,
    pass_hat_k,
    performance_profile,
    profile_band,
)
from rolf.statistics.kernels import KERNELS
from rolf.statistics.resampling import METHODS, left_out, resampled

NAN = float("nan")
DRAW = np.random.default_rng(5)
SCORES = DRAW.random((40, 4))
SCORES[3, 1:3] = NAN
OWNER = np.sort(DRAW.integers(0, 12, 40))
GOLDEN = [[2, 0, 0, 3, 1, 0], [1, 1, 3, 1, 0, 0], [1, 2, 2, 1, 0, 0]]
GOLDEN_INTERVAL = "0.501 [0.453, 0.554]"
tables = arrays.arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(1, 4)), elements=st.integers(0, 8))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("statistic", [mean, median, iqm, optimality_gap])
def test_resamples_do_not_depend_on_how_they_are_divided(statistic: Any, method: str) -> None:
    """To the last bit: who has less memory must get the same board."""
    compute = KERNELS[statistic]
    divided = [
        np.concatenate([compute(*drawn) for drawn in resampled(SCORES, OWNER, method, 300, 7, room)])
        for room in (1, 700, 10_000, 1 << 22)
    ]
    assert all(np.array_equal(divided[0], other) for other in divided[1:])
    assert len(divided[0]) == 300


def test_leaving_out_does_not_depend_on_how_it_is_divided() -> None:
    divided = [
        np.concatenate([KERNELS[iqm](*one) for one in left_out(SCORES, OWNER, room)]) for room in (1, 999, 1 << 20)
    ]
    assert np.array_equal(divided[0], divided[1])
    assert np.array_equal(divided[0], divided[2])
    assert divided[0][0] == pytest.approx(iqm(SCORES[OWNER[0] != OWNER]), abs=1e-12)


def test_the_profile_does_not_depend_on_how_it_is_divided() -> None:
    compute = partial(kernels.profile, thresholds=np.linspace(0, 1, 11))
    one, other = (
        np.concatenate([compute(*drawn) for drawn in resampled(SCORES, OWNER, "cluster", 300, 7, room)])
        for room in (1, 1 << 22)
    )
    assert np.array_equal(one, other)


def test_the_first_random_numbers_are_these() -> None:
    """Raw Philox words, so no version of NumPy may give others: published intervals stay."""
    ((_, counts),) = resampled(np.zeros((6, 1)), np.arange(6), "cluster", 3, 11)
    assert counts.tolist() == GOLDEN
    assert str(interval(mean, SCORES, OWNER)) == GOLDEN_INTERVAL


def test_the_same_seed_gives_the_same_interval_and_another_another() -> None:
    assert interval(iqm, SCORES, OWNER, seed=3) == interval(iqm, SCORES, OWNER, seed=3)
    assert interval(iqm, SCORES, OWNER, seed=3) != interval(iqm, SCORES, OWNER, seed=4)


@pytest.mark.parametrize("method", METHODS[:1])
@pytest.mark.parametrize("statistic", [mean, median, iqm])
def test_the_order_of_the_variants_is_of_no_matter(statistic: Any, method: str) -> None:
    order = np.random.default_rng(1).permutation(len(SCORES))
    assert interval(statistic, SCORES[order], method=method) == interval(statistic, SCORES, method=method)
    labels = np.array([f"template {owner}" for owner in OWNER])
    one, other = interval(statistic, SCORES, labels), interval(statistic, SCORES[order], labels[order])
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)


def test_what_clusters_are_called_is_of_no_matter() -> None:
    named = [f"template {owner:02d}" for owner in OWNER]
    assert interval(mean, SCORES, named) == interval(mean, SCORES, OWNER)


@settings(deadline=None, max_examples=40)
@given(table=tables, method=st.sampled_from(METHODS), data=st.data())
def test_an_interval_holds_its_estimate(table: np.ndarray, method: str, data: Any) -> None:
    """And lies between the least and the greatest score, which no resample leaves."""
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(table), max_size=len(table)))
    for statistic in (mean, median, iqm):
        found = interval(statistic, table, labels, method=method, resamples=100)
        assert found.estimate in found
        if found.low is not None and found.high is not None:
            assert table.min() - 1e-9 <= found.low <= found.estimate <= found.high <= table.max() + 1e-9


@settings(deadline=None, max_examples=25)
@given(table=tables, scale=st.sampled_from([0.5, 2.0]), shift=st.integers(-3, 3))
def test_an_interval_follows_the_scale_of_the_scores(table: np.ndarray, scale: float, shift: int) -> None:
    one, other = interval(mean, table, resamples=200), interval(mean, scale * table + shift, resamples=200)
    assert other.low == pytest.approx(scale * one.low + shift, abs=1e-9)
    assert other.high == pytest.approx(scale * one.high + shift, abs=1e-9)


def test_a_higher_level_is_wider() -> None:
    widths = [
        found.high - found.low for found in (interval(mean, SCORES, level=level) for level in (0.5, 0.8, 0.95, 0.99))
    ]
    assert widths == sorted(widths)
    assert len(set(widths)) == 4


def test_two_levels_are_wider_than_clusters_and_they_than_attempts() -> None:
    """What each takes for chance: variants and attempts twice over, variants, attempts alone."""
    widths = [found.high - found.low for found in (interval(mean, SCORES, method=method) for method in METHODS)]
    two_level, cluster, stratified = widths[1], widths[0], widths[2]
    assert two_level > cluster > stratified


def test_variants_that_resemble_each_other_count_for_less() -> None:
    """Forty copies of ten variants tell as much as ten."""
    ten = DRAW.random((10, 3))
    copies = np.repeat(ten, 4, axis=0)
    clustered = interval(mean, copies, np.repeat(np.arange(10), 4))
    alone = interval(mean, ten)
    assert clustered.high - clustered.low == pytest.approx(alone.high - alone.low, rel=0.1)
    assert clustered.high - clustered.low > 1.7 * (interval(mean, copies).high - interval(mean, copies).low)


def test_a_single_cluster_tells_nothing_of_others() -> None:
    found = interval(mean, SCORES, ["the only one"] * len(SCORES))
    assert (found.low, found.high, found.clusters) == (None, None, 1)
    assert str(found).endswith("[of one cluster alone]")
    assert np.isnan(profile_band(SCORES, [0.5], ["the only one"] * len(SCORES)).low).all()
    assert interval(mean, SCORES, ["the only one"] * len(SCORES), method="stratified").low is not None


def test_where_all_succeed_bounds_say_what_may_have_gone_unseen() -> None:
    """Clopper and Pearson's interval of 50 successes in 50 is [0.9289, 1]; of none, [0, 0.0711]."""
    everything, nothing = np.ones((50, 3)), np.zeros((50, 3))
    assert (interval(mean, everything).low, interval(mean, everything).high) == (1.0, 1.0)
    found = interval(mean, everything, bounds=(0.0, 1.0))
    assert (found.low, found.high) == pytest.approx((0.025 ** (1 / 50), 1.0), abs=1e-6)
    found = interval(partial(pass_hat_k, k=2), nothing, bounds=(0.0, 1.0))
    assert (found.low, found.high) == pytest.approx((0.0, 1 - 0.025 ** (1 / 50)), abs=1e-6)


def test_a_figure_that_falls_as_scores_rise_has_its_ends_in_order() -> None:
    """Of no success in 50 the gap to 1 is 1, or as much less as may have gone unseen."""
    found = interval(optimality_gap, np.zeros((50, 3)), bounds=(0.0, 1.0))
    assert (found.low, found.high) == pytest.approx((0.025 ** (1 / 50), 1.0), abs=1e-6)


@pytest.mark.parametrize("table", [np.zeros((12, 2)), SCORES[:4]], ids=["all alike", "few"])
def test_bounds_hold_for_a_statistic_of_ones_own(table: np.ndarray) -> None:
    """It is called with whole tables, here as elsewhere."""
    known, own = (interval(each, table, bounds=(0.0, 1.0)) for each in (mean, lambda scores: mean(scores)))
    assert (own.low, own.high) == pytest.approx((known.low, known.high), abs=1e-9)
    assert own.low < own.high


@pytest.mark.parametrize("clusters", [2, 5, 9])
def test_some_successes_of_few_clusters_are_not_more_certain_than_none(clusters: int) -> None:
    """Two of ten attempts at the first variant succeed; resamples of two variants alone would end at 0.2."""
    none = np.zeros((clusters, 10))
    some = none.copy()
    some[0, :2] = 1.0
    least, more = (interval(mean, table, bounds=(0.0, 1.0)) for table in (none, some))
    assert least.high is not None
    assert more.high is not None
    assert more.high > least.high
    assert least.high == pytest.approx(1.0 - 0.025 ** (1.0 / clusters), abs=1e-4)


def test_bounds_change_nothing_where_variants_differ() -> None:
    assert interval(mean, SCORES, bounds=(0.0, 1.0)) == interval(mean, SCORES)


def test_faults_are_counted() -> None:
    found = interval(mean, SCORES, OWNER)
    assert (found.faults, found.variants, found.clusters) == (2, 40, len(set(OWNER.tolist())))


def test_a_statistic_of_ones_own_is_taken() -> None:
    """It is called for each resample; the same figure written twice gives the same interval."""
    own = interval(lambda scores: float(np.nanmean(np.nanmean(scores, axis=1))), SCORES, OWNER, resamples=300)
    built_in = interval(mean, SCORES, OWNER, resamples=300)
    assert (own.low, own.high) == pytest.approx((built_in.low, built_in.high), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_band_is_the_interval_of_each_threshold(method: str) -> None:
    marks = [0.2, 0.5, 0.9]
    band = profile_band(SCORES, marks, OWNER, method=method)
    assert band.estimate.tolist() == performance_profile(SCORES, marks).tolist()
    for place, mark in enumerate(marks):
        alone = interval(
            lambda scores, at=mark: float(performance_profile(scores, [at])[0]), SCORES, OWNER, method=method
        )
        assert (band.low[place], band.high[place]) == pytest.approx((alone.low, alone.high), abs=1e-9)


def test_the_narrowest_interval_holds_its_estimate() -> None:
    """Corrected for bias, hardly any level may leave it out: of a long tail, half of all resamples are not below it."""
    tail = np.exp(2.0 * np.random.default_rng(6).standard_normal((15, 1)))
    found = interval(mean, tail, level=0.01)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.estimate <= found.high


@pytest.mark.parametrize("method", METHODS[1:])
def test_a_variant_keeps_as_many_attempts_as_count(method: str) -> None:
    """Its faults are not drawn in place of them."""
    counted = np.unique(np.isfinite(SCORES).sum(1))
    for scores, counts in resampled(SCORES, OWNER, method, 100, 1):
        assert set(np.isfinite(scores).sum(2)[counts > 0].tolist()) <= set(counted.tolist())
        if method == "stratified":
            assert (np.isfinite(scores).sum(2) == np.isfinite(SCORES).sum(1)).all()
