"""One iteration of a learner that comes along, from its share of the same episodes; run by torchrun in each process.

The episodes are collected before the processes know of each other, so that all have the same ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import torch
from file_tasks import tiny
from together import hand_over

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.language import settings as language
from rolf_adapters.ppo.language.collector import Collected
from rolf_adapters.ppo.language.learner import LanguageLearner
from rolf_adapters.ppo.vector import settings as vector
from rolf_adapters.ppo.vector.learner import VectorLearner

ROWS = ("last", "after")
"""What is told once a row, and not once a step."""


def updated(kind: str) -> dict[str, Any]:
    """Return the parameters before and after an iteration, and what it measured."""
    torch.set_num_threads(1)
    learner, collected, shared_out = {"vector": of_rows, "language": of_words}[kind]()
    try:
        before = parameters(learner)
        with parallel.started():
            shared_out(collected)
            told = learner.iterate(0)
            size, rank = parallel.size(), parallel.rank()
        after = parameters(learner)
    finally:
        learner.close()
    told = {name: value for name, value in told.items() if not name.startswith("time/")}
    return {"size": size, "rank": rank, "before": before, "after": after, "told": told}


def parameters(learner: Any) -> dict[str, Any]:
    """Return what learns, by name."""
    tensors = learner.state().tensors.items()
    return {name: each.tolist() for name, each in tensors if name.startswith(("network/", "policy/"))}


def of_rows() -> tuple[Any, Any, Callable[[Any], None]]:
    """Return a learner for many rows, its steps, and what gives it every ``size()``-th row of them."""
    settings = vector.Settings(
        environment=vector.Environment(id="CartPole-v1"),
        rollout=vector.Rollout(rows=6, steps=32, statistics=64),
        training=vector.Training(iterations=1, epochs=2, minibatches=1, warmup=0, target_kl=100.0),
    )
    learner: Any = VectorLearner(settings, 0)
    learner.experience.take_statistics()

    def shared_out(kept: Any) -> None:
        mine = slice(parallel.rank(), None, parallel.size())
        arrays = {
            each.name: getattr(kept, each.name) for each in fields(kept) if each.name not in ("episodes", "seconds")
        }
        parts = {name: each[mine] if name in ROWS else each[:, mine] for name, each in arrays.items()}
        mine_too = [each for each in kept.episodes if each.row % parallel.size() == parallel.rank()]
        learner.experience.collected = lambda *_: replace(kept, episodes=mine_too, **parts)

    return learner, learner.experience.collected(0, [], False, None), shared_out


def of_words() -> tuple[Any, Any, Callable[[Any], None]]:
    """Return a language model, its episodes, and what gives it every ``size()``-th of them."""
    settings = language.Settings(
        environment=language.Environment(id="file_tasks:FileTasks-v0"),
        rollout=language.Rollout(
            episodes=7, environments=2, turns=2, tokens=10, window=256, speech=language.Speech(system="")
        ),
        reward=language.Reward(limit_ends=True, per_turn=-0.02),
        policy=language.Policy(model="file_tasks:tiny", layers=1),
        training=language.Training(
            iterations=1, learning_rate=0.1, critic_rate=0.1, warmup=0, most_kl=100.0, kl=language.KlControl(weight=0.1)
        ),
    )
    learner: Any = LanguageLearner(settings, *tiny(seed=0), seed=0)
    # The step of AdamW is as long for a gradient that is nothing but rounding as for any other.
    learner._optimiser = torch.optim.SGD(learner._optimiser.param_groups, lr=0.1)

    def shared_out(collected: Collected) -> None:
        mine = collected.episodes[parallel.rank() :: parallel.size()]
        learner.collect = lambda _: replace(collected, episodes=mine)

    return learner, learner.collect(0), shared_out


if __name__ == "__main__":
    found = updated(sys.argv[2])
    hand_over(found["rank"], found)
    parallel.leave()
