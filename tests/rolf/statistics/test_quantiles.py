"""Student's t, which neither NumPy nor the standard library has, against mpmath's incomplete beta function."""

from __future__ import annotations

import mpmath
import pytest

from rolf.statistics.quantiles import MANY, student


def below(value: float, freedom: int) -> float:
    """Return the probability below a value of 0 or more."""
    tail = mpmath.betainc(freedom / 2.0, 0.5, 0, freedom / (freedom + value**2), regularized=True) / 2
    return float(1 - tail)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 10, 29, 30, 99, 500, MANY - 1])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.8, 0.9, 0.975, 0.995, 0.9999])
def test_a_quantile_has_its_probability_below(probability: float, freedom: int) -> None:
    assert below(student(probability, freedom), freedom) == pytest.approx(probability, abs=1e-10)
    assert student(1.0 - probability, freedom) == pytest.approx(-student(probability, freedom), rel=1e-6, abs=1e-9)


def test_quantiles_are_those_of_the_tables() -> None:
    """Two-sided 95 %: 12.706, 2.228 and 2.042 with 1, 10 and 30 degrees of freedom."""
    assert [round(student(0.975, freedom), 3) for freedom in (1, 10, 30)] == [12.706, 2.228, 2.042]


def test_the_normal_takes_over_without_a_step() -> None:
    assert student(0.975, MANY) == pytest.approx(student(0.975, MANY - 1), abs=0.003)
