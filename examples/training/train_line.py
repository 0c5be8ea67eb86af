"""Teach a network to keep production lines running, and score it on lines that it has never seen.

It imitates a policy that is told every fault, which it is not, and goes on by PPO. Prints its mean score on
``line-v1/iid``: 0 is acting at random, 1 knowing every fault. The defaults take some minutes.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from linegym.scores import score
from linegym.variants import split
from rolf_adapters.ppo import checkpoint
from rolf_adapters.ppo.config import Config, read
from rolf_adapters.ppo.train import News, train
from rolf_adapters.ppo.vector.learner import VectorLearner, build
from rolf_adapters.ppo.vector.settings import Settings


def told(news: News) -> None:
    shown = {name: round(news.values[name], 3) for name in ("rollout/return", "policy/kl") if name in news.values}
    print(f"{news.done} of {news.iterations}", shown, news.message)


def learned(config: Config, run: Path) -> VectorLearner:
    assert isinstance(config, Settings)
    learner = build(config, seed=0)
    found, _ = checkpoint.Checkpoints(run / "checkpoints").newest()
    assert found is not None
    learner.load(found.state)
    return learner


def main(changes: tuple[str, ...], lines: int) -> float:
    config = read(Path(__file__).with_suffix(".yaml"), changes)
    variants = split("iid")[:lines]
    with tempfile.TemporaryDirectory() as folder:
        train(config, Path(folder) / "run", report=told)
        learner = learned(config, Path(folder) / "run")
        totals = learner.play([each.id for each in variants], range(lines), {"evaluation": True})
        learner.close()
    return sum(score(each, total) for each, total in zip(variants, totals, strict=True)) / lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("change", nargs="*", help="in the configuration: training.iterations=2")
    parser.add_argument("--lines", type=int, default=200, help="to be scored on")
    given = parser.parse_args()
    print(main(tuple(given.change), given.lines))
