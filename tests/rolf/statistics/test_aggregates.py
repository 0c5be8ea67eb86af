"""What every aggregate promises, whatever the scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rolf import statistics
from rolf.statistics import iqm, mean, median, optimality_gap, performance_profile, probability_of_improvement
from rolf.statistics.kernels import KERNELS, kernel

UNHURRIED = settings(deadline=None, max_examples=60)
"""On a busy machine an example may take long."""
NAN = float("nan")
SCORES = st.integers(-40, 40).map(lambda whole: whole / 8.0)
"""Eighths, whose sums are exact: what is equal on paper is equal here."""
CENTRES = [mean, median, iqm]


@st.composite
def tables(draw: st.DrawFn, *, faults: bool = True) -> np.ndarray:
    """Draw scores, some of which are faults, each variant with an attempt that counts."""
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 5)))
    table = draw(arrays.arrays(np.float64, shape, elements=SCORES))
    if faults:
        lost = draw(arrays.arrays(np.bool_, shape))
        lost[:, 0] = False
        table[lost] = NAN
    return table


@pytest.mark.parametrize("statistic", CENTRES)
@UNHURRIED
@given(table=tables(), data=st.data())
def test_the_order_of_variants_and_attempts_is_of_no_matter(statistic: Any, table: np.ndarray, data: Any) -> None:
    rows = data.draw(st.permutations(range(table.shape[0])))
    columns = data.draw(st.permutations(range(table.shape[1])))
    assert statistic(table[rows][:, columns]) == pytest.approx(statistic(table), abs=1e-12)


@pytest.mark.parametrize("statistic", CENTRES)
@UNHURRIED
@given(table=tables())
def test_centres_lie_between_the_least_and_the_greatest(statistic: Any, table: np.ndarray) -> None:
    assert np.nanmin(table) - 1e-12 <= statistic(table) <= np.nanmax(table) + 1e-12


@pytest.mark.parametrize("statistic", CENTRES)
@UNHURRIED
@given(table=tables(), scale=st.sampled_from([0.5, 2.0, 4.0]), shift=SCORES)
def test_centres_follow_the_scale_of_the_scores(statistic: Any, table: np.ndarray, scale: float, shift: float) -> None:
    assert statistic(scale * table + shift) == pytest.approx(scale * statistic(table) + shift, abs=1e-9)


@pytest.mark.parametrize("statistic", [*CENTRES, partial(optimality_gap, threshold=1.0)])
@UNHURRIED
@given(table=tables(), data=st.data())
def test_a_better_attempt_makes_no_figure_worse(statistic: Any, table: np.ndarray, data: Any) -> None:
    places = np.argwhere(np.isfinite(table)).tolist()
    row, column = data.draw(st.sampled_from(places))
    better = table.copy()
    better[row, column] += data.draw(st.integers(1, 40)) / 8.0
    gain = statistic(better) - statistic(table)
    assert (-gain if isinstance(statistic, partial) else gain) >= -1e-12


@UNHURRIED
@given(table=tables(), copies=st.integers(2, 3))
def test_every_attempt_twice_changes_nothing(table: np.ndarray, copies: int) -> None:
    """Weights are by variant, so how often each was tried does not move the mean or the median."""
    doubled = np.tile(table, (1, copies))
    assert mean(doubled) == pytest.approx(mean(table), abs=1e-12)
    assert median(doubled) == pytest.approx(median(table), abs=1e-12)
    assert performance_profile(doubled, [0.0]) == pytest.approx(performance_profile(table, [0.0]), abs=1e-12)


@UNHURRIED
@given(table=tables())
def test_a_column_of_faults_changes_nothing(table: np.ndarray) -> None:
    """A fault is left out and no zero: it says nothing of the policy."""
    wider = np.concatenate([table, np.full((len(table), 1), NAN)], axis=1)
    for statistic in (*CENTRES, optimality_gap):
        assert statistic(wider) == statistic(table)
    assert performance_profile(wider, [-1.0, 0.5]).tolist() == performance_profile(table, [-1.0, 0.5]).tolist()


@UNHURRIED
@given(table=tables())
def test_a_profile_falls_from_one_to_zero(table: np.ndarray) -> None:
    marks = np.linspace(-5.1, 5.1, 21)
    profile = performance_profile(table, marks)
    assert profile[0] == pytest.approx(1.0)
    assert profile[-1] == 0.0
    assert (np.diff(profile) <= 1e-12).all()


@UNHURRIED
@given(table=tables())
def test_the_area_under_the_profile_is_the_mean(table: np.ndarray) -> None:
    """Between scores that are eighths the profile is a staircase: its area from the left end is the mean."""
    steps = np.arange(-40, 40) / 8.0
    area = -5.0 + performance_profile(table, steps).sum() / 8.0
    assert area == pytest.approx(mean(table), abs=1e-9)


@UNHURRIED
@given(a=tables(), data=st.data())
def test_improvement_looks_at_the_order_of_scores_alone(a: np.ndarray, data: Any) -> None:
    """Any increasing transformation leaves it; the other way round it is one minus it."""
    b = data.draw(arrays.arrays(np.float64, (len(a), 3), elements=SCORES))
    found = probability_of_improvement(a, b)
    assert 0.0 <= found <= 1.0
    assert probability_of_improvement(a**3 + a, b**3 + b) == pytest.approx(found, abs=1e-12)
    assert probability_of_improvement(b, a) == pytest.approx(1.0 - found, abs=1e-12)
    assert probability_of_improvement(a, a) == pytest.approx(0.5, abs=1e-12)


def test_figures_worked_by_hand() -> None:
    """Seven scores that count: a quarter of them, rounded down, is one at either end."""
    table = [[0.0, 1.0, NAN], [2.0, 3.0, 10.0], [4.0, NAN, 6.0]]
    assert mean(table) == pytest.approx((0.5 + 5.0 + 5.0) / 3.0)
    assert median(table) == 5.0
    assert iqm(table) == pytest.approx((1.0 + 2.0 + 3.0 + 4.0 + 6.0) / 5.0)
    assert optimality_gap(table, 4.0) == pytest.approx(4.0 - (0.5 + 3.0 + 4.0) / 3.0)
    assert performance_profile(table, [2.0, 3.0]).tolist() == pytest.approx([5 / 9, 4 / 9])


@pytest.mark.parametrize("statistic", sorted(KERNELS, key=lambda each: each.__name__), ids=lambda each: each.__name__)
@UNHURRIED
@given(table=tables(faults=False), data=st.data())
def test_counting_a_variant_twice_is_having_it_twice(
    statistic: Callable[..., float], table: np.ndarray, data: Any
) -> None:
    """Resamples are counts; each must be the statistic of the table with its rows repeated, which is slower."""
    known = {"optimality_gap": {"threshold": 0.5}, "pass_at_k": {"k": 1}, "pass_hat_k": {"k": 1}}
    bound = partial(statistic, **known.get(statistic.__name__, {}))
    if statistic.__name__.startswith("pass"):
        table = (table > 0.0).astype(np.float64)
    counts = data.draw(arrays.arrays(np.int64, (4, len(table)), elements=st.integers(0, 3)))
    counts[:, 0] += 1
    slow = [bound(np.repeat(table, count, axis=0)) for count in counts]
    assert kernel(bound)(table, counts).tolist() == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize("statistic", [mean, median, iqm, optimality_gap])
@UNHURRIED
@given(table=tables(), data=st.data())
def test_each_resample_may_have_scores_of_its_own(
    statistic: Callable[..., float], table: np.ndarray, data: Any
) -> None:
    """Where attempts are drawn too, scores come with the resamples' axis in front, and padding that counts 0 times."""
    other = data.draw(arrays.arrays(np.float64, table.shape, elements=SCORES))
    stacked = np.stack([table, other])
    counts = np.ones((2, len(table)), dtype=np.int64)
    counts[1, 1:] = 0
    slow = [statistic(table), statistic(other[:1])]
    assert kernel(statistic)(stacked, counts).tolist() == pytest.approx(slow, abs=1e-9)


def test_a_threshold_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="threshold = nan; give the score that is good enough"):
        optimality_gap([[0.0]], NAN)


def test_the_package_offers_what_its_kernels_compute() -> None:
    assert {each.__name__ for each in KERNELS} <= set(statistics.__all__)
