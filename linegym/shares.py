"""Shares: which role a step's costs come from, worked out from what can be known before and after it.

Output, scrap and the time that faults last belong to all; everything else is what one role's commands cost. The
kernel adds all of it up to one number; here it is taken apart again, and the sum of the shares is that number but for
rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linegym import plant as P
from linegym.batch import Batch
from linegym.layout import FACTS, G_NOMINAL
from linegym.spaces import obs_spec

DIAGNOSIS, LOGISTICS, DISPATCH = range(3)
"""Places of the roles' commands."""
_PLACE = {entry.name: entry.index for entry in obs_spec()}
_ORDERS = [_PLACE[f"station[{station}].order"] for station in range(P.STATIONS)]
_CREW = [_PLACE[f"technician[{who}].state"] for who in range(P.TECHNICIANS)]
_FACT = {name: column for column, name in enumerate(FACTS)}


class Moment(NamedTuple):
    """What a batch of one row says at a moment, and is later needed to say what a step changed."""

    facts: NDArray[np.int32]
    mask: NDArray[np.bool_]
    orders: NDArray[np.int64]
    """(24,) plant.Order of each station"""
    crew: NDArray[np.int64]
    """(6,) plant.Crew of each technician"""

    @classmethod
    def of(cls, batch: Batch) -> Moment:
        """Return the present moment."""
        seen = batch.observations[0]
        orders, crew = (np.rint(seen[places] * 4).astype(np.int64) for places in (_ORDERS, _CREW))
        return cls(batch.facts[0].copy(), batch.masks[0].copy(), orders, crew)

    def fact(self, name: str) -> int:
        """Return one of the facts."""
        return int(self.facts[_FACT[name]])


class Shares(NamedTuple):
    """What each role's commands of a step cost, and what the line earned."""

    own: tuple[float, float, float]
    """By role; 0 or negative."""
    shared: float
    possible: tuple[bool, bool, bool]
    """By role: whether its command was."""


def shares(before: Moment, batch: Batch, actions: tuple[int, int, int], commands: NDArray[np.int32]) -> Shares:
    """Return the shares of a step of one tick.

    Args:
        before: The moment before the step.
        batch: The line after it.
        actions: The flat action of each role.
        commands: (3, 3) The same as commands.
    """
    after = Moment.of(batch)
    possible = (
        bool(before.mask[actions[DIAGNOSIS]]),
        bool(before.mask[actions[LOGISTICS]]),
        _dispatch_was_possible(before, after, actions, commands),
    )
    costs = [0.0 if each else -P.REWARD_INVALID for each in possible]
    closed_wrong = after.fact("closed_station") >= 0 and not after.fact("closed_right")
    dismissed_wrong = after.fact("wrong") - before.fact("wrong") - closed_wrong
    costs[DIAGNOSIS] -= P.REWARD_FALSE * dismissed_wrong
    if commands[DIAGNOSIS, 0] == P.Verb.INSPECT and possible[DIAGNOSIS]:
        costs[DIAGNOSIS] -= P.REWARD_INSPECT
    if commands[LOGISTICS, 0] == P.Verb.ORDER and possible[LOGISTICS]:
        costs[LOGISTICS] -= P.REWARD_PART * P.ORDER_SIZES[int(commands[LOGISTICS, 2]) & 1]
    costs[DISPATCH] -= P.REWARD_FALSE * closed_wrong
    costs[DISPATCH] -= P.REWARD_LATE * (after.fact("late") - before.fact("late"))
    ways = _ways(before, after)
    costs[DIAGNOSIS] -= P.REWARD_TRAVEL * int((ways == P.Crew.TO_INSPECT).sum())
    costs[DISPATCH] -= P.REWARD_TRAVEL * int((ways == P.Crew.TO_REPAIR).sum())
    return Shares((costs[0], costs[1], costs[2]), _shared(before, after, batch), possible)


def _ways(before: Moment, after: Moment) -> NDArray[np.int64]:
    """Return the way that each technician went in the tick: TO_REPAIR, TO_INSPECT, or another state for none.

    One who was idle and is on the way, or already there, was sent in this tick.
    """
    sent = np.where(after.crew == P.Crew.REPAIR, P.Crew.TO_REPAIR, after.crew)
    sent = np.where(after.crew == P.Crew.INSPECT, P.Crew.TO_INSPECT, sent)
    return np.where(before.crew == P.Crew.IDLE, sent, before.crew)


def _dispatch_was_possible(
    before: Moment, after: Moment, actions: tuple[int, int, int], commands: NDArray[np.int32]
) -> bool:
    """Return whether the dispatch role's command was possible after the diagnosis role's, which comes first."""
    verb, station, argument = commands[DISPATCH].tolist()
    if verb == P.Verb.DISPATCH:
        at_work = after.crew[argument] in (P.Crew.TO_REPAIR, P.Crew.REPAIR)
        return bool(before.crew[argument] == P.Crew.IDLE and at_work)
    if verb == P.Verb.CLOSE:
        asked, where, claim = commands[DIAGNOSIS].tolist()
        if asked == P.Verb.DIAGNOSE and where == station and before.mask[actions[DIAGNOSIS]]:
            return bool(claim < P.CLAIM_DISTURBANCE)
        return bool(before.orders[station] in (P.Order.OPEN, P.Order.DONE))
    return bool(before.mask[actions[DISPATCH]])


def _shared(before: Moment, after: Moment, batch: Batch) -> float:
    """Return what belongs to all: output, scrap and the faults that last."""
    _, real, *_ = batch.variants[0].rows()
    nominal = float(real[G_NOMINAL]) * batch.horizon
    output, scrap = (after.fact(name) - before.fact(name) for name in ("output", "scrap"))
    faulty = int((batch.faults()[0] != P.Fault.NONE).sum())
    return (P.REWARD_OUTPUT * output - P.REWARD_SCRAP * scrap) / nominal - P.REWARD_FAULT * faulty
