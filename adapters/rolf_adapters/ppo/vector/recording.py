"""Recording: of some rows of a collection, the episodes as the trajectory buffer keeps them, with what came of what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer.edges import Causes, NoEdges
from rolf_adapters.buffer.episode import Episode
from rolf_adapters.buffer.graph import NO_EDGES, Graph
from rolf_adapters.buffer.listening import listener
from rolf_adapters.ppo.vector.collector import Collected, Flags
from rolf_adapters.ppo.vector.network import Seen
from rolf_adapters.ppo.vector.packing import Shown, packed
from rolf_adapters.row_info import of_row

Clock = Callable[[int, int], int]
"""Returns the time of an episode that begins in a row and a step of the collection."""


@dataclass(slots=True)
class _Piece:
    """An episode, or as much of it as was played."""

    row: int
    first: int
    """Step of the collection that it begins with."""
    name: str
    """What was played."""
    end: int = 0
    """Step of the collection after its last."""
    after: Shown | None = None
    """What the network would have been shown next, one row."""
    graph: Graph = NO_EDGES


class Recorder:
    """Watches rows of a collection; see `rolf_adapters.ppo.vector.collector.Watcher`.

    Args:
        envs: What is played.
        rows: How many are watched.
        name: What the environment is called.
    """

    def __init__(self, envs: Any, rows: int, name: str) -> None:
        self._causes: list[Causes] = [listener(envs.unwrapped) for _ in range(rows)]
        self._name = name
        self._rows: list[int] = []
        self._pieces: list[_Piece] = []
        self._open: dict[int, _Piece] = {}
        self._step = 0

    @property
    def knows_causes(self) -> bool:
        """Whether anything is told of what came of what."""
        return not any(isinstance(each, NoEdges) for each in self._causes)

    def watch(self, rows: Sequence[int]) -> Recorder:
        """Forget what was seen, and watch these rows from now on; as many as there was said to be."""
        self._rows, self._pieces, self._open, self._step = [*rows], [], {}, 0
        return self

    def begin(self, rows: Flags, observations: NDArray[np.float32], infos: Mapping[str, Any]) -> None:
        """See that episodes have begun in some rows."""
        for row, causes in zip(self._rows, self._causes, strict=True):
            if rows[row]:
                self._close(row, causes)
                told = of_row(infos, row)
                variant = told.get("variant_id", "")
                piece = _Piece(row, self._step, f"{self._name}/{variant}" if variant else self._name)
                self._open[row] = piece
                self._pieces.append(piece)
                causes.begin(observations[row], told)

    def step(self, actions: Any, seen: Seen, observations: NDArray[np.float32], infos: Mapping[str, Any]) -> None:
        """See what was done, and what came of it."""
        self._step += 1
        for row, causes in zip(self._rows, self._causes, strict=True):
            piece = self._open[row]
            causes.step(actions[row], observations[row], of_row(infos, row))
            piece.end = self._step
            piece.after = Shown(*(each[row : row + 1].numpy().copy() for each in seen))

    def episodes(self, kept: Collected, clock: Clock) -> Iterator[Episode]:
        """Yield what was played in the watched rows, in the order in which it began.

        Args:
            kept: What was collected.
            clock: Of the buffer's keys.
        """
        for row, causes in zip(self._rows, self._causes, strict=True):
            self._close(row, causes)
        for piece in self._pieces:
            yield _episode(piece, kept, clock(piece.row, piece.first))

    def _close(self, row: int, causes: Causes) -> None:
        if row in self._open:
            self._open.pop(row).graph = causes.graph()


def _episode(piece: _Piece, kept: Collected, time: int) -> Episode:
    steps, row = slice(piece.first, piece.end), piece.row
    assert piece.after is not None
    before: tuple[NDArray[Any], ...] = (kept.features, kept.words, kept.time, kept.previous, kept.allowed)
    after: tuple[NDArray[Any], ...] = piece.after
    states = Shown(
        *(
            np.concatenate([column[steps, row], last.astype(column.dtype)])
            for column, last in zip(before, after, strict=True)
        )
    )
    return Episode(
        piece.name,
        time,
        packed(states),
        {"action": kept.actions[steps, row].copy()},
        kept.rewards[steps, row].copy(),
        bool(kept.terminated[piece.end - 1, row]),
        piece.graph,
        {"logp": kept.logps[steps, row].copy(), "phase": kept.phases[steps, row].astype(np.int8)},
    )
