"""Decoding: an episode from the bytes that `encoding` makes, each column when it is asked for.

Whoever draws episodes may look at little of what is in them. So a `KeptEpisode` knows where its columns lie, makes the
views of a group when it is first asked for, and has them then as any `Episode` has.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import fields
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer.encoding import ACTIONS, EXTRAS, GRAPH, HEAD, MOST_LAYOUTS, REWARDS, STATES, TERMINATED
from rolf_adapters.buffer.episode import Columns, Episode
from rolf_adapters.buffer.errors import Damaged
from rolf_adapters.buffer.graph import NO_EDGES, Graph

_HEAD_SIZE = HEAD.size
_COLUMNS = (STATES, ACTIONS, EXTRAS)


class _Step(NamedTuple):
    """What reading one array takes."""

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    """From where the first array begins [bytes]."""


class _Plan(NamedTuple):
    """What reading the episodes of a layout takes."""

    groups: dict[str, list[_Step]]
    names: tuple[str, ...]
    """The kinds of edges."""
    size: int
    """Of all arrays [bytes]."""


_plans: dict[bytes, _Plan] = {}


class KeptEpisode(Episode):
    """An episode whose columns are read from a buffer when they are asked for; made by `decode`."""

    __slots__ = ("_at", "_buffer", "_plan", "_start")
    _buffer: Any
    _start: int
    """Where its bytes begin."""
    _at: int
    """Where its arrays begin."""
    _plan: _Plan

    def __getattr__(self, name: str) -> Any:
        # Python comes here for a slot in which nothing is yet: once a field, as it is in its slot afterwards.
        if name in _COLUMNS:
            value: Any = _columns(self._buffer, self._at, self._plan.groups[name])
        elif name == REWARDS:
            value = _only(self._buffer, self._at, self._plan.groups[REWARDS])
        elif name == GRAPH:
            edges = self._plan.groups[GRAPH]
            value = Graph(_only(self._buffer, self._at, edges), self._plan.names) if edges else NO_EDGES
        elif name == "env_id":
            begin = self._start + _HEAD_SIZE
            value = self._buffer[begin : begin + HEAD.unpack_from(self._buffer, self._start)[2]].decode()
        else:
            raise AttributeError(f"an episode has no {name!r}")
        setattr(self, name, value)
        return value

    def __reduce__(self) -> tuple[type[Episode], tuple[Any, ...]]:
        """Be copied and sent to other processes as what it holds: a map of a file cannot be."""
        return Episode, tuple(getattr(self, field.name) for field in fields(Episode))


def decode(buffer: Any, start: int = 0) -> Episode:
    """Return the episode whose bytes begin at a place of a buffer; its arrays are views of the buffer, not writeable.

    Raises:
        Damaged: the bytes are those of no episode.
    """
    try:
        timestamp, flags, id_length, layout_length = HEAD.unpack_from(buffer, start)
        middle = start + _HEAD_SIZE + id_length
        end = middle + layout_length
        said = bytes(buffer[middle:end])
        plan = _plans.get(said) or _learned(said)
    except (ValueError, TypeError, KeyError, struct.error) as error:
        raise Damaged(f"the bytes at {start} are no episode: {error}") from error
    at = end + -(end - start) % 8
    if at + plan.size > len(buffer):
        raise Damaged(f"the bytes at {start} are no episode: they end before its arrays do")
    episode = KeptEpisode.__new__(KeptEpisode)
    episode.timestamp = timestamp
    episode.terminated = flags & TERMINATED != 0
    episode._buffer, episode._start, episode._at, episode._plan = buffer, start, at, plan
    return episode


def _learned(said: bytes) -> _Plan:
    """Return what a layout says, and keep it."""
    names, arrays = json.loads(said)
    groups: dict[str, list[_Step]] = {group: [] for group in (*_COLUMNS, REWARDS, GRAPH)}
    offset = 0
    for group, name, kind, code, shape in arrays:
        dtype = np.dtype(code)
        groups[group].append(_Step(name, kind, tuple(shape), dtype, offset))
        size = prod(shape) * dtype.itemsize
        offset += size + -size % 8
    if len(groups[REWARDS]) != 1:
        raise ValueError("its layout says nothing of rewards")
    if len(_plans) >= MOST_LAYOUTS:
        _plans.clear()
    _plans[said] = _Plan(groups, tuple(names), offset)
    return _plans[said]


def _only(buffer: Any, at: int, steps: list[_Step]) -> NDArray[Any]:
    (step,) = steps
    return np.ndarray(step.shape, step.dtype, buffer, at + step.offset)


def _columns(buffer: Any, at: int, steps: list[_Step]) -> dict[str, Any]:
    """Return the columns of a group, whose arrays lie from a place on."""
    found: dict[str, Any] = {}
    ends: NDArray[Any] | None = None
    for name, kind, shape, dtype, offset in steps:
        array: NDArray[Any] = np.ndarray(shape, dtype, buffer, at + offset)
        if kind == "array":
            found[name] = array
        elif kind == "ends":
            ends = array
        else:
            assert ends is not None, "a ragged column follows its ends"
            found[name] = _ragged(kind, ends, array)
    return found


def _ragged(kind: str, ends: NDArray[Any], data: NDArray[Any]) -> Columns | Sequence[Any]:
    rows = np.split(data, ends[:-1])
    if kind == "text":
        return tuple(row.tobytes().decode("utf-8", "surrogatepass") for row in rows)
    return tuple(row.tobytes() for row in rows) if kind == "bytes" else tuple(rows)
