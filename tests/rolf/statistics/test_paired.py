"""Paired comparison finds what intervals side by side do not, and finds nothing where there is nothing."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rolf.statistics import (
    Difference,
    improvement_interval,
    interval,
    mean,
    minimum_detectable_difference,
    paired_difference,
    probability_of_improvement,
)
from rolf.statistics.paired import sign_flips, standard_error

VARIANTS, ATTEMPTS, BETTER = 40, 3, 0.08
EXPERIMENTS = 400
tables = arrays.arrays(np.float64, (6, 3), elements=st.integers(0, 8).map(float))


class Powers(NamedTuple):
    """How often a difference of eight points is found."""

    paired: float
    unpaired: float
    """By the interval of a difference of two unrelated means, which forgets that the variants were the same."""
    apart: float
    """By two intervals side by side that do not overlap."""


@cache
def powers() -> Powers:
    """Play two policies on the same variants, whose chances to succeed are even from 0 to 0.92; one is 0.08 up."""
    draw = np.random.default_rng(8)
    paired = unpaired = apart = 0
    for seed in range(EXPERIMENTS):
        chance = draw.random(VARIANTS) * (1.0 - BETTER)
        worse, better = (
            (draw.random((VARIANTS, ATTEMPTS)) < each[:, None]).astype(float) for each in (chance, chance + BETTER)
        )
        found = paired_difference(better, worse, resamples=500, seed=seed)
        paired += found.decided and found.estimate > 0
        low, high = (interval(mean, each, resamples=500, seed=seed) for each in (worse, better))
        assert low.high is not None
        assert high.low is not None
        apart += low.high < high.low
        half = hypot(*((each.high - each.low) / 2.0 for each in (low, high)))
        unpaired += found.estimate > half
    return Powers(paired / EXPERIMENTS, unpaired / EXPERIMENTS, apart / EXPERIMENTS)


@pytest.mark.slow
def test_pairing_finds_what_intervals_side_by_side_do_not() -> None:
    """Eight points, 40 variants, 3 attempts: three times in ten against once in twelve, or in a hundred."""
    assert powers().paired == pytest.approx(0.30, abs=0.06)
    assert powers().unpaired == pytest.approx(0.08, abs=0.03)
    assert powers().paired > 3 * powers().unpaired
    assert powers().apart < 0.03


def experiments(shift: float, variants: int, rounds: int) -> list[Difference]:
    """Compare two policies whose variants' means differ by a normal number with standard deviation 0.3, some times."""
    draw = np.random.default_rng(variants)
    found = []
    for seed in range(rounds):
        difficulty = draw.normal(0.0, 1.0, (variants, 1))
        apart = draw.normal(shift, 0.3, (variants, 1))
        found.append(paired_difference(difficulty + apart, difficulty, resamples=400, seed=seed))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("variants", [20, 60])
