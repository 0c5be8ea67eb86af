"""Many lines as plain arrays: the world behind both faces, without Gymnasium."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numba import get_num_threads, set_num_threads
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P
from linegym import threads as T
from linegym.errors import ArgumentError
from linegym.kernel.batch import (
    DISABLED,
    NEXT_STEP,
    SAME_STEP,
    Lines,
    Seen,
    reset_rows,
    show_row,
    step_parallel,
    step_serial,
)
from linegym.rng import EVALUATION
from linegym.tables import NORMAL, SINE

if TYPE_CHECKING:
    from linegym.variants import Variant

Autoreset = Literal["next_step", "same_step", "disabled"]

PARALLEL_FROM = 256
"""Rows from which several threads are worth their start."""

_MODES = {"next_step": NEXT_STEP, "same_step": SAME_STEP, "disabled": DISABLED}


@dataclass(frozen=True, slots=True)
class RowState:
    """Everything that one line is at one moment; restored, it goes on as it would have."""

    short: bytes
    whole: bytes
    real: bytes
    key: int
    seed: int
    variant: Variant
    following: Variant
    """The variant of the next episode."""

    def digest(self) -> str:
        """Return a digest of the line; equal lines have equal ones on every machine, whatever follows."""
        return hashlib.sha256(self.short + self.whole + self.real + self.key.to_bytes(8, "little")).hexdigest()


class Batch:
    """``n`` lines, a row each, stepped together.

    The arrays ``observations``, ``rewards``, ``truncated``, ``masks`` and ``facts`` are overwritten by each step.

    Args:
        variants: The variant of each row.
        horizon: Ticks of an episode.
        autoreset: What a step does with a row whose episode has ended.
        commands: Commands a row and step; three for the three roles.
        ticks_per_step: Ticks that a step advances; the commands come in the first.
        threads: Threads to step with; more than one has an effect from 256 rows on.
        evaluation: Draw from the evaluation namespace of the seeds.
        masks: Whether ``masks`` is kept.
    """

    def __init__(
        self,
        variants: Sequence[Variant],
        *,
        horizon: int = P.HORIZON,
        autoreset: Autoreset = "next_step",
        commands: int = 1,
        ticks_per_step: int = 1,
        threads: int = 1,
        evaluation: bool = False,
        masks: bool = True,
    ) -> None:
        self.n = n = len(variants)
        self.horizon = _between("horizon", horizon, 1, P.LONGEST_HORIZON)
        self.ticks_per_step = _between("ticks_per_step", ticks_per_step, 1, P.LONGEST_HORIZON)
        self.commands = _between("commands", commands, 1, 3)
        self.threads = _between("threads", threads, 1, 1024)
        if autoreset not in _MODES:
            raise ArgumentError(f"autoreset is {autoreset!r}; it is one of {', '.join(_MODES)}")
        self.autoreset: Autoreset = autoreset
        self.evaluation = evaluation
        self._mode = _MODES[autoreset]
        self._short = np.zeros((n, L.H_ROW), np.int16)
        self._whole = np.zeros((n, L.I_ROW), np.int32)
        self._real = np.zeros((n, L.F_ROW), np.float32)
        self._keys = np.zeros(n, np.uint64)
        self._seeds = np.zeros(n, np.uint64)
        self._scratch = np.zeros((self.threads, 3, 4, P.STATIONS), np.int64)
        self._faults = self._short[:, L.H_FAULT : P.STATIONS * L.H_STRIDE : L.H_STRIDE]
        self._begun = False
        self.observations = np.zeros((n, L.SEEN_ROW), np.float32)
        """(n, 632)"""
        self.final_observations = np.zeros((n if self._mode == SAME_STEP else 0, L.SEEN_ROW), np.float32)
        """(n, 632), of the rows that ended in the last step; ``same_step`` alone"""
        self.rewards = np.zeros(n, np.float64)
        self.terminated = np.zeros(n, np.bool_)
        """Never: a line has no natural end."""
        self.truncated = np.zeros(n, np.bool_)
        self.masks = np.zeros((n if masks else 0, P.ACTIONS), np.bool_)
        """(n, 545), which flat actions are possible now"""
        self.facts = np.zeros((n, len(L.FACTS)), np.int32)
        """(n, len(layout.FACTS))"""
        self._load(variants)

    def _load(self, variants: Sequence[Variant]) -> None:
        """Lay out the parameters of the variants; rows of one template share its plant."""
        self.following = list(variants)
        """The variant of each row's next episode."""
        self.variants = list(variants)
        """The variant of each row's present episode."""
        self._places: dict[str, int] = {}
        plants: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
        for variant in variants:
            if variant.template.name not in self._places:
                self._places[variant.template.name] = len(plants)
                plants.append(variant.template.plant().rows())
        self._plants_short = np.array([rows[0] for rows in plants], np.int32).reshape(-1, L.T_ROW)
        self._plants_real = np.array([rows[1] for rows in plants], np.float64).reshape(-1, L.G_ROW)
        self._next_which = np.array([self._places[variant.template.name] for variant in variants], np.int64)
        self._next_uids = np.array([variant.uid for variant in variants], np.uint64)
        self._next_laws = np.array([variant.row() for variant in variants], np.float64).reshape(-1, L.V_ROW)
        self._which, self._uids = self._next_which.copy(), self._next_uids.copy()
        self._laws = self._next_laws.copy()
        self._gather()

    def set_variant(self, row: int, variant: Variant) -> None:
        """Choose the variant of a row's next episode; the present one goes on as it is."""
        if variant.template.name not in self._places:
            short, real = variant.template.plant().rows()
            self._places[variant.template.name] = len(self._plants_short)
            self._plants_short = np.vstack([self._plants_short, short[None]])
            self._plants_real = np.vstack([self._plants_real, real[None]])
            self._gather()
        self.following[row] = variant
        self._next_which[row] = self._places[variant.template.name]
        self._next_uids[row] = variant.uid
        self._next_laws[row] = variant.row()

    def reset(self, seeds: NDArray[np.uint64] | None = None, rows: NDArray[np.bool_] | None = None) -> None:
        """Begin an episode in the rows named (none named: all).

        Args:
            seeds: (n,) A new seed for each row named, whose episode 0 begins; None: the next episode of the same seed.
            rows: (n,) Which rows.
        """
        if rows is None:
            rows = np.ones(self.n, np.bool_)
        if seeds is None and not self._begun:
            raise ArgumentError("the first reset needs seeds: reset(seeds=np.arange(n, dtype=np.uint64))")
        episodes = self._whole[:, L.I_EPISODE].astype(np.int64) + 1
        if seeds is not None:
            space = np.uint64(EVALUATION if self.evaluation else 0)
            self._seeds[rows] = np.asarray(seeds, np.uint64)[rows] ^ space
            episodes[rows] = 0
        self._begun = True
        for row in np.flatnonzero(rows):
            self.variants[row] = self.following[row]
        self.truncated[rows] = False
        reset_rows(self._lines, self._seen, rows, episodes, self.horizon)

    def step(self, commands: NDArray[np.int32]) -> None:
        """Advance every row by a step.

        Args:
            commands: (n, commands, 3) verb, station and argument of each.
        """
        if not self._begun:
            raise ArgumentError("step before reset; call reset(seeds=...) first")
        if commands.shape != (self.n, self.commands, 3):
            raise ArgumentError(f"commands have shape {commands.shape}; it must be {(self.n, self.commands, 3)}")
        commands = np.ascontiguousarray(commands, np.int32)
        if not commands.flags.writeable:  # to numba a type of its own, for which it would compile the kernel again
            commands = commands.copy()
        begun = self._advance(commands)
        if begun < 0:
            rows = np.flatnonzero(self._whole[:, L.I_OVER])[:8].tolist()
            raise ArgumentError(f"rows {rows} have ended; reset them first, or use an autoreset mode")
        if begun > 0:
            for row in np.flatnonzero(self._whole[:, L.I_TICK] == 0):
                self.variants[row] = self.following[row]

    def _advance(self, commands: NDArray[np.int32]) -> int:
        """Run the kernel, on several threads where that is worth it; return how many rows began an episode."""
        arguments = (commands, self.ticks_per_step, self._mode, self.horizon, (NORMAL, SINE), self._scratch)
        if self.threads == 1 or self.n < PARALLEL_FROM or not T.usable():
            return step_serial(self._lines, self._seen, *arguments)
        T.note_use()
        before = get_num_threads()
        set_num_threads(min(self.threads, before))
        try:
            return step_parallel(self._lines, self._seen, *arguments)
        finally:
            set_num_threads(before)

    def _gather(self) -> None:
        """Put the arrays together as the kernel takes them."""
        self._lines = Lines(
            self._short,
            self._whole,
            self._real,
            self._keys,
            self._uids,
            self._seeds,
            self._which,
            self._plants_short,
            self._plants_real,
            self._laws,
            self._next_uids,
            self._next_which,
            self._next_laws,
        )
        self._seen = Seen(
            self.observations, self.final_observations, self.rewards, self.truncated, self.masks, self.facts
        )

    def faults(self) -> NDArray[np.int16]:
        """Return the true fault class of each station: (n, 24), 0 none; for judging, not for policies."""
        return self._faults.copy()

    def save(self, row: int) -> RowState:
        """Return all that the line in a row is now."""
        return RowState(
            self._short[row].tobytes(),
            self._whole[row].tobytes(),
            self._real[row].tobytes(),
            int(self._keys[row]),
            int(self._seeds[row]),
            self.variants[row],
            self.following[row],
        )

    def restore(self, row: int, state: RowState) -> None:
        """Put a saved line into a row; it goes on as it would have where it was saved."""
        self.set_variant(row, state.variant)
        self._which[row], self._uids[row] = self._next_which[row], self._next_uids[row]
        self._laws[row] = self._next_laws[row]
        self.variants[row] = state.variant
        self.set_variant(row, state.following)
        self._short[row] = np.frombuffer(state.short, np.int16)
        self._whole[row] = np.frombuffer(state.whole, np.int32)
        self._real[row] = np.frombuffer(state.real, np.float32)
        self._keys[row], self._seeds[row] = state.key, state.seed
        self._begun = True
        self._look(row)

    def _look(self, row: int) -> None:
        """Write observation, mask and facts of a row anew."""
        show_row(self._lines, self._seen, row, self.horizon)
        self.truncated[row] = self._whole[row, L.I_OVER] == 1

    def digest(self) -> str:
        """Return a SHA-256 over state, observations and rewards of all rows."""
        found = hashlib.sha256()
        for array in (self._short, self._whole, self._real, self.observations, self.rewards):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()


def _between(name: str, value: int, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ArgumentError(f"{name} is {value!r}; it must be a whole number from {least} to {most}")
    return int(value)
