"""Table: in memory, a row an episode, of what drawing and reading one needs of the index."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer.catalogue import Entry
from rolf_adapters.buffer.sampling import preference
from rolf_adapters.buffer.segments import Place
from rolf_adapters.buffer.sumtree import SumTree

_ROW = np.dtype(
    [("segment", "u4"), ("offset", "u8"), ("length", "u8"), ("steps", "i8"), ("least", "f8"), ("most", "f8")]
)
_TOGETHER = 4_096
"""Episodes that are added at once."""


class Table:
    """The episodes that can be drawn.

    Args:
        alpha: Exponent of the priorities.
    """

    def __init__(self, alpha: float) -> None:
        self._alpha = alpha
        self._rows = np.zeros(16, _ROW)
        self.first = 0
        """Number of the oldest."""
        self.count = 0
        self.tree = SumTree()
        """How an episode is weighed: the sum over its steps."""
        self._ends: NDArray[np.int64] | None = None

    @property
    def rows(self) -> NDArray[np.void]:
        """A row an episode, as a view."""
        return self._rows[: self.count]

    @property
    def ends(self) -> NDArray[np.int64]:
        """(n,) how many steps there are up to the end of each episode."""
        if self._ends is None:
            self._ends = np.cumsum(self.rows["steps"])
        return self._ends

    @property
    def least_episode(self) -> float:
        """The smallest weight that an episode has."""
        return float(self.tree.weights.min())

    @property
    def least_step(self) -> float:
        """The smallest weight that a step has."""
        return float(self.rows["least"].min())

    def preference(self, priorities: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the weight of each step of an episode."""
        return preference(priorities, self._alpha)

    def place(self, row: int) -> Place:
        """Return where the episode of a row lies."""
        segment, offset, length, *_ = self._rows[row].item()
        return Place(segment, offset, length)

    def places(self, rows: NDArray[np.int64]) -> list[tuple[int, int, int]]:
        """Return where the episodes of rows lie, as plain tuples: thousands are asked for at once."""
        chosen = self._rows[rows]
        columns = (chosen[name].tolist() for name in ("segment", "offset", "length"))
        return list(zip(*columns, strict=True))

    def begin(self, first: int, entries: Iterable[Entry]) -> None:
        """Hold other episodes, numbered from ``first``."""
        self._rows = np.zeros(16, _ROW)
        self.first, self.count = first, 0
        self.tree = SumTree()
        self.extend(entries)

    def since(self, first: int) -> Table:
        """Return a table of the episodes from one on, to be drawn from: as if those before it had been dropped.

        Itself where none comes before it. What it costs depends on how many are left, not on how many come before.

        Raises:
            ValueError: no episode can have that number, or none has it yet.
        """
        if first < 0:
            raise ValueError(f"first={first!r} is no episode's number; give 0 or more")
        away = first - self.first
        if away <= 0 or self.count == 0:
            return self
        if away >= self.count:
            latest = self.first + self.count - 1
            raise ValueError(f"first={first!r}: there is no such episode yet; the latest is {latest}")
        rest = Table(self._alpha)
        rest._rows = self.rows[away:]
        rest.first, rest.count = first, self.count - away
        rest.tree.rebuild(self.tree.weights[away:])
        return rest

    def extend(self, entries: Iterable[Entry]) -> None:
        """Add episodes at the end; all of them, or none where the iteration fails."""
        given = [(entry.place, entry.priorities) for entry in entries]
        if self.count + len(given) > len(self._rows):
            grown = np.zeros(max(2 * len(self._rows), self.count + len(given)), _ROW)
            grown[: self.count] = self.rows
            self._rows = grown
        for start in range(0, len(given), _TOGETHER):
            self._extend(given[start : start + _TOGETHER])
        self._ends = None

    def _extend(self, given: list[tuple[Place, NDArray[np.float32]]]) -> None:
        lengths = np.array([len(values) for _, values in given])
        starts = np.cumsum(lengths) - lengths
        priorities = np.concatenate([values for _, values in given])
        weights = self.preference(priorities)
        rows = self._rows[self.count : self.count + len(given)]
        for name, column in zip(Place._fields, zip(*(place for place, _ in given), strict=True), strict=True):
            rows[name] = column
        rows["steps"] = lengths
        rows["least"], rows["most"] = np.minimum.reduceat(weights, starts), np.maximum.reduceat(priorities, starts)
        self.count += len(given)
        self.tree.extend(_sums(weights, lengths))

    def drop(self, first: int) -> None:
        """Forget all before an episode."""
        away = first - self.first
        if away == 0:
            return
        weights = self.tree.weights[away:].copy()
        self._rows = self.rows[away:].copy()
        self.first, self.count = first, self.count - away
        self.tree.rebuild(weights)
        self._ends = None


def _sums(weights: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of runs of so many weights.

    One weight after the other, as they are drawn from: in another order a sum would have other bits.
    """
    starts = np.cumsum(lengths) - lengths
    sums = np.empty(len(lengths))
    order = np.argsort(lengths, kind="stable")
    alike, counts = np.unique(lengths, return_counts=True)
    for length, rows in zip(alike.tolist(), np.split(order, counts.cumsum()[:-1]), strict=True):
        sums[rows] = weights[starts[rows, None] + np.arange(length)].cumsum(axis=1)[:, -1]
    return sums
