"""Leave out or exchange one part of the line's training at a time, and print what that changes, with intervals.

    python benchmarks/ablations.py [--seeds N] [--rows N] [--warm N] [--iterations N] [--lines N] [ARM ...]

For each seed a network imitates as in ``examples/training/train_line.yaml``; from what it then is, every arm goes on
with as many iterations of PPO of its own kind, and is scored on held-out lines (``line-v1/iid``, in episodes that are
the same for all). Differences are of arms of the same seed; their intervals are Student's over seeds, which are what
another training would be a new draw of. The plain arm is PPO with one clip range on variants drawn evenly, without
replay; all else, twins and waits among it, is the example's.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import process_time

import torch

from linegym.scores import score
from linegym.splits import named
from rolf.statistics.quantiles import student
from rolf_adapters.ppo.config import read
from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.vector.learner import VectorLearner, build
from rolf_adapters.ppo.vector.settings import Settings

CONFIG = Path(__file__).parents[1] / "examples/training/train_line.yaml"
PLAIN = ("training.clips=0.2", "training.normalise=global", "training.schedule=constant")
SEGMENTED = ("training.clips=[0.15, 0.08, 0.25, 0.12]", "training.schedule=constant")
REPLAY = (*PLAIN, "training.replay.share=0.25")
ARMS: Mapping[str, tuple[str, ...]] = {
    "plain": PLAIN,
    "segmented": (*SEGMENTED, "training.normalise=segment"),
    "segmented clips": (*SEGMENTED, "training.normalise=global"),
    "orchestrator": (*PLAIN, "rollout.sampler=ucb"),
    "replay, causal": (*REPLAY, "training.replay.sampler=causal"),
    "replay, fifo": (*REPLAY, "training.replay.sampler=fifo"),
}
"""Changes of the example's configuration."""
PAIRS = (
    ("segmented", "plain"),
    ("segmented clips", "plain"),
    ("orchestrator", "plain"),
    ("replay, causal", "replay, fifo"),
    ("replay, causal", "plain"),
)
"""What is compared with what."""


def settings(given: argparse.Namespace, changes: tuple[str, ...]) -> Settings:
    """Return the example's settings for so many rows and iterations, with changes."""
    sizes = (
        f"rollout.rows={given.rows}",
        f"training.imitation.iterations={given.warm}",
        f"training.iterations={given.warm + given.iterations}",
    )
    found = read(CONFIG, (*sizes, *changes))
    assert isinstance(found, Settings)
    return found


def begun(learner: VectorLearner, warm: State) -> None:
    """Put what has imitated into a learner that may keep more beside its network."""
    own = learner.state()
    scale = {"reward_scale": warm.values["reward_scale"]}
    learner.load(State({**own.tensors, **warm.tensors}, {**own.values, **scale}))


def scored(learner: VectorLearner, lines: int) -> float:
    """Return the mean score on held-out lines."""
    variants = named("iid")[:lines]
    totals = learner.play([each.id for each in variants], range(len(variants)), {"evaluation": True})
    return statistics.fmean(score(each, total) for each, total in zip(variants, totals, strict=True))


def arm(config: Settings, seed: int, warm: State, given: argparse.Namespace) -> dict[str, float]:
    """Go on with an arm; return its score, and the processor time that it took."""
    learner, began = build(config, seed=seed), process_time()
    with tempfile.TemporaryDirectory() as folder:
        learner.keep_in(Path(folder), 1)
        begun(learner, warm)
        told = [learner.iterate(each) for each in range(given.warm, given.warm + given.iterations)]
        found = {"seconds": process_time() - began, "score": scored(learner, given.lines)}
        learner.close()
    return {**found, "kl": statistics.fmean(each["policy/kl"] for each in told)}


def difference(a: list[float], b: list[float]) -> tuple[float, float]:
    """Return the mean difference, and how far its interval of 95 % reaches to either side."""
    apart = [first - second for first, second in zip(a, b, strict=True)]
    if len(apart) < 2:
        return apart[0], math.inf
    return statistics.fmean(apart), student(0.975, len(apart) - 1) * statistics.stdev(apart) / math.sqrt(len(apart))


def told(found: Mapping[str, list[dict[str, float]]]) -> None:
    """Print scores and differences."""
    for name, runs in found.items():
        scores = [each["score"] for each in runs]
        seconds = statistics.fmean(each["seconds"] for each in runs)
        print(f"{name:<18}{statistics.fmean(scores):7.3f}  {seconds:5.0f} CPU s", *(f"{each:.3f}" for each in scores))
    for first, second in PAIRS:
        if first in found and second in found:
            a, b = ([each["score"] for each in found[name]] for name in (first, second))
            middle, reach = difference(a, b)
            print(f"{first} less {second}: {middle:+.4f} [{middle - reach:+.4f}, {middle + reach:+.4f}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arms", nargs="*", metavar="ARM", help=f"{', '.join(ARMS)}; none given: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="seed; those after it are the others")
    parser.add_argument("--rows", type=int, default=64, help="of an iteration")
    parser.add_argument("--warm", type=int, default=30, help="iterations that imitate")
    parser.add_argument("--iterations", type=int, default=20, help="of PPO")
    parser.add_argument("--lines", type=int, default=500, help="to be scored on")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    unknown = [name for name in given.arms if name not in ARMS]
    if unknown:
        parser.error(f"no arm is named {unknown[0]!r}; they are {', '.join(ARMS)}")
    torch.set_num_threads(1)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ("warm start", *(given.arms or ARMS))}
    for seed in range(given.first, given.first + given.seeds):
        began = process_time()
        learner = build(settings(given, ()), seed=seed)
        for iteration in range(given.warm):
            learner.iterate(iteration)
        seconds = process_time() - began
        found["warm start"].append({"seconds": seconds, "score": scored(learner, given.lines), "kl": 0.0})
        warm = learner.state()
        learner.close()
        for name in given.arms or ARMS:
            config = settings(given, ARMS[name])
            found[name].append(arm(config, seed, warm, given))
            print(f"seed {seed}, {name}: {found[name][-1]['score']:.3f}", flush=True)
            if given.json:
                given.json.write_text(json.dumps(found, indent=1) + "\n")
    told(found)


if __name__ == "__main__":
    main()
