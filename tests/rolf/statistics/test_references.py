"""Values equal those of rliable 1.2.0, the published standard of these figures (``make_references.py``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolf import statistics

STORED = json.loads(Path(__file__).with_name("rliable.json").read_text())
EXACT = {"rel": 1e-12, "abs": 1e-12}
"""Sums in another order differ in the last bits, and in nothing else."""


def ours(scores: list[list[float]]) -> np.ndarray:
    """Return rliable's runs by tasks as variants by attempts."""
    return np.array(scores).T


@pytest.fixture(params=sorted(STORED["cases"]))
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(STORED["cases"][request.param])


@pytest.mark.parametrize("name", ["mean", "median", "iqm"])
def test_aggregates_are_those_of_rliable(case: dict[str, Any], name: str) -> None:
    assert getattr(statistics, name)(ours(case["a"])) == pytest.approx(case[name], **EXACT)


def test_optimality_gap_is_that_of_rliable(case: dict[str, Any]) -> None:
    found = [statistics.optimality_gap(ours(case["a"]), threshold) for threshold in STORED["gammas"]]
    assert found == pytest.approx(case["optimality_gap"], **EXACT)


def test_profile_is_that_of_rliable(case: dict[str, Any]) -> None:
    """Above and not at a threshold: the tables with ties have scores that are exactly one."""
    found = statistics.performance_profile(ours(case["a"]), STORED["thresholds"])
    assert found.tolist() == pytest.approx(case["profile"], **EXACT)


def test_probability_of_improvement_is_that_of_rliable(case: dict[str, Any]) -> None:
    found = statistics.probability_of_improvement(ours(case["a"]), ours(case["b"]))
    assert found == pytest.approx(case["probability_of_improvement"], **EXACT)


def test_stratified_interval_is_that_of_rliable() -> None:
    """Random numbers differ, so the ends agree to what 2000 resamples leave open."""
    stored = STORED["stratified"]
    found = statistics.interval(statistics.iqm, ours(stored["scores"]), method="stratified", resamples=10_000)
    assert (found.low, found.high) == pytest.approx(stored["iqm"], abs=0.0015)
