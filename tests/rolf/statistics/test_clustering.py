"""What variants of one cluster are worth."""

from __future__ import annotations

import numpy as np
import pytest

from rolf.statistics import effective_variants, interval, intraclass_correlation, mean

NAN = float("nan")


def population(correlation: float, clusters: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw variants of which two of one cluster are correlated so much."""
    draw = np.random.default_rng(seed)
    shared = np.repeat(draw.normal(0.0, np.sqrt(correlation), clusters), size)
    scores = shared + draw.normal(0.0, np.sqrt(1.0 - correlation), clusters * size)
    return scores[:, None], np.repeat(np.arange(clusters), size)


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.5, 1.0])
def test_the_correlation_is_that_of_the_population(correlation: float) -> None:
    found = [intraclass_correlation(*population(correlation, 60, 5, seed)) for seed in range(60)]
    assert np.mean(found) == pytest.approx(correlation, abs=0.02)


def test_a_correlation_worked_by_hand() -> None:
    """Groups 1 2, 3 4, 8 9: mean squares 26 between and 0.5 within, so 25.5 / 26.5."""
    scores = np.array([[1.0], [2.0], [3.0], [4.0], [8.0], [9.0]])
    assert intraclass_correlation(scores, ["a", "a", "b", "b", "c", "c"]) == pytest.approx(25.5 / 26.5)


def test_without_clusters_it_is_that_of_attempts() -> None:
    assert intraclass_correlation([[1.0, 1.0, NAN], [0.0, 0.0, 0.0]]) == 1.0
    assert intraclass_correlation([[1.0, 0.0], [0.0, 1.0]]) < 0.0
    assert intraclass_correlation([[0.5, 0.5], [0.5, 0.5]]) == 0.0


def test_the_design_effect_is_what_the_interval_widens_by() -> None:
    """The variance by clusters over the variance of as many unrelated variants, the root of which is the width."""
    scores, owner = population(0.4, 150, 6, 1)
    found = effective_variants(scores, owner)
    assert found.design_effect == pytest.approx(1 + 5 * found.correlation)
    assert found.variants == pytest.approx(900 / found.design_effect)
    clustered, alone = interval(mean, scores, owner), interval(mean, scores)
    widened = (clustered.high - clustered.low) / (alone.high - alone.low)
    assert widened**2 == pytest.approx(found.design_effect, rel=0.15)


def test_chance_does_not_make_variants_worth_more_than_they_are() -> None:
    """A correlation below 0 comes about by chance."""
    found = effective_variants([[0.0], [1.0], [1.0], [0.0]], ["a", "a", "b", "b"])
    assert found.correlation < 0.0
    assert (found.design_effect, found.variants) == (1.0, 4.0)


@pytest.mark.parametrize("labels", [["a", "a", "a"], ["a", "b", "c"]])
def test_groups_that_tell_nothing_are_refused(labels: list[str]) -> None:
    with pytest.raises(ValueError, match="a correlation takes two groups, one of them with two members"):
        intraclass_correlation([[0.0], [1.0], [0.5]], labels)
