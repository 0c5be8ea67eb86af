"""Reanalysis: what the network says of stored episodes: how likely it would do the same now, and what came of it.

A stored episode was played by an older policy. Its advantages are those of generalised advantage estimation with the
values of today's critic; how likely each step is today, beside how likely it was, says what it counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rolf_adapters.buffer.episode import Episode
from rolf_adapters.ppo import credit, losses, segments
from rolf_adapters.ppo.vector.choice import chance_of, log_chances
from rolf_adapters.ppo.vector.network import Network
from rolf_adapters.ppo.vector.packing import Shown, unpacked

Reals = NDArray[np.float32]
Paid = Callable[[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_]], NDArray[np.float64]]
"""Returns what is learned from of rewards (T,): by the features reached (T, features), the rewards, and whether the
episode goes on after each step."""


class Judged(NamedTuple):
    """Some steps of stored episodes, with what the network says of them; all shape (n,) or (n, …)."""

    shown: Shown
    actions: NDArray[np.int64]
    places: NDArray[np.int64]
    """Segment of each."""
    logps: Reals
    """Log-probability of what was done, by the network as it is."""
    behaviour: Reals
    """The same by the network that did it."""
    values: Reals
    advantages: NDArray[np.float64]
    returns: NDArray[np.float64]

    def weights(self, most: float) -> tuple[Reals, NDArray[np.bool_]]:
        """Return what each counts, by `rolf_adapters.ppo.losses.stale_weights`, and where that was cut off."""
        now, then = torch.from_numpy(self.logps), torch.from_numpy(self.behaviour)
        weights = losses.stale_weights(now, then, torch.ones(len(now), dtype=torch.bool), most).numpy()
        return weights, self.logps - self.behaviour > np.log(most)

    @classmethod
    def joined(cls, parts: list[Judged]) -> Judged:
        """Return all of them, one after the other."""
        shown = Shown.joined([each.shown for each in parts])
        return cls(shown, *(np.concatenate(each) for each in list(zip(*parts, strict=True))[1:]))


def judged(
    network: Network, episode: Episode, steps: NDArray[np.int64], paid: Paid, *, discount: float, trace: float
) -> Judged:
    """Return what the network says of steps of an episode.

    Args:
        network: As it is at the beginning of an update.
        episode: All of it, for what came of a step lies behind it.
        steps: (n,) which of its steps; one may be there several times.
        paid: What its rewards are learned as.
        discount: Of rewards.
        trace: How far surprises reach back (lambda).
    """
    shown = unpacked(episode.states, network.size)
    actions, length = np.array(episode.actions["action"]), len(episode)
    with torch.inference_mode():
        logits, critic = network(shown.seen())
        chances = log_chances(logits[:length], torch.from_numpy(shown.allowed[:length]), network.size.parts)
        logps = chance_of(chances, torch.from_numpy(actions), network.size.parts).numpy()
    values = critic.numpy()
    terminated, truncated = np.zeros((length, 1), np.bool_), np.zeros((length, 1), np.bool_)
    terminated[-1], truncated[-1] = episode.terminated, not episode.terminated
    rewards = paid(shown.features[1:], np.array(episode.rewards), ~(terminated | truncated)[:, 0])
    earned = credit.over_time(
        rewards[:, None], values[:-1, None], values[-1:], terminated, truncated, values[1:, None],
        discount=discount, trace=trace,
    )  # fmt: skip
    return Judged(
        shown.taken(steps),
        actions[steps],
        segments.of_phases(np.array(episode.extras["phase"])[steps]),
        logps[steps],
        np.array(episode.extras["logp"])[steps],
        values[steps],
        earned.advantages[steps, 0],
        earned.returns[steps, 0],
    )
