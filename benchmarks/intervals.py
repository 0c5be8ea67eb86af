"""Time the bootstrap interval of the interquartile mean beside rliable's, and print the ratio.

    python benchmarks/intervals.py [--rliable PYTHON] [--json FILE]

Both resample 10 runs of 100 tasks 2000 times within each task, as rliable does, and take turns round by round; each
figure is a median of seconds of processor time. rliable is archived and takes half a gigabyte, so it is no dependency:
``--rliable`` is an interpreter that has it, and where there is none the line says how to make one. What is ours over
new variants, and of a large split, is shown beside it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np

from rolf.statistics import interval, iqm

RUNS, TASKS, RESAMPLES = 10, 100, 2000
LARGE = (1245, 5)
"""Variants and attempts of the largest set that is held out."""
ROUNDS = 5
INSTALL = "python -m venv reference && reference/bin/pip install rliable==1.2.0 'pandas<3'"
THEIRS = """
import json, sys, time
import numpy as np
from rliable import library, metrics
scores = np.array(json.load(sys.stdin))
estimate = lambda each: np.array([metrics.aggregate_iqm(each)])
library.get_interval_estimates({"a": scores}, estimate, reps=10)
started = time.process_time()
found = library.get_interval_estimates({"a": scores}, estimate, reps=RESAMPLES)[1]["a"]
print(json.dumps([time.process_time() - started, *found.ravel().tolist()]))
"""


def timed(scores: np.ndarray, method: str) -> tuple[float, float, float]:
    """Return seconds of processor time and both ends."""
    started = process_time()
    found = interval(iqm, scores, method=method, resamples=RESAMPLES)
    taken = process_time() - started
    assert found.low is not None
    assert found.high is not None
    return taken, found.low, found.high


def reference(python: str, scores: np.ndarray) -> tuple[float, float, float]:
    """Return rliable's seconds and ends."""
    code = THEIRS.replace("RESAMPLES", str(RESAMPLES))
    done = subprocess.run([python, "-c", code], input=json.dumps(scores.T.tolist()), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{python} cannot run rliable; make an interpreter that can:\n{INSTALL}\n{done.stderr}")
    seconds, low, high = json.loads(done.stdout)
    return seconds, low, high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rliable", metavar="PYTHON", help="interpreter that has rliable 1.2.0")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures there as well")
    options = parser.parse_args()
    draw = np.random.default_rng(0)
    scores, large = draw.beta(1.0, 1.5, (TASKS, RUNS)), draw.beta(1.0, 1.5, LARGE)
    timed(scores, "stratified")
    rounds: dict[str, list[tuple[float, float, float]]] = {}
    for _ in range(ROUNDS):
        rounds.setdefault("stratified", []).append(timed(scores, "stratified"))
        rounds.setdefault("cluster", []).append(timed(scores, "cluster"))
        rounds.setdefault("cluster, 1245 variants", []).append(timed(large, "cluster"))
        if options.rliable:
            rounds.setdefault("rliable", []).append(reference(options.rliable, scores))
    figures = {name: (statistics.median(one[0] for one in turns), *turns[0][1:]) for name, turns in rounds.items()}
    for name, (seconds, low, high) in figures.items():
        print(f"{name:24} {seconds:7.3f} s  [{low:.4f}, {high:.4f}]")
    if options.rliable:
        print(f"rliable takes {figures['rliable'][0] / figures['stratified'][0]:.1f} times as long (stratified)")
    else:
        print(f"rliable: not measured; give --rliable reference/bin/python, made by\n{INSTALL}", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps({name: list(figure) for name, figure in figures.items()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
