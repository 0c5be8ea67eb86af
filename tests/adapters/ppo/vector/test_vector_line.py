"""The line is learned: what the example trains beats the expert on lines that neither has ever seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from linegym.policies import Lineup, policy
from linegym.scores import score
from linegym.splits import named
from linegym.variants import Variant
from rolf.statistics import paired_difference
from rolf_adapters.ppo.config import read
from rolf_adapters.ppo.vector.learner import build
from rolf_adapters.ppo.vector.settings import Settings

CONFIG = Path(__file__).parents[4] / "examples/training/train_line.yaml"
LINES = 300


def learned(changes: tuple[str, ...], variants: tuple[Variant, ...]) -> list[float]:
    """Return the scores of what the example trains with these changes, one a line."""
    config = read(CONFIG, changes)
    assert isinstance(config, Settings)
    learner = build(config, seed=0)
    for iteration in range(config.training.iterations):
        learner.iterate(iteration)
    totals = learner.play([each.id for each in variants], range(len(variants)), {"evaluation": True})
    learner.close()
    return [score(each, total) for each, total in zip(variants, totals, strict=True)]


def expert(variants: tuple[Variant, ...]) -> list[float]:
    """Return the scores of the expert in the same episodes."""
    count = len(variants)
    envs: Any = gym.make_vec("linegym:LineEnv-v1", num_envs=count, variants=variants, evaluation=True)
    seen, infos = envs.reset(seed=[*range(count)])
    cusum, totals = policy("cusum"), np.zeros(count)
    cusum.begin(Lineup.of(variants, np.arange(count, dtype=np.uint64)))
    over = np.zeros(count, np.bool_)
    while not over.all():
        seen, rewards, _, over, infos = envs.step(cusum.act(seen, infos["action_mask"] == 1, infos))
        totals += rewards
    envs.close()
    return [score(each, total) for each, total in zip(variants, totals.tolist(), strict=True)]


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_what_the_example_trains_beats_the_expert() -> None:
    """Half an hour of a processor; by how much is told in docs/how-to/train-on-production-lines.md."""
    variants = named("iid")[:LINES]
    ours, theirs = learned((), variants), expert(variants)
    gain = paired_difference(np.array(ours)[:, None], np.array(theirs)[:, None])
    assert gain.low is not None
    assert gain.low > 0, str(gain)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_imitation_alone_comes_near_the_expert_in_minutes() -> None:
    variants = named("iid")[:LINES]
    changes = ("training.iterations=20", "training.imitation.iterations=20")
    assert np.mean(learned(changes, variants)) > np.mean(expert(variants)) - 0.05
