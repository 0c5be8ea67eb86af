"""Write ``rliable.json`` anew: what rliable 1.2.0 computes from fixed scores.

    python -m venv reference && reference/bin/pip install rliable==1.2.0 'pandas<3'
    reference/bin/python tests/rolf/statistics/make_references.py

rliable was archived in 2025, takes half a gigabyte and cannot be imported with pandas 3, so it is no dependency: its
numbers are. Scores are stored with them, for a generator's numbers may differ from version to version.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rliable import library, metrics

FILE = Path(__file__).with_name("rliable.json")
THRESHOLDS = [-0.5, 0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5]
GAMMAS = [0.5, 1.0]
REPETITIONS = 2000


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return scores of two policies, runs by tasks as rliable wants them; runs need not be as many."""
    draw = np.random.default_rng(20_261_130)
    return {
        "uniform": (draw.random((10, 20)), draw.random((10, 20))),
        "normal, other number of runs": (draw.normal(0.5, 0.4, (7, 13)), draw.normal(0.4, 0.4, (5, 13))),
        "successes": (
            draw.integers(0, 2, (5, 40)).astype(float),
            (draw.random((5, 40)) < 0.3).astype(float),
        ),
        "ties": (draw.integers(0, 4, (6, 11)) / 4.0, draw.integers(0, 4, (6, 11)) / 4.0),
        "long tail": (np.exp(draw.normal(-1, 1, (3, 9))), np.exp(draw.normal(-1, 1, (3, 9)))),
        "one run": (draw.random((1, 7)), draw.random((1, 7))),
        "one task": (draw.random((9, 1)), draw.random((9, 1))),
        "equal": (np.full((4, 5), 0.5), np.full((4, 5), 0.5)),
    }


def reference(a: np.ndarray, b: np.ndarray) -> dict[str, Any]:
    """Return all that is compared."""
    return {
        "a": a.tolist(),
        "b": b.tolist(),
        "mean": metrics.aggregate_mean(a),
        "median": metrics.aggregate_median(a),
        "iqm": metrics.aggregate_iqm(a),
        "optimality_gap": [metrics.aggregate_optimality_gap(a, gamma) for gamma in GAMMAS],
        "profile": library.score_distributions(a, THRESHOLDS).tolist(),
        "probability_of_improvement": metrics.probability_of_improvement(a, b),
    }


def stratified(a: np.ndarray) -> list[float]:
    """Return rliable's interval for the interquartile mean; its random numbers are not ours."""
    np.random.seed(0)
    _, found = library.get_interval_estimates(
        {"a": a}, lambda scores: np.array([metrics.aggregate_iqm(scores)]), reps=REPETITIONS
    )
    return found["a"].ravel().tolist()


def main() -> None:
    """Write the file."""
    cases = {name: reference(*pair) for name, pair in tables().items()}
    wide = np.random.default_rng(7).beta(1.0, 1.5, (10, 100))
    contents = {
        "made_with": {name: version(name) for name in ("rliable", "arch", "numpy", "scipy")},
        "thresholds": THRESHOLDS,
        "gammas": GAMMAS,
        "cases": cases,
        "stratified": {"scores": wide.round(6).tolist(), "repetitions": REPETITIONS, "iqm": stratified(wide.round(6))},
    }
    FILE.write_text(json.dumps(contents, separators=(",", ":")).replace('"cases":', '\n"cases":') + "\n")


if __name__ == "__main__":
    main()
