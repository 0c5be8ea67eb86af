"""Soundness: what an environment gives has to be numbers; of what is none a training learns nothing but the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.ppo.learner import Halted


class Unsound(Halted):
    """An environment gave what is no number. It is to be mended; with another learning rate it would do so again."""


def see_rewards(envs: Any, rewards: NDArray[Any], lengths: NDArray[np.int64]) -> None:
    """See that rewards are finite numbers.

    Args:
        envs: The vector environment that gave them.
        rewards: (rows,)
        lengths: (rows,) steps of each row's episode before this one.

    Raises:
        Unsound: one is not.
    """
    wrong = ~np.isfinite(np.asarray(rewards, np.float64))
    if wrong.any():
        row = int(wrong.argmax())
        raise _unsound(name(envs), f"the reward {float(rewards[row])!r}", f"in row {row}, step {lengths[row] + 1}")


def see_observations(envs: Any, observations: NDArray[np.float32], rows: NDArray[np.bool_], when: str) -> None:
    """See that no number of an observation is NaN; an infinite one is cut off where it is normalised.

    Args:
        envs: The vector environment that gave them.
        observations: (rows, size)
        rows: (rows,) in which something will be done about them.
        when: For people: ``after a reset``.

    Raises:
        Unsound: one is.
    """
    wrong = np.isnan(observations).any(axis=1) & rows
    if wrong.any():
        row = int(wrong.argmax())
        place = int(np.isnan(observations[row]).argmax())
        raise _unsound(name(envs), f"an observation whose number {place} is nan", f"in row {row}, {when}")


def see_measured(envs: Any, features: NDArray[np.float32]) -> None:
    """See that what statistics are taken from is finite: one infinite number, and nothing else of its kind counts.

    Args:
        envs: The vector environment that it was seen in.
        features: (…, size)

    Raises:
        Unsound: it is not.
    """
    wrong = ~np.isfinite(features)
    if wrong.any():
        place = int(wrong.reshape(-1, wrong.shape[-1]).any(axis=0).argmax())
        raise _unsound(name(envs), f"observations whose number {place} is infinite", "while statistics were taken")


def see_reward(env_id: str, reward: float, turn: int) -> None:
    """See that the reward of an episode's turn is a finite number.

    Raises:
        Unsound: it is not.
    """
    if not math.isfinite(reward):
        raise _unsound(env_id, f"the reward {reward!r}", f"in turn {turn}")


def name(envs: Any) -> str:
    """Return what Gymnasium calls an environment, or its class where it is registered nowhere."""
    spec = getattr(envs, "spec", None)
    return type(envs).__name__ if spec is None else str(spec.id)


def _unsound(env_id: str, what: str, where: str) -> Unsound:
    return Unsound(f"{env_id} gave {what} {where}: nothing can be learned from that; mend the environment")
