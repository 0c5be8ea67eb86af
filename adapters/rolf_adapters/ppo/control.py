"""Control: how far a policy may go in an update, how hard it is held back, and how large its steps are.

All are functions of numbers alone, so that what a resumed training does next is what it would have done.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

Schedule = Literal["constant", "linear", "cosine"]
"""How the learning rate falls after the warm-up."""
REACH = 0.2
"""Largest share by which one measurement counts as off its target; from Ziegler and others (2019)."""


def adapted(
    coefficient: float, kl: float, target: float, *, rate: float = 0.1, least: float = 1e-6, most: float = 100.0
) -> float:
    """Return the weight of the penalty on divergence, adapted so that the divergence comes to its target.

    It grows by the share that the divergence is above its target, and shrinks by the share below, each at most a fifth,
    times ``rate`` (Ziegler and others, "Fine-tuning language models from human preferences", 2019, section 2.2).

    Args:
        coefficient: The weight so far.
        kl: The divergence measured [nats].
        target: What it should be [nats].
        rate: How quickly the weight follows.
        least: Smallest weight.
        most: Largest weight.

    Raises:
        ValueError: ``target`` is not above 0, or the divergence is no number.
    """
    if not target > 0:
        raise ValueError(f"target={target!r} must be above 0 nats")
    if math.isnan(kl):
        raise ValueError("the divergence is no number; the update has gone wrong before")
    off = min(max(kl / target - 1.0, -REACH), REACH)
    return min(max(coefficient * (1.0 + rate * off), least), most)


def learning_rate(
    iteration: int,
    *,
    base: float,
    warmup: int,
    iterations: int,
    schedule: Schedule = "constant",
    floor: float = 0.0,
) -> float:
    """Return the learning rate of an iteration: up in a line, then constant or down to the floor.

    Args:
        iteration: From 0; the first one of a warm-up already learns.
        base: Its highest value.
        warmup: Iterations until there.
        iterations: Iterations in all; the last one is a step above the floor.
        schedule: How it falls.
        floor: Where it falls to, as a share of ``base``.

    Raises:
        ValueError: the schedule is unknown, or a number is out of range.
    """
    if schedule not in get_args(Schedule):
        raise ValueError(f"schedule={schedule!r} is not known; allowed are {', '.join(map(repr, get_args(Schedule)))}")
    if iteration < 0 or warmup < 0 or iterations < 1 or not 0.0 <= floor <= 1.0:
        raise ValueError(
            f"iteration={iteration}, warmup={warmup}, iterations={iterations}, floor={floor}: give counts from 0, at "
            "least one iteration, and a share from 0 to 1"
        )
    if iteration < warmup:
        return base * (iteration + 1) / warmup
    if schedule == "constant":
        return base
    gone = min((iteration - warmup) / max(iterations - warmup, 1), 1.0)
    left = 1.0 - gone if schedule == "linear" else 0.5 * (1.0 + math.cos(math.pi * gone))
    return base * (floor + (1.0 - floor) * left)


def too_far(kl: float, target: float | None, factor: float = 1.5) -> bool:
    """Return whether an update has taken the policy so far that its epochs should end.

    Args:
        kl: Divergence of the policy from what it was before the update [nats]; no number: too far.
        target: What it may be; None: as far as it likes.
        factor: How many times that is too far.
    """
    return target is not None and not kl <= factor * target
