"""Measures: the names of all that a training of the language learner tells, sooner or later."""

from __future__ import annotations

from collections.abc import Iterator

from rolf_adapters.ppo.language.settings import Settings
from rolf_adapters.ppo.segment import Segment

EPISODES = ("episodes", "steps", "faults", "fault_share", "timeouts", "too_long", "success", "return", "score",
            "length", "tool_calls", "malformed", "tokens", "chosen", "cut")  # fmt: skip
UPDATE = ("loss", "entropy", "kl", "first_kl", "gradient", "steps", "learning_rate")
EVALUATION = ("success", "success_low", "success_high", "return", "score", "lost")
STALE = ("rollout/dropped", "rollout/staleness", "policy/stale_weight", "policy/stale_truncated")
TIMES = ("collect", "environment", "generation", "update")


def measures(settings: Settings) -> Iterator[str]:
    """Yield the names of what is measured under these settings; which families there are shows as they are played."""
    training = settings.training
    yield from (f"rollout/{name}" for name in EPISODES)
    yield from (f"evaluation/{name}" for name in EVALUATION)
    yield from (f"policy/{name}" for name in UPDATE)
    yield from (f"policy/clipped_{segment.name.lower()}" for segment in Segment)
    yield from ("value/loss", "value/explained", "own/first_gap", "family/*", "rollout/family/*")
    yield from (f"time/{name}" for name in TIMES)
    if settings.rollout.staleness:
        yield from STALE
    if settings.rollout.actors:
        yield "rollout/replayed"
    if training.kl.weight:
        yield from ("policy/reference_kl", "policy/kl_weight")
    if training.warm_start is not None:
        yield from ("own/warm_demonstrations", "own/warm_loss", "own/warm_epochs")
        if training.warm_start.until is not None:
            yield "own/warm_success"
