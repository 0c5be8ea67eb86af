"""Validation: can an episode of a variant be won by knowing the truth, and only by doing something?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linegym import actions
from linegym.env import LineEnv
from linegym.errors import VariantError
from linegym.layout import SEEN_CREW, SEEN_LINE, SEEN_STRIDE
from linegym.plant import PARTS, TECHNICIANS, Order
from linegym.splits import SETS
from linegym.variants import Variant, split, variant
from rolf.environments import Verdict

ORDER, CLAIM = 14, 15
"""Where a station's numbers hold the state of its work order and what it claims."""
PARTS_AT = SEEN_LINE - 3 * PARTS
"""Where the parts' numbers begin in the observation."""
KEPT = 2
"""Pieces of each part that are kept in store or under way."""


def validate_all(names: Sequence[str], seeds: int) -> Iterator[Verdict]:
    """Validate one episode of the first ``seeds`` variants of each set, or with ``seeds`` seeds each variant named.

    Args:
        names: Sets or ids; none: all sets.
        seeds: How many of each.

    Raises:
        LookupError: there is no set or variant of that name.
    """
    for name in names or tuple(SETS):
        for seed, chosen in enumerate(_instances(name, seeds)):
            began = time.perf_counter()
            problems = _problems(chosen, seed)
            yield Verdict(f"{chosen.id}@{seed}", problems, time.perf_counter() - began)


def _instances(name: str, seeds: int) -> list[Variant]:
    try:
        if "/" in name:
            return [variant(name)] * seeds
        return list(split(name)[:seeds])
    except VariantError as error:
        raise LookupError(str(error)) from error


def _problems(chosen: Variant, seed: int) -> tuple[str, ...]:
    one, two = _played(chosen, seed, True), _played(chosen, seed, True)
    nothing = _played(chosen, seed, False)
    problems = []
    if one[1] != two[1]:
        problems.append("the same seed and actions give another episode")
    if one[0]["faults_due"] == 0:
        problems.append("nothing breaks early enough to count")
    if not one[0]["success"]:
        problems.append(
            f"who knows the faults does not succeed: {one[0]['closed_due']} of {one[0]['faults_due']} closed, "
            f"output {one[0]['output']}"
        )
    if nothing[0]["success"]:
        problems.append("doing nothing succeeds")
    return tuple(problems)


def _played(chosen: Variant, seed: int, repairs: bool) -> tuple[dict[str, Any], str]:
    """Return the last information of an episode, and the digest of its last state."""
    env = LineEnv(chosen, evaluation=True)
    seen: Any  # flat, as the environment was made
    seen, info = env.reset(seed=seed)
    over = False
    while not over:
        seen, _, _, over, info = env.step(_repair(seen, info, chosen) if repairs else actions.NOOP)
    return info, env.state_digest()


def _repair(seen: NDArray[np.float32], info: dict[str, Any], chosen: Variant) -> int:
    """Return the next action of one who knows every fault: the first that is possible, of what is to be done."""
    possible = info["action_mask"]
    for wish in _wishes(seen, info["true_faults"], chosen):
        if possible[wish]:
            return wish
    return actions.NOOP


def _wishes(seen: NDArray[np.float32], faults: NDArray[np.int16], chosen: Variant) -> Iterator[int]:
    """Yield what is to be done: close what is mended, send somebody, open orders, look where none may be, get parts."""
    stations = seen[: len(faults) * SEEN_STRIDE].reshape(-1, SEEN_STRIDE)
    orders, claims = np.rint(stations[:, ORDER] * 4), np.rint(stations[:, CLAIM] * 8) - 1
    yield from (actions.close(int(station)) for station in np.flatnonzero(orders == Order.DONE))
    for station in np.flatnonzero(faults).tolist():
        part = int(faults[station]) - 1
        if orders[station] == Order.OPEN and claims[station] == part:
            yield from (actions.dispatch(who, station) for who in _nearest(seen, station, chosen))
        elif orders[station] in (Order.NONE, Order.OPEN):
            yield actions.diagnose(station, part)
            if not (_crew(seen)[:, 2] * 24 == station + 1).any():
                yield actions.inspect(station)
    yield from (actions.order(int(part)) for part in np.flatnonzero(_stock(seen) < KEPT))


def _crew(seen: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return state, place, target and time left of each technician."""
    return seen[SEEN_CREW:PARTS_AT].reshape(TECHNICIANS, 4)


def _stock(seen: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the pieces of each part, in store and ordered."""
    parts: NDArray[np.float32] = seen[PARTS_AT : PARTS_AT + 3 * PARTS].reshape(PARTS, 3)
    pieces: NDArray[np.float32] = np.rint(10 * (parts[:, 0] + parts[:, 1]))
    return pieces


def _nearest(seen: NDArray[np.float32], station: int, chosen: Variant) -> list[int]:
    """Return the technicians, the nearest first."""
    places = np.rint(_crew(seen)[:, 1] * 24).astype(int).tolist()
    plant = chosen.template.plant()
    return sorted(range(TECHNICIANS), key=lambda who: plant.travel(places[who], station))
