"""Encoding: an episode as bytes, its arrays as they lie in memory, so that reading one (`decoding`) copies nothing.

A head, the environment's id and a layout in JSON, then the arrays, each at a multiple of 8 bytes. Episodes of one shape
have one layout, which is made and read once. There is no pickle in it: reading an episode runs nothing.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer.episode import Episode

HEAD = struct.Struct("<QHHI")
"""Time, flags, length of the environment's id, length of the layout."""
TERMINATED = 1
_DTYPES = "biuf"
"""Kinds of dtypes that may be kept: truth values, whole numbers, floats."""
MOST_LAYOUTS = 4_096
_PADS = [bytes(length) for length in range(8)]
STATES, ACTIONS, EXTRAS, REWARDS, GRAPH = GROUPS = ("states", "actions", "extras", "rewards", "graph")

_Field: TypeAlias = tuple[str, str, str, np.dtype[Any], tuple[int, ...]]
"""Group, name, kind, dtype and shape of an array. The kind is ``array``, or what a ragged column holds: ``text``,
``bytes`` or ``arrays``; before it comes ``ends``, where its rows end."""


class _Written(NamedTuple):
    """What writing the episodes of a layout takes."""

    said: bytes
    pads: list[bytes]
    """What fills each array up to a multiple of 8 bytes."""


_written: dict[tuple[tuple[str, ...], tuple[_Field, ...]], _Written] = {}


def encode(episode: Episode) -> bytes:
    """Return an episode as bytes.

    Raises:
        TypeError: a column is of something that cannot be kept.
    """
    fields: list[_Field] = []
    arrays: list[NDArray[Any]] = []
    for group, columns in ((STATES, episode.states), (ACTIONS, episode.actions), (EXTRAS, episode.extras)):
        for name, column in columns.items():
            if isinstance(column, np.ndarray):
                fields.append((group, name, "array", column.dtype, column.shape))
                arrays.append(column)
            else:
                _add_ragged(fields, arrays, group, name, column)
    graph, rewards = episode.graph, np.asarray(episode.rewards, np.float64)
    fields.append((REWARDS, "", "array", rewards.dtype, rewards.shape))
    arrays.append(rewards)
    if len(graph.edges):
        fields.append((GRAPH, "", "array", graph.edges.dtype, graph.edges.shape))
        arrays.append(graph.edges)
    key = graph.names, tuple(fields)
    said, pads = _written.get(key) or _lay_out(key)
    env_id = episode.env_id.encode()
    head = HEAD.pack(episode.timestamp, TERMINATED if episode.terminated else 0, len(env_id), len(said))
    chunks: list[Any] = [head, env_id, said, _PADS[-(len(head) + len(env_id) + len(said)) % 8]]
    for array, pad in zip(arrays, pads, strict=True):
        chunks += array if array.flags.c_contiguous else array.tobytes(), pad
    return b"".join(chunks)


def _add_ragged(fields: list[_Field], arrays: list[NDArray[Any]], group: str, name: str, column: Sequence[Any]) -> None:
    kind, rows = _rows(group, name, column)
    ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
    data = np.concatenate(rows)
    fields.append((group, name, "ends", ends.dtype, ends.shape))
    fields.append((group, name, kind, data.dtype, data.shape))
    arrays += [ends, data]


def _rows(group: str, name: str, column: Sequence[Any]) -> tuple[str, list[NDArray[Any]]]:
    """Return what a ragged column holds, and its rows as arrays."""
    if all(isinstance(row, str) for row in column):
        # surrogates are how Python keeps bytes that are no text: they come back as they were
        return "text", [np.frombuffer(row.encode("utf-8", "surrogatepass"), np.uint8) for row in column]
    if all(isinstance(row, bytes) for row in column):
        return "bytes", [np.frombuffer(row, np.uint8) for row in column]
    kinds = {(row.dtype, row.ndim) if isinstance(row, np.ndarray) else type(row).__name__ for row in column}
    if len(kinds) == 1:
        only = next(iter(kinds))
        if isinstance(only, tuple) and only[1] == 1:
            _check_dtype(group, name, only[0])
            return "arrays", list(column)
    found = ", ".join(sorted(map(str, kinds)))
    raise TypeError(
        f"{group}[{name!r}] holds {found}; give an array, or a sequence of texts, of bytes, or of one-dimensional "
        f"arrays of one dtype"
    )


def _check_dtype(group: str, name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in _DTYPES:
        raise TypeError(f"{group}[{name!r}] has dtype {dtype}; allowed are truth values, whole numbers and floats")


def _lay_out(key: tuple[tuple[str, ...], tuple[_Field, ...]]) -> _Written:
    """Return what writing episodes takes that have these kinds of edges and these arrays."""
    names, fields = key
    for group, name, _, dtype, _ in fields:
        _check_dtype(group, name, dtype)
    said = [[group, name, kind, dtype.str, shape] for group, name, kind, dtype, shape in fields]
    pads = [_PADS[-prod(shape) * dtype.itemsize % 8] for _, _, _, dtype, shape in fields]
    if len(_written) >= MOST_LAYOUTS:  # texts of ever new lengths have ever new layouts
        _written.clear()
    text = json.dumps([names, said], separators=(",", ":"), ensure_ascii=True)
    _written[key] = _Written(text.encode(), pads)
    return _written[key]
