"""Graph: what in an episode came of what, as edges between its steps.

A step is a node: the state, the action, the reward and the next state. An edge leads from a step to a later one that
would not be what it is without it. Time runs one way, so the graph has no cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Edge(NamedTuple):
    """One step on which another depends."""

    cause: int
    """Number of the step, from 0."""
    effect: int
    """A later one."""
    kind: str
    """How it depends on it: ``"alarm"``, ``"file"`` …"""


@dataclass(slots=True, eq=False)  # not frozen, as an `Episode` is not
class Graph:
    """The edges of an episode; iterating over it yields them as `Edge`. Not to be changed."""

    edges: NDArray[np.uint32]
    """(edges, 3) cause, effect, and which of the names; sorted."""
    names: tuple[str, ...]
    """The kinds of edges that there are."""

    @classmethod
    def of(cls, edges: Iterable[Edge]) -> Graph:
        """Return the graph of edges: sorted, each once.

        Raises:
            ValueError: an edge does not lead to a later step.
        """
        kept = sorted(set(edges))
        for edge in kept:
            if not 0 <= edge.cause < edge.effect:
                raise ValueError(f"{edge} does not lead from a step to a later one; give 0 <= cause < effect")
        names = tuple(sorted({edge.kind for edge in kept}))
        numbers = {name: number for number, name in enumerate(names)}
        rows = [(edge.cause, edge.effect, numbers[edge.kind]) for edge in kept]
        return cls(np.array(rows, np.uint32).reshape(len(rows), 3), names)

    def __len__(self) -> int:
        return len(self.edges)

    def __iter__(self) -> Iterator[Edge]:
        for cause, effect, kind in self.edges.tolist():
            yield Edge(cause, effect, self.names[kind])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


NO_EDGES = Graph.of(())
