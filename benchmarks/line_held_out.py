"""How well trained networks keep lines that they have never seen, beside the CUSUM expert in the same episodes.

    python benchmarks/line_held_out.py RUN... [--splits NAME...] [--lines N] [--episodes N] [--at ITERATIONS]
        [--since ITERATIONS] [--json FILE]

RUN is a folder that ``rolf train examples/training/train_line.yaml`` wrote; several are trainings with other seeds,
which are told one by one and together. ``--since 70`` tells what was gained after the 70th iteration, which is what PPO
adds to the example's warm start. A score is 0 for acting at random and 1 for knowing every fault; intervals of 95 % are
over lines, and each line counts once, whatever the number of its episodes and of the trainings.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from trained import restored

from linegym import policies
from linegym.play import play
from linegym.scores import score
from linegym.splits import named
from linegym.variants import Variant
from rolf.statistics import interval, mean, paired_difference
from rolf_adapters.ppo.vector.learner import VectorLearner, build

SPLITS = ("train", "validation", "iid", "unseen-template", "extrapolation", "sweep", "clean", "combination")
EXPERT = "cusum"


class Lines(NamedTuple):
    """What is played: some lines, each under some seeds."""

    variants: Sequence[Variant]
    episodes: int

    @property
    def rows(self) -> list[Variant]:
        """The line of each episode."""
        return [each for each in self.variants for _ in range(self.episodes)]

    @property
    def seeds(self) -> list[int]:
        """Of each episode: no two lines share one."""
        return [*range(len(self.variants) * self.episodes)]

    def scores(self, returns: Sequence[float]) -> NDArray[np.float64]:
        """Return what episodes with these returns score, (lines, episodes)."""
        found = [score(line, total) for line, total in zip(self.rows, returns, strict=True)]
        return np.array(found).reshape(len(self.variants), self.episodes)


def trained(learner: VectorLearner, lines: Lines) -> NDArray[np.float64]:
    """Return what a network scores, (lines, episodes)."""
    names = [each.id for each in lines.rows]
    return lines.scores(learner.play(names, lines.seeds, {"evaluation": True}))


def expert(lines: Lines) -> NDArray[np.float64]:
    """Return what the expert scores, (lines, episodes)."""
    return lines.scores(play(policies.policy(EXPERT), lines.rows, lines.seeds).returns.tolist())


def measured(
    learners: Sequence[VectorLearner], earlier: Sequence[VectorLearner], split: str, given: argparse.Namespace
) -> dict[str, object]:
    """Return a row of the table: a split, and how well each does there."""
    lines = Lines(named(split)[: given.lines], given.episodes)
    each = [trained(learner, lines) for learner in learners]
    before = [trained(learner, lines) for learner in earlier]
    theirs = expert(lines)
    ours = np.concatenate(each, axis=1)  # all trainings' episodes on a line belong to it
    return {
        "split": split,
        "trained": str(interval(mean, ours)),
        EXPERT: str(interval(mean, theirs)),
        "difference": str(paired_difference(ours, theirs)),
        "each": [round(float(one.mean() - theirs.mean()), 4) for one in each],
        **({"gained": str(paired_difference(ours, np.concatenate(before, axis=1)))} if before else {}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--splits", nargs="+", choices=SPLITS, default=SPLITS, metavar="NAME")
    parser.add_argument("--lines", type=int, default=200, help="of each split at most")
    parser.add_argument("--episodes", type=int, default=2, help="of each line")
    parser.add_argument("--at", type=int, help="iterations after which the training is looked at; its end otherwise")
    parser.add_argument("--since", type=int, help="iterations after which what is gained counts")
    parser.add_argument("--json", type=Path, help="where to write the table as well")
    given = parser.parse_args()
    torch.set_num_threads(1)
    learners = [restored(run, given.at, "vector", build) for run in given.runs]
    earlier = [] if given.since is None else [restored(run, given.since, "vector", build) for run in given.runs]
    rows = []
    for split in given.splits:
        rows.append(measured(learners, earlier, split, given))
        print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")
    for learner in [*learners, *earlier]:
        learner.close()


if __name__ == "__main__":
    main()
