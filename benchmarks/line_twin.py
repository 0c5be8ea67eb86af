"""``Batch`` in vectorised NumPy: the same arrays under the same names, bit for bit the same numbers."""

from __future__ import annotations

import numpy as np
from line_numpy import plant, seen
from line_numpy.commands import command
from line_numpy.state import Lines
from line_rows import Rows, digest
from numpy.typing import NDArray

from linegym import layout as L
from linegym import plant as P


class NumpyTwin:
    """``n`` lines that begin and end together, with the next-step autoreset."""

    def __init__(self, rows: Rows, *, horizon: int = P.HORIZON, commands: int = 1, masks: bool = True) -> None:
        self._lines, n = Lines(rows, horizon), rows.n
        self.commands, self._masked = commands, masks
        self.observations = np.zeros((n, L.SEEN_ROW), np.float32)
        self.rewards = np.zeros(n)
        self.truncated = np.zeros(n, np.bool_)
        self.masks = np.zeros((n, P.ACTIONS), np.bool_)
        self.facts = np.zeros((n, len(L.FACTS)), np.int32)

    def reset(self, seeds: NDArray[np.uint64]) -> None:
        self._lines.seeds[:] = np.asarray(seeds, np.uint64)[self._lines.sorted]
        self._begin(0)

    def _begin(self, episode: int) -> None:
        self._lines.begin(episode)
        self.rewards[:] = 0
        self._show(self._no_facts())

    def _no_facts(self) -> NDArray[np.int32]:
        facts = np.zeros((len(L.FACTS), len(self.rewards)), np.int32)
        facts[L.FACT_CLOSED_STATION] = -1
        return facts

    def step(self, commands: NDArray[np.int32]) -> None:
        """Advance every row. ``commands``: (n, commands, 3) verb, station and argument of each."""
        lines = self._lines
        if self.truncated[0]:
            self._begin(int(lines.whole(L.I_EPISODE)[0]) + 1)
            return
        t, facts = int(lines.whole(L.I_TICK)[0]), self._no_facts()
        reward = np.zeros(lines.n)
        lines.whole(L.I_INVALID)[:] = 0
        for c in range(self.commands):
            command(lines, commands[lines.sorted, c].T.astype(np.int64), t, reward, facts)
        plant.tick(lines, t, reward)
        self.rewards[lines.sorted] = reward
        self._show(facts)

    def _show(self, facts: NDArray[np.int32]) -> None:
        lines = self._lines
        seen.observe(lines, self.observations)
        if self._masked:
            seen.possible(lines, self.masks)
        seen.tell(lines, facts)
        self.facts[lines.sorted] = facts.T
        self.truncated[:] = lines.whole(L.I_OVER)[0] == 1

    def load(self, *state: NDArray[np.generic]) -> None:
        """Go on from a state: the rows of short, whole and real numbers."""
        self._lines.load(*state)

    def digest(self) -> str:
        return digest(*self._lines.as_rows(), self.observations, self.rewards)
