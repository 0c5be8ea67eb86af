"""How a training is held back and paced, by hand."""

from __future__ import annotations

import math

import pytest

from rolf_adapters.ppo.control import adapted, learning_rate, too_far


def test_the_penalty_follows_the_divergence() -> None:
    """On target it stays; 10 % above it grows by a tenth of that; far off it moves by a tenth of a fifth at most."""
    assert adapted(1.0, 0.01, 0.01) == 1.0
    assert adapted(1.0, 0.011, 0.01) == pytest.approx(1.01)
    assert adapted(1.0, 5.0, 0.01) == pytest.approx(1.02)
    assert adapted(1.0, 0.0, 0.01) == pytest.approx(0.98)
    assert adapted(1.0, math.inf, 0.01, rate=1.0) == pytest.approx(1.2)


def test_the_penalty_stays_in_its_bounds() -> None:
    assert adapted(100.0, 1.0, 0.01) == 100.0
    assert adapted(1e-6, 0.0, 0.01) == 1e-6


def test_a_penalty_needs_numbers() -> None:
    with pytest.raises(ValueError, match="the divergence is no number"):
        adapted(1.0, math.nan, 0.01)
    with pytest.raises(ValueError, match="target=0 must be above 0"):
        adapted(1.0, 0.1, 0)


def test_a_controlled_policy_comes_to_its_target() -> None:
    """Where the divergence is 0.1 over the weight, the weight settles at 10 for a target of 0.01."""
    weight = 1.0
    for _ in range(400):
        weight = adapted(weight, 0.1 / weight, 0.01)
    assert weight == pytest.approx(10, rel=1e-3)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [2, 4, 4, 4, 4, 4, 4, 4]),
        ("linear", [2, 4, 4, 3, 2, 1, 0, 0]),
        ("cosine", [2, 4, 4, 2 + 2 * math.cos(math.pi / 4), 2, 2 - 2 * math.cos(math.pi / 4), 0, 0]),
    ],
)
def test_the_learning_rate_by_hand(schedule: str, expected: list[float]) -> None:
    """Two iterations up to 4, four down; after the end it stays."""
    rates = [
        learning_rate(number, base=4.0, warmup=2, iterations=6, schedule=schedule)  # type: ignore[arg-type]
        for number in range(8)
    ]
    assert rates == pytest.approx(expected)


def test_the_learning_rate_falls_to_its_floor() -> None:
    assert learning_rate(9, base=4.0, warmup=0, iterations=9, schedule="linear", floor=0.25) == 1.0
    assert learning_rate(0, base=4.0, warmup=9, iterations=9, schedule="linear") == pytest.approx(4 / 9)


def test_a_pace_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="schedule='step' is not known; allowed are 'constant', 'linear', 'cosine'"):
        learning_rate(0, base=1.0, warmup=0, iterations=1, schedule="step")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one iteration"):
        learning_rate(0, base=1.0, warmup=0, iterations=0)


def test_epochs_end_where_the_policy_went_too_far() -> None:
    assert [too_far(kl, 0.01) for kl in (0.0, 0.015, 0.0151, math.nan)] == [False, False, True, True]
    assert not too_far(99.0, None)
