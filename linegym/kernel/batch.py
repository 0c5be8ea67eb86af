"""Many lines at once: every row is stepped by the same scalar code, whatever its neighbours, position and thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numba import get_thread_id, prange  # type: ignore[attr-defined]  # public, but not in its __all__
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P
from linegym import rng
from linegym.kernel import observe
from linegym.kernel.compiled import compiled, entry
from linegym.kernel.rows import IntRow, RealRow, Scratch, ShortRow
from linegym.kernel.step import begin, tick

NEXT_STEP, SAME_STEP, DISABLED = range(3)
"""What happens with a row whose episode has ended: Gymnasium's autoreset modes."""


class Lines(NamedTuple):
    """State and parameters of ``n`` lines; ``m`` plants."""

    short: NDArray[np.int16]
    """(n, H_ROW)"""
    whole: NDArray[np.int32]
    """(n, I_ROW)"""
    real: NDArray[np.float32]
    """(n, F_ROW)"""
    keys: NDArray[np.uint64]
    uids: NDArray[np.uint64]
    seeds: NDArray[np.uint64]
    which: NDArray[np.int64]
    """(n,) the plant of each row"""
    plants: NDArray[np.int32]
    """(m, T_ROW)"""
    plants_real: NDArray[np.float64]
    """(m, G_ROW)"""
    laws: NDArray[np.float64]
    """(n, V_ROW)"""
    next_uids: NDArray[np.uint64]
    """Of the next episode, like the next two."""
    next_which: NDArray[np.int64]
    next_laws: NDArray[np.float64]


class Seen(NamedTuple):
    """What a step writes."""

    observations: NDArray[np.float32]
    """(n, SEEN_ROW)"""
    final: NDArray[np.float32]
    """(n, SEEN_ROW), or (0, SEEN_ROW) where no mode needs it"""
    rewards: NDArray[np.float64]
    truncated: NDArray[np.bool_]
    masks: NDArray[np.bool_]
    """(n, ACTIONS), or (0, ACTIONS) when nobody asks for masks"""
    facts: NDArray[np.int32]
    """(n, len(FACTS))"""


Tables: TypeAlias = tuple[RealRow, RealRow]
"""The normal and the sine."""


@compiled
def phase(H: ShortRow, stations: int) -> int:
    """Return how far the furthest work order of a line is."""
    furthest = 0
    for s in range(stations):
        h = s * L.H_STRIDE
        state = int(H[h + L.H_ORDER])
        here = min(state + 1, 4)
        if state == P.Order.NONE:
            here = int(H[h + L.H_ALARM])
        furthest = max(furthest, here)
    return furthest


@compiled
def tell(H: ShortRow, I: IntRow, stations: int, facts: IntRow) -> None:
    """Write the facts of a line but for the order closed in this step."""
    facts[0], facts[1], facts[2] = I[L.I_EPISODE], I[L.I_TICK], I[L.I_INVALID]
    facts[3] = phase(H, stations)
    facts[4], facts[5], facts[6], facts[7] = I[L.I_OUTPUT], I[L.I_SCRAP], I[L.I_FAULTS], I[L.I_FAULTS_DUE]
    facts[8], facts[9], facts[10], facts[11] = I[L.I_CLOSED], I[L.I_CLOSED_DUE], I[L.I_WRONG], I[L.I_LATE]
    facts[12] = I[L.I_SUCCESS]


@compiled
def forget_closed(facts: IntRow) -> None:
    """Say that no order was closed in this step."""
    facts[L.FACT_CLOSED_STATION] = -1
    for column in range(L.FACT_CLOSED_STATION + 1, len(L.FACTS)):
        facts[column] = 0


@compiled
def look(e: int, lines: Lines, seen: Seen, horizon: int, afresh: bool) -> None:
    """Write observation and mask of row ``e``; ``afresh``: what belongs to unused places too."""
    w = lines.which[e]
    masked = seen.masks.shape[0] > 0
    if afresh:
        seen.observations[e, :] = 0
        if masked:
            seen.masks[e, :] = False
    H, I, F = lines.short[e], lines.whole[e], lines.real[e]
    observe.observe(H, I, F, lines.plants[w], lines.plants_real[w], horizon, seen.observations[e])
    if masked:
        observe.possible(H, I, lines.plants[w], seen.masks[e])


@compiled
def renew(e: int, lines: Lines, episode: int, horizon: int) -> None:
    """Begin an episode in row ``e``, of the variant chosen for it."""
    lines.uids[e], lines.which[e] = lines.next_uids[e], lines.next_which[e]
    for i in range(L.V_ROW):
        lines.laws[e, i] = lines.next_laws[e, i]
    lines.keys[e] = rng.episode_key(lines.uids[e], lines.seeds[e], episode)
    w = lines.which[e]
    begin(
        lines.short[e],
        lines.whole[e],
        lines.real[e],
        lines.plants[w],
        lines.plants_real[w],
        lines.laws[e],
        lines.keys[e],
        episode,
        horizon,
    )


