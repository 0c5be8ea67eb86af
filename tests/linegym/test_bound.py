"""The numbers that the documentation tells about the bound are computed, not copied."""

from __future__ import annotations

import pytest

from linegym.bound import candidates_covered, precision, quoted, variants_needed
from linegym.splits import named


def test_the_quoted_bound_gives_another_number_than_quoted() -> None:
    """The mission's 6 892 is off by a factor of 31; whoever repeats the claim should meet this test."""
    assert quoted(42, 0.03, 0.01) == 214_908


def test_the_training_set_covers_as_many_candidates_as_the_documentation_says() -> None:
    """The claim that replaces it, at both sides of its edge."""
    variants = len(named("train"))
    assert candidates_covered(variants, 0.03, 0.01) == 1482
    assert variants_needed(0.03, 0.01, 1482) <= variants < variants_needed(0.03, 0.01, 1483)


def test_the_held_out_set_tells_one_policy_precisely() -> None:
    """Two-sided Hoeffding for one policy needs 2 944; there are 3 245."""
    assert variants_needed(0.03, 0.01) == 2944
    assert precision(len(named("held-out")), 0.01) == pytest.approx(0.0286, abs=5e-5)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0.01), (0.03, 1), (-0.03, 0.01), (float("nan"), 0.01)])
def test_probabilities_out_of_range_are_refused(epsilon: float, delta: float) -> None:
    """A bound for δ = 0 would need infinitely many variants; the error says which number is meant."""
    with pytest.raises(ValueError, match="expected a number between 0 and 1"):
        variants_needed(epsilon, delta)
