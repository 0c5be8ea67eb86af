"""How many of the tasks that it was not trained on a language model does, before and after PPO, kind by kind.

    python benchmarks/language_held_out.py RUN... [--tasks N] [--at ITERATIONS] [--since ITERATIONS] [--json FILE]

RUN is a folder that ``rolf train`` wrote for a training of kind ``language``; several are trainings with other seeds,
which are told one by one and together. The warm start is the first iteration, and ``--since 1`` what it had come to:
what was gained after it was gained by PPO. Answers are greedy; the tasks are those of the training's own evaluation,
the same before and after; intervals of 95 % are over tasks, and each counts once, whatever the number of trainings.
Start it where the training was started, so that a module beside its configuration is found.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from trained import restored

from rolf.statistics import interval, mean, paired_difference
from rolf_adapters.ppo.language.learner import build
from rolf_adapters.ppo.language.report import Row


def played(run: Path, iterations: int | None, count: int) -> list[Row]:
    """Return what becomes of each task after so many iterations."""
    learner = restored(run, iterations, "language", build)
    try:
        return learner.play(learner.problems.held_out(count))
    finally:
        learner.close()


def groups(kinds: Sequence[str]) -> dict[str, list[int]]:
    """Return which tasks are told of together: all, those whose kinds begin alike (``level3-...``), those of each."""
    found: dict[str, list[int]] = {"all": [*range(len(kinds))]}
    for name in (*sorted({kind.partition("-")[0] for kind in kinds}), *sorted(set(kinds))):
        found[name] = [index for index, kind in enumerate(kinds) if kind == name or kind.startswith(f"{name}-")]
    return found


def successes(runs: Sequence[Sequence[Row]]) -> NDArray[np.float64]:
    """Return 1 for success, 0 for failure, NaN where the machine failed, (tasks, trainings)."""
    return np.array([[np.nan if row.success is None else float(row.success) for row in rows] for rows in runs]).T


def told(name: str, old: NDArray[np.float64], new: NDArray[np.float64]) -> dict[str, object]:
    """Return a row of the table: some tasks, and how many of them are done, before and after."""
    return {
        "tasks": name,
        "count": len(new),
        "before": str(interval(mean, old, bounds=(0.0, 1.0))),
        "after": str(interval(mean, new, bounds=(0.0, 1.0))),
        "gained": str(paired_difference(new, old)),
        "won": int((new > old).sum()),
        "lost": int((new < old).sum()),
        "each": [round(float(gain), 4) for gain in np.nanmean(new - old, axis=0)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--at", type=int, help="iterations after which the training is looked at; its end otherwise")
    parser.add_argument("--since", type=int, default=1, help="iterations after which what is gained counts")
    parser.add_argument("--json", type=Path, help="where to write the table as well")
    given = parser.parse_args()
    torch.set_num_threads(1)
    sys.path.insert(0, "")  # as `rolf train` finds a module that lies in the working directory
    before = [played(run, given.since, given.tasks) for run in given.runs]
    after = [played(run, given.at, given.tasks) for run in given.runs]
    kinds = [max(row.family for row in rows) for rows in zip(*before, *after, strict=True)]  # "" where a machine failed
    old, new = successes(before), successes(after)
    rows = [told(name, old[places], new[places]) for name, places in groups(kinds).items()]
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
