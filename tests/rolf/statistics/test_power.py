"""How many variants it takes."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolf.statistics import minimum_detectable_difference, variants_needed

UNHURRIED = settings(deadline=None, max_examples=60)
"""On a busy machine an example may take long."""


def test_with_many_variants_it_is_the_normal_formula() -> None:
    """(z of 0.975 + z of 0.8) · sd / root n, as in every textbook."""
    normal = NormalDist()
    expected = (normal.inv_cdf(0.975) + normal.inv_cdf(0.8)) * 0.4 / sqrt(5000)
    assert minimum_detectable_difference(0.4, 5000) == pytest.approx(expected, rel=1e-9)


@UNHURRIED
@given(
    sd=st.floats(0.05, 2.0),
    difference=st.floats(0.02, 1.0),
    power=st.sampled_from([0.5, 0.8, 0.9]),
    level=st.sampled_from([0.9, 0.95, 0.99]),
)
def test_so_many_are_enough_and_one_fewer_is_not(sd: float, difference: float, power: float, level: float) -> None:
    count = variants_needed(sd, difference, power=power, level=level)
    assert minimum_detectable_difference(sd, count, power=power, level=level) <= difference
    if count > 2:
        assert minimum_detectable_difference(sd, count - 1, power=power, level=level) > difference


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimum_detectable_difference(-1.0, 10), "sd = -1.0; give a standard deviation, from 0"),
        (lambda: minimum_detectable_difference(float("nan"), 10), "sd = nan"),
        (lambda: minimum_detectable_difference(0.4, 1), "n = 1 variants; a comparison takes at least 2"),
        (lambda: minimum_detectable_difference(0.4, 10, power=0.2), "power = 0.2; give at least 0.5"),
        (lambda: minimum_detectable_difference(0.4, 10, level=1.0), "level = 1.0; give a number between 0 and 1"),
        (lambda: variants_needed(0.4, 0.0), "difference = 0.0; give the one to find, above 0"),
        (lambda: variants_needed(0.4, 1e-6), "takes more than 10000000 variants"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
