"""Episode: what one attempt at one variant came to, as it stands in a result file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Ending:
    """What an episode's numbers are made from; all of it is in the episode's trajectory."""

    rewards: Sequence[float]
    """Of each step."""
    info: Mapping[str, Any]
    """What the last step told; plain data, as a trajectory holds it."""
    terminated: bool
    truncated: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What an environment makes of an ending."""

    success: bool
    score: float
    """0: nothing, or chance; 1: all there is to reach."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Counts and figures of the environment's own, the same keys for every episode of a split."""
    fault: str = ""
    """How the machine failed, which says nothing of the policy; then success and score do not count."""


@dataclass(frozen=True, slots=True)
class Run:
    """One episode that was played in a batch: what its trajectory is written from."""

    actions: Sequence[Any]
    """Plain data, one a step."""
    ending: Ending
    state_digest: str
    seconds: float
    """Its share of the time that the batch took [s]."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One row of a result file."""

    index: int
    """Of the variant in its split, from 0."""
    variant: str
    """Its name."""
    attempt: int
    """From 0."""
    seed: int
    """What ``reset`` was given."""
    steps: int
    episode_return: float
    success: bool | None
    """None: the machine failed, and nothing is known."""
    score: float | None
    """None: the machine failed."""
    fault: str
    """How the machine failed; empty: it did not."""
    measures: Mapping[str, float]
    state_digest: str
    """Of what the episode left behind; empty where the environment has none."""
    trajectory: str
    """File in the submission's ``trajectories``, with ``#N`` the number of its line where it holds several episodes."""
    trajectory_digest: str
    """SHA-256 of the trajectory, less what may differ between two equal runs."""
    seconds: float
    """Time that it took [s]; no part of any comparison."""
    attribution: Mapping[str, float] = field(default_factory=dict)
    """Of an episode that failed: what each family of disturbances cost, where it was asked for."""
    malformed: int = 0
    """Steps whose answer was no valid call (``rolf.evaluation.malformed``)."""
