"""What cannot be computed is refused at the door, with what to do next."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from rolf import statistics as st

NAN = float("nan")
TABLE = [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
STATISTICS: dict[str, Callable[[Any], Any]] = {
    "mean": st.mean,
    "median": st.median,
    "iqm": st.iqm,
    "optimality_gap": st.optimality_gap,
    "pass_at_k": partial(st.pass_at_k, k=1),
    "pass_hat_k": partial(st.pass_hat_k, k=1),
    "profile": partial(st.performance_profile, thresholds=[0.5]),
    "profile_band": partial(st.profile_band, thresholds=[0.5]),
    "interval": partial(st.interval, st.mean),
    "improvement": lambda scores: st.probability_of_improvement(scores, TABLE),
    "paired": lambda scores: st.paired_difference(TABLE, scores),
    "correlation": st.intraclass_correlation,
}


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([], r"the shape \(0,\); give \(variants, attempts\)"),
        ([[]], r"the shape \(1, 0\)"),
        ([0.0, 1.0, 1.0], r"the shape \(3,\).*scores\[:, None\]"),
        ([[[0.0]]], r"the shape \(1, 1, 1\)"),
        ([[0.0], ["x"], [1.0]], "no table of numbers"),
        ([[0.0, 1.0], [1.0], [0.0]], "no table of numbers"),
        ([[0.0], [float("inf")], [1.0]], "of variants 1 are infinite"),
        ([[0.0, 1.0], [NAN, NAN], [NAN, NAN]], r"at variants 1, 2 there are none that counts; .*observed\(scores, 1\)"),
    ],
)
def test_every_statistic_refuses_what_is_no_table_of_scores(name: str, scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        STATISTICS[name](scores)


@pytest.mark.parametrize("statistic", [st.pass_at_k, st.pass_hat_k])
@pytest.mark.parametrize(
    ("success", "k", "message"),
    [
        (TABLE, 3, "k = 3, of 2 attempts; give a whole number from 1 to that"),
        (TABLE, 0, "k = 0, of 2"),
        (TABLE, True, "k = True, of 2"),
        (TABLE, 1.5, "k = 1.5, of 2"),
        ([[0.0, 0.5]], 1, "successes hold np.float64.0.5.; give 0 or 1"),
        ([[1.0, 1.0], [NAN, 1.0]], 2, r"at variants 1 there are fewer than 2 that count; .*observed\(scores, 2\)"),
    ],
)
def test_chances_refuse_what_they_are_not_of(statistic: Any, success: Any, k: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        statistic(success, k)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusters": ["a", "b"]}, r"clusters have the shape \(2,\); give one label a variant, \(3,\)"),
        ({"clusters": [0.0, NAN, 1.0]}, "clusters hold NaN"),
        ({"method": "bayes"}, "method 'bayes' is not known; allowed are cluster, two-level, stratified"),
        ({"level": 95}, "level = 95; give a number between 0 and 1"),
        ({"level": NAN}, "level = nan"),
        ({"resamples": 10}, "resamples = 10; give a whole number from 100"),
        ({"seed": -1}, "seed = -1; give a whole number from 0"),
        ({"bounds": (0.0, 0.5)}, r"bounds = \(0.0, 0.5\), but scores lie in \[0, 1\]"),
        ({"bounds": (1.0, 0.0)}, r"bounds = \(1.0, 0.0\)"),
    ],
)
def test_an_interval_refuses_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        st.interval(st.mean, TABLE, **options)


def test_two_policies_must_have_played_the_same_variants() -> None:
    with pytest.raises(ValueError, match="a has 3 variants and b 2; compare policies on the same"):
        st.paired_difference(TABLE, TABLE[:2])


@pytest.mark.parametrize("thresholds", [[], [[0.1]], [NAN], ["x"]])
def test_a_profile_refuses_thresholds_that_are_none(thresholds: Any) -> None:
    with pytest.raises(ValueError, match=r"thresholds .*numpy.linspace|could not convert"):
        st.performance_profile(TABLE, thresholds)


def test_a_fixed_argument_without_its_name_is_refused() -> None:
    """partial(pass_at_k, TABLE) would take scores for k."""
    with pytest.raises(ValueError, match="fixes arguments by place"):
        st.interval(partial(st.optimality_gap, np.array(TABLE)), TABLE)


def test_observed_says_which_variants_have_enough_attempts() -> None:
    scores = [[NAN, NAN], [1.0, NAN], [0.0, 1.0]]
    assert st.observed(scores).tolist() == [False, True, True]
    assert st.observed(scores, 2).tolist() == [False, False, True]
    with pytest.raises(ValueError, match="no variant has 3 attempts that count"):
        st.observed(scores, 3)
