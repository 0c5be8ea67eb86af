"""Episode: what happened between a reset and the end, in columns, with what came of what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer.graph import NO_EDGES, Graph
from rolf_adapters.buffer.key import LAST_TIME, LONGEST_ENV_ID

Column: TypeAlias = NDArray[Any] | Sequence[str] | Sequence[bytes] | Sequence[NDArray[Any]]
"""A row a step: an array, or a sequence of texts, of bytes, or of one-dimensional arrays of one dtype."""
Columns: TypeAlias = Mapping[str, Column]


class Node(NamedTuple):
    """One step of an episode."""

    state: dict[str, Any]
    """What the agent acted on: a value of each column of ``Episode.states``."""
    action: dict[str, Any]
    reward: float
    next_state: dict[str, Any]
    """What it saw then."""
    extras: dict[str, Any]


@dataclass(slots=True, eq=False)  # frozen it would take two of the nine microseconds that reading one takes
class Episode:
    """An episode of T steps; not to be changed."""

    env_id: str
    """Which environment it was played in; colons are allowed."""
    timestamp: int
    """Its time on the caller's logical clock (`rolf_adapters.buffer.key`)."""
    states: Columns
    """T + 1 rows: what was seen before each step, and at the end."""
    actions: Columns
    """T rows: what was done."""
    rewards: NDArray[np.float64]
    """(T,) what was got for it."""
    terminated: bool = False
    """Whether it ended by itself. If not, it was truncated."""
    graph: Graph = NO_EDGES
    """What came of what."""
    extras: Columns = field(default_factory=dict)
    """T rows of whatever else is wanted of a step: log-probabilities, masks, segments."""

    def __len__(self) -> int:
        return len(self.rewards)

    def node(self, step: int) -> Node:
        """Return one step.

        Raises:
            IndexError: there is none of that number.
        """
        if not 0 <= step < len(self):
            raise IndexError(f"step {step!r} of an episode of {len(self)}; give a number from 0 to {len(self) - 1}")
        return Node(
            _row(self.states, step),
            _row(self.actions, step),
            float(self.rewards[step]),
            _row(self.states, step + 1),
            _row(self.extras, step),
        )


def _row(columns: Columns, row: int) -> dict[str, Any]:
    return {name: column[row] for name, column in columns.items()}


def check(episode: Episode) -> None:
    """Refuse an episode that is none.

    Raises:
        ValueError: it has no steps, its columns differ in length, its edges lead out of it, or its names are no names.
        TypeError: the time is no whole number, or the rewards are no array.
    """
    if not isinstance(episode.rewards, np.ndarray):
        raise TypeError(f"rewards are of type {type(episode.rewards).__name__}; give an array of floats")
    steps = len(episode.rewards)
    if episode.rewards.ndim != 1 or steps == 0:
        raise ValueError(f"rewards have shape {episode.rewards.shape}; give one a step, and at least one: shape (T,)")
    if np.count_nonzero(np.isfinite(episode.rewards)) < steps:
        raise ValueError("a reward is not finite, so that no step before it has a priority; leave the episode out")
    length = len(episode.env_id.encode())
    if not 0 < length <= LONGEST_ENV_ID:
        raise ValueError(f"env_id {episode.env_id[:40]!r} has {length} bytes; give 1 to {LONGEST_ENV_ID}")
    if not isinstance(episode.timestamp, int) or isinstance(episode.timestamp, bool):
        raise TypeError(f"timestamp={episode.timestamp!r} is no whole number; give the time of a logical clock")
    if not 0 <= episode.timestamp <= LAST_TIME:
        raise ValueError(f"timestamp={episode.timestamp!r} is out of range; give 0 to {LAST_TIME}")
    _check_rows("states", episode.states, steps + 1, "T + 1")
    _check_rows("actions", episode.actions, steps, "T")
    _check_rows("extras", episode.extras, steps, "T")
    if len(episode.graph) and (last := np.maximum.reduce(episode.graph.edges[:, 1])) >= steps:
        raise ValueError(f"an edge leads to step {last}; the steps are 0 to {steps - 1}")


def _check_rows(group: str, columns: Columns, rows: int, said: str) -> None:
    for name, column in columns.items():
        if len(column) != rows:
            raise ValueError(f"{group}[{name!r}] has {len(column)} rows; give {said} = {rows}")
