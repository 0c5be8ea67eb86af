"""Edges: what an environment tells of what came of what.

A `Causes` listens to an episode and then says its edges: `LineEdges` for a production line, `TerminalEdges` for a
terminal, `NoEdges` where nothing is told. Another environment's is a class with the same three methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from rolf_adapters.buffer.graph import NO_EDGES, Edge, Graph


class Causes(Protocol):
    """Listens to episodes, one after the other."""

    def begin(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Hear what ``reset`` returned."""

    def step(self, action: Any, observation: Any, info: Mapping[str, Any]) -> None:
        """Hear an action, and what ``step`` returned for it."""

    def graph(self) -> Graph:
        """Return the edges between the steps heard so far."""


class NoEdges:
    """Of an environment that tells nothing."""

    def begin(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Hear what ``reset`` returned."""

    def step(self, action: Any, observation: Any, info: Mapping[str, Any]) -> None:
        """Hear an action, and what came of it."""

    def graph(self) -> Graph:
        """Return no edges."""
        return NO_EDGES


class Edges:
    """Edges as they are found, none from a step to itself."""

    def __init__(self) -> None:
        self._found: set[Edge] = set()

    def add(self, cause: int | None, effect: int, kind: str) -> None:
        """Add an edge, unless there is no cause, or it is the step itself."""
        if cause is not None and cause < effect:
            self._found.add(Edge(cause, effect, kind))

    def graph(self) -> Graph:
        """Return all of them."""
        return Graph.of(self._found)