def test_the_detectable_difference_is_found_four_times_out_of_five(variants: int) -> None:
    true = minimum_detectable_difference(0.3, variants)
    found = experiments(true, variants, 300)
    assert np.mean([each.decided for each in found]) == pytest.approx(0.8, abs=0.05)
    assert np.mean([each.detectable for each in found]) == pytest.approx(true, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("variants", [10, 40])
def test_where_neither_is_better_a_difference_is_seldom_found(variants: int) -> None:
    """Both by the interval and by the signs, one time in twenty."""
    found = experiments(0.0, variants, 300)
    assert np.mean([each.decided for each in found]) == pytest.approx(0.05, abs=0.03)
    assert np.mean([each.p_value < 0.05 for each in found]) == pytest.approx(0.05, abs=0.025)


@settings(deadline=None, max_examples=30)
@given(a=tables, b=tables)
def test_the_other_way_round_it_is_the_opposite(a: np.ndarray, b: np.ndarray) -> None:
    one, other = paired_difference(a, b), paired_difference(b, a)
    assert one.estimate == pytest.approx(-other.estimate, abs=1e-12)
    assert one.p_value == other.p_value
    assert one.detectable == pytest.approx(other.detectable)


@settings(deadline=None, max_examples=30)
@given(a=tables, b=tables, hard=arrays.arrays(np.float64, (6, 1), elements=st.integers(-9, 9).map(float)))
def test_what_makes_a_variant_hard_for_both_drops_out(a: np.ndarray, b: np.ndarray, hard: np.ndarray) -> None:
    plain, shifted = paired_difference(a, b), paired_difference(a + hard, b + hard)
    expected = (plain.estimate, plain.low, plain.high)
    assert (shifted.estimate, shifted.low, shifted.high) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("clusters", [None, ["x"] * 3 + ["y"] * 3 + ["z"] * 2])
def test_the_p_value_is_that_of_all_flips(clusters: list[str] | None) -> None:
    """Of eight variants or three clusters, worked out the slow way."""
    difference = np.array([0.3, 0.1, -0.2, 0.4, 0.25, 0.0, 0.5, -0.1])
    owner = np.arange(8) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    sums = [difference[owner == one].sum() for one in range(owner.max() + 1)]
    flips = [abs(np.dot(signs, sums)) for signs in product((-1, 1), repeat=len(sums))]
    slow = np.mean([flip >= abs(sum(sums)) - 1e-9 for flip in flips])
    assert paired_difference(difference[:, None], np.zeros((8, 1)), clusters).p_value == pytest.approx(slow)


def test_drawn_flips_agree_with_all_of_them() -> None:
    """Thirteen clusters are drawn, twelve gone through; the thirteenth here adds nothing."""
    sums = np.random.default_rng(4).normal(0.35, 1.0, 12)
    exact, drawn = sign_flips(sums, 0), sign_flips(np.append(sums, 0.0), 0)
    assert drawn == pytest.approx(exact, abs=0.015)
    assert sign_flips(np.append(sums, 0.0), 1) != drawn


def test_policies_that_are_equal_everywhere_are_not_told_apart() -> None:
    same = np.ones((30, 2))
    found = paired_difference(same, same, bounds=(0.0, 1.0))
    assert (found.estimate, found.p_value, found.decided) == (0.0, 1.0, False)
    unseen = 1.0 - 0.025 ** (1 / 30)
    assert (found.low, found.high) == pytest.approx((-unseen, unseen), abs=1e-6)


def test_a_single_cluster_decides_nothing() -> None:
    found = paired_difference(np.ones((5, 2)), np.zeros((5, 2)), ["one"] * 5)
    assert (found.low, found.high, found.detectable, found.decided) == (None, None, None, False)


def test_a_difference_reads_as_a_sentence_would() -> None:
    found = paired_difference([[0.5], [1.0], [0.75]], [[0.0], [0.0], [0.0]])
    assert str(found) == "+0.750 [+0.500, +1.000], p = 0.2500"


def test_the_standard_error_is_that_of_the_textbook() -> None:
    """Unrelated variants: the standard deviation by root n. Pairs of equal ones: that of half as many."""
    values = np.random.default_rng(2).normal(size=50)
    alone = values.std(ddof=1) / sqrt(50)
    assert standard_error(values, np.arange(50)) == pytest.approx(alone)
    assert standard_error(np.repeat(values, 2), np.repeat(np.arange(50), 2)) == pytest.approx(alone)


def test_improvement_has_an_interval_over_variants() -> None:
    draw = np.random.default_rng(3)
    a, b = draw.random((60, 3)) + 0.2, draw.random((60, 4))
    found = improvement_interval(a, b)
    assert found.estimate == probability_of_improvement(a, b)
    assert found.low is not None
    assert 0.5 < found.low < found.estimate
    always = improvement_interval(a + 9.0, b)
    assert (always.low, always.high) == pytest.approx((0.025 ** (1 / 60), 1.0), abs=1e-6)


def test_a_difference_beyond_all_draws_has_a_p_value_that_many_pairs_do_not_use_up() -> None:
    """Of 60 equal differences two flips in 2**60 are as far; a board of 40 policies multiplies by 780."""
    found = paired_difference(np.ones((60, 1)), np.zeros((60, 1)))
    assert 2.0**-59 <= found.p_value < 0.05 / 780
