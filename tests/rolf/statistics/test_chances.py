"""pass@k and pass^k are unbiased, shown by going through every outcome there can be."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolf.statistics import pass_at_k, pass_hat_k

UNHURRIED = settings(deadline=None, max_examples=60)
"""On a busy machine an example may take long."""

NAN = float("nan")
CASES = [(n, k) for n in range(1, 7) for k in range(1, n + 1)]


@pytest.mark.parametrize("chance", [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
@pytest.mark.parametrize(("n", "k"), CASES)
def test_their_expectations_are_what_they_estimate(n: int, k: int, chance: Fraction) -> None:
    """Over all 2**n outcomes of n attempts that succeed with some chance, each as likely as it is."""
    any_of = all_of = 0.0
    for outcome in product((0.0, 1.0), repeat=n):
        successes = int(sum(outcome))
        likely = float(chance**successes * (1 - chance) ** (n - successes))
        any_of += likely * pass_at_k([outcome], k)
        all_of += likely * pass_hat_k([outcome], k)
    assert any_of == pytest.approx(float(1 - (1 - chance) ** k), abs=1e-12)
    assert all_of == pytest.approx(float(chance**k), abs=1e-12)


@pytest.mark.parametrize(("n", "k"), CASES)
def test_they_count_the_ways_to_draw_k_attempts(n: int, k: int) -> None:
    for successes in range(n + 1):
        outcome = [1.0] * successes + [0.0] * (n - successes)
        drawn = list(combinations(outcome, k))
        assert pass_at_k([outcome], k) == pytest.approx(sum(map(max, drawn)) / comb(n, k), abs=1e-12)
        assert pass_hat_k([outcome], k) == pytest.approx(sum(map(min, drawn)) / comb(n, k), abs=1e-12)


def test_powers_of_the_success_rate_would_be_biased() -> None:
    """Seven of ten: 0.343 is what a cube says of pass^3, 0.292 what there is."""
    outcome = [[1.0] * 7 + [0.0] * 3]
    assert pass_hat_k(outcome, 3) == pytest.approx(comb(7, 3) / comb(10, 3))
    assert pass_at_k(outcome, 3) == pytest.approx(1 - comb(3, 3) / comb(10, 3))


def test_a_fault_makes_an_attempt_fewer_and_not_a_failure() -> None:
    """Variants then differ in how many attempts they had."""
    success = [[1.0, 1.0, 0.0, NAN], [1.0, 0.0, NAN, NAN]]
    assert pass_hat_k(success, 2) == pytest.approx((1 / 3 + 0.0) / 2)
    assert pass_at_k(success, 2) == pytest.approx((1.0 + 1.0) / 2)


@UNHURRIED
@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=5, max_size=5), min_size=1, max_size=6))
def test_more_attempts_help_any_and_hinder_all(success: list[list[float]]) -> None:
    any_of = [pass_at_k(success, k) for k in range(1, 6)]
    all_of = [pass_hat_k(success, k) for k in range(1, 6)]
    assert (np.diff(any_of) >= -1e-12).all()
    assert (np.diff(all_of) <= 1e-12).all()
    assert any_of[0] == pytest.approx(np.mean(success)) == pytest.approx(all_of[0])
