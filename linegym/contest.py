"""Contest: whole shifts of many lines under a policy that is judged, with all that trajectories are written from."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linegym.actions import batch_commands
from linegym.batch import Batch
from linegym.errors import ArgumentError
from linegym.information import RowInfo, card
from linegym.policies.policy import Infos, Lineup, Policy
from linegym.tally import KEY, Tally
from linegym.variants import Variant
from rolf.evaluation.blame import blamed
from rolf.evaluation.episode import Ending, Run
from rolf.evaluation.errors import PolicyError
from rolf.trajectory import jsonable
from rolf.variant import policy_seed


@dataclass(frozen=True, slots=True)
class Shifts:
    """Shifts that have just ended, a row each."""

    batch: Batch
    seeds: Sequence[int]
    tally: Tally
    actions: NDArray[np.int16]
    """(horizon, n)"""
    rewards: NDArray[np.float64]
    """(horizon, n)"""
    seconds: float
    """Time that all of it took [s]."""

    def runs(self) -> Iterator[Run]:
        """Yield each row as its trajectory is written."""
        batch, actions, rewards = self.batch, self.actions.T.tolist(), self.rewards.T.tolist()
        for row, seed in enumerate(self.seeds):
            info = RowInfo(batch, True, row).told(card(batch.variants[row]), seed)
            told = jsonable({**info, KEY: self.tally.told(row)})
            ending = Ending(rewards[row], told, terminated=False, truncated=bool(batch.truncated[row]))
            yield Run(actions[row], ending, batch.save(row).digest(), self.seconds / batch.n)


def compete(player: Policy, variants: Sequence[Variant], seeds: Sequence[int]) -> Shifts:
    """Play a shift of each variant, in the evaluation namespace.

    The policy is told plants and what anybody can see of them, and seeds for random numbers of its own; neither the
    seeds of the lines nor the uids of the variants, by which it could look up what will happen.

    Raises:
        PolicyError: the policy raised an error, its actions are not of the action space, or it wants to know the faults
            and does not say that it is ``privileged``; says in which step.
    """
    with blamed("at its start"):
        told = truth_for(player)
    began = time.perf_counter()
    batch = Batch(variants, autoreset="disabled", evaluation=True)
    batch.reset(np.array(seeds, np.uint64))
    tally = Tally(batch.n)
    actions = np.zeros((batch.horizon, batch.n), np.int16)
    rewards = np.zeros((batch.horizon, batch.n))
    known = lineup(variants, [policy_seed(seed) for seed in seeds])
    with blamed("at its start"):
        player.begin(known)
    for tick in range(batch.horizon):
        faults = batch.faults()
        infos: Infos = {"true_faults": faults.copy()} if told else {}
        with blamed(f"step {tick}"):
            chosen = player.act(batch.observations, batch.masks, infos)
            commands = _commands(chosen, batch.n)
        batch.step(commands)
        tally.note(commands[:, 0], faults, batch.facts)
        actions[tick], rewards[tick] = chosen, batch.rewards
    return Shifts(batch, seeds, tally, actions, rewards, time.perf_counter() - began)


def _commands(chosen: Any, rows: int) -> NDArray[np.int32]:
    """Return the commands of what a policy answered."""
    try:
        return batch_commands(chosen, rows, "flat")
    except (TypeError, ValueError) as error:
        raise PolicyError(f"it answered {chosen!r:.60} ({type(chosen).__name__}): {error}") from error


def lineup(variants: Sequence[Variant], seeds: Sequence[int]) -> Lineup:
    """Return what a policy may know of shifts beforehand; the seeds are for its own random numbers."""
    known = Lineup.of(variants, seeds)
    return replace(known, uids=np.zeros(known.n, np.uint64))


def truth_for(player: Policy) -> bool:
    """Return whether a policy is told the faults.

    Raises:
        ArgumentError: it wants to and does not say that it is ``privileged``.
    """
    if player.truthful and not getattr(player, "privileged", False):
        raise ArgumentError(
            f"policy {player.name!r} is truthful: it is told every fault, so it is a reference and no contestant; "
            "declare privileged = True beside it, or truthful = False"
        )
    return player.truthful