@compiled
def play(
    e: int, lines: Lines, seen: Seen, asked: IntRow, ticks: int, horizon: int, tables: Tables, words: Scratch
) -> None:
    """Advance row ``e`` by up to ``ticks`` ticks; the commands come in the first."""
    H, I, F, V = lines.short[e], lines.whole[e], lines.real[e], lines.laws[e]
    w = lines.which[e]
    T, G = lines.plants[w], lines.plants_real[w]
    I[L.I_INVALID] = 0
    reward = 0.0
    wanted = asked.shape[0]
    for _ in range(ticks):
        if I[L.I_OVER] == 0:
            reward += tick(
                H, I, F, T, G, V, lines.keys[e], asked, wanted, seen.facts[e], horizon, tables[0], tables[1], words
            )
            wanted = 0
    seen.rewards[e] = reward
    seen.truncated[e] = I[L.I_OVER] == 1
    tell(H, I, int(T[L.T_STATIONS]), seen.facts[e])


@compiled
def step_row(
    e: int,
    lines: Lines,
    seen: Seen,
    asked: IntRow,
    ticks: int,
    mode: int,
    horizon: int,
    tables: Tables,
    words: Scratch,
) -> int:
    """Advance row ``e`` by one step; return 1 if it began its next episode because the mode says so, else 0."""
    forget_closed(seen.facts[e])
    seen.rewards[e] = 0.0
    seen.truncated[e] = False
    over = lines.whole[e, L.I_OVER] == 1
    fresh = mode == NEXT_STEP and over
    if not over:
        play(e, lines, seen, asked, ticks, horizon, tables, words)
        if mode == SAME_STEP and lines.whole[e, L.I_OVER] == 1:
            w = lines.which[e]
            seen.final[e, :] = 0
            observe.observe(
                lines.short[e],
                lines.whole[e],
                lines.real[e],
                lines.plants[w],
                lines.plants_real[w],
                horizon,
                seen.final[e],
            )
            fresh = True
    if fresh:
        renew(e, lines, int(lines.whole[e, L.I_EPISODE]) + 1, horizon)
        if mode == NEXT_STEP:
            tell(lines.short[e], lines.whole[e], int(lines.plants[lines.which[e], L.T_STATIONS]), seen.facts[e])
    look(e, lines, seen, horizon, fresh)
    return 1 if fresh else 0


@compiled
def any_over(lines: Lines) -> bool:
    """Return whether the episode of some row has ended."""
    over = 0
    for e in range(lines.keys.shape[0]):
        over += int(lines.whole[e, L.I_OVER])
    return over > 0


Step: TypeAlias = Callable[[Lines, Seen, NDArray[np.int32], int, int, int, Tables, NDArray[np.int64]], int]
"""Returns how many rows began an episode; -1 and nothing done if a row has ended and the mode begins none."""
Reset: TypeAlias = Callable[[Lines, Seen, NDArray[np.bool_], NDArray[np.int64], int], None]
Look: TypeAlias = Callable[[Lines, Seen, int, int], None]


@compiled
def present(e: int, lines: Lines, seen: Seen, horizon: int) -> None:
    """Write all that is told of row ``e`` when no step was taken."""
    forget_closed(seen.facts[e])
    tell(lines.short[e], lines.whole[e], int(lines.plants[lines.which[e], L.T_STATIONS]), seen.facts[e])
    look(e, lines, seen, horizon, True)


def _step(
    lines: Lines,
    seen: Seen,
    asked: NDArray[np.int32],
    ticks: int,
    mode: int,
    horizon: int,
    tables: Tables,
    scratch: NDArray[np.int64],
) -> int:
    if mode == DISABLED and any_over(lines):
        return -1
    begun = 0
    for e in range(lines.keys.shape[0]):
        begun += step_row(e, lines, seen, asked[e], ticks, mode, horizon, tables, scratch[0])
    return begun


def _step_many(
    lines: Lines,
    seen: Seen,
    asked: NDArray[np.int32],
    ticks: int,
    mode: int,
    horizon: int,
    tables: Tables,
    scratch: NDArray[np.int64],
) -> int:
    if mode == DISABLED and any_over(lines):
        return -1
    begun = 0
    for number in prange(lines.keys.shape[0]):
        e = int(np.int64(number))  # prange counts unsigned: all that step_row calls would be compiled once more
        words = scratch[get_thread_id()]
        begun += step_row(e, lines, seen, asked[e], ticks, mode, horizon, tables, words)
    return begun


def _reset(lines: Lines, seen: Seen, rows: NDArray[np.bool_], episodes: NDArray[np.int64], horizon: int) -> None:
    for e in range(lines.keys.shape[0]):
        if rows[e]:
            renew(e, lines, episodes[e], horizon)
            present(e, lines, seen, horizon)


def _show(lines: Lines, seen: Seen, e: int, horizon: int) -> None:
    present(e, lines, seen, horizon)


step_serial: Step = entry(_step)
step_parallel: Step = entry(_step_many, parallel=True)
reset_rows: Reset = entry(_reset)
show_row: Look = entry(_show)
