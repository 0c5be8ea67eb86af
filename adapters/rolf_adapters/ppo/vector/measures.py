"""Measures: the names of all that a training of the vector learner tells, sooner or later."""

from __future__ import annotations

from collections.abc import Iterator

from rolf_adapters.ppo.segment import Segment
from rolf_adapters.ppo.vector.settings import Settings

EPISODES = ("return", "length", "success", "entropy", "episodes", "steps")
UPDATE = ("entropy", "kl", "first_kl", "gradient", "steps", "learning_rate")
REPLAY = ("steps", "age", "weight", "truncated", "covered")
HARD = ("variants", "score", "imitated", "gain", "loss", "held")
TIMES = ("collect", "environment", "update")


def measures(settings: Settings) -> Iterator[str]:
    """Yield the names of what is measured under these settings; those of the variants' groups are the chooser's."""
    training, world = settings.training, settings.environment
    yield from (f"rollout/{name}" for name in EPISODES)
    yield from (f"evaluation/{name}" for name in EPISODES)
    yield from (f"evaluation/{name}_{end}" for name in ("success", "return") for end in ("low", "high"))
    if world.score:
        yield from ("rollout/score", *(f"evaluation/score{end}" for end in ("", "_low", "_high")))
    if world.split or world.variants:
        yield from ("rollout/family/*", "family/*")
    yield from (f"policy/{name}" for name in UPDATE)
    yield from (f"policy/clipped_{segment.name.lower()}" for segment in Segment)
    yield from ("policy/loss", "value/loss", "value/explained", "reward/mean")
    if settings.reward.curiosity:
        yield "reward/curiosity"
    yield from (f"time/{name}" for name in TIMES)
    if training.imitation.iterations:
        yield "own/imitation"
    if training.replay.share:
        yield from (f"replay/{name}" for name in REPLAY)
    if training.distillation.every:
        yield from (f"own/hard_{name}" for name in HARD)
