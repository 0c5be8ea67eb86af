"""Catalogue: what the index holds under which keys.

| key | value |
|---|---|
| ``e`` and the episode's number | `Entry`: place, time, environment, priorities, edges |
| ``k`` and the packed key of its first step | the episode's number |
| ``m`` | `Extent`, as JSON |
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer.errors import Damaged
from rolf_adapters.buffer.extent import Extent
from rolf_adapters.buffer.graph import Graph
from rolf_adapters.buffer.index import Index
from rolf_adapters.buffer.key import Key
from rolf_adapters.buffer.segments import Place

_ENTRY = struct.Struct("<IIQQQIHI")
"""Segment, steps, offset, length, time, edges; lengths of the environment's id and of the names of edges."""
_NUMBER = struct.Struct(">Q")
_EXTENT = b"m"


class Entry(NamedTuple):
    """What the index knows of an episode."""

    place: Place
    env_id: str
    timestamp: int
    priorities: NDArray[np.float32]
    """(T,) causal priority of each step."""
    graph: Graph

    @property
    def key(self) -> Key:
        """The key of the first step."""
        return Key(self.env_id, 0, self.timestamp)

    def packed(self) -> bytes:
        """Return it as bytes."""
        env_id, names = self.env_id.encode(), _names(self.graph.names) if len(self.graph) else b""
        segment, offset, length = self.place
        head = _ENTRY.pack(
            segment,
            len(self.priorities),
            offset,
            length,
            self.timestamp,
            len(self.graph),
            len(env_id),
            len(names),
        )
        return b"".join((head, self.priorities.tobytes(), self.graph.edges.tobytes(), env_id, names))


@lru_cache
def _names(names: tuple[str, ...]) -> bytes:
    return json.dumps(names).encode()


def unpacked(data: bytes) -> Entry:
    """Return the entry that was packed.

    Raises:
        Damaged: none was.
    """
    try:
        segment, steps, offset, length, timestamp, edges, id_length, names_length = _ENTRY.unpack_from(data)
        at = _ENTRY.size
        priorities = np.frombuffer(data, np.float32, steps, at)
        rows = np.frombuffer(data, np.uint32, 3 * edges, at := at + 4 * steps).reshape(edges, 3)
        env_id = data[(at := at + 12 * edges) : (at := at + id_length)].decode()
        names = tuple(json.loads(data[at : at + names_length])) if names_length else ()
    except (ValueError, struct.error) as error:
        raise Damaged(f"the index holds no entry of an episode: {error}") from error
    return Entry(Place(segment, offset, length), env_id, timestamp, priorities, Graph(rows, names))


def extent(index: Index) -> Extent | None:
    """Return which episodes there are; None: the index is new.

    Raises:
        Damaged: it says so in another format, or in none.
    """
    data = index.get(_EXTENT)
    return None if data is None else Extent.unpacked(data)


def put_extent(extent: Extent) -> tuple[bytes, bytes]:
    """Return what is to be stored so that the index holds an extent."""
    return _EXTENT, extent.packed()


def puts(number: int, entry: Entry) -> list[tuple[bytes, bytes]]:
    """Return what is to be stored of an episode."""
    packed = _NUMBER.pack(number)
    return [(b"e" + packed, entry.packed()), (b"k" + entry.key.packed(), packed)]


def put_key(number: int, entry: Entry) -> tuple[bytes, bytes]:
    """Return what is to be stored so that an episode is found by its key."""
    return b"k" + entry.key.packed(), _NUMBER.pack(number)


def deletes(index: Index, number: int, entry: Entry) -> list[bytes]:
    """Return what is to be deleted of an episode; its key not where a later episode has it."""
    keys = [b"e" + _NUMBER.pack(number)]
    if find(index, entry.key) == number:
        keys.append(b"k" + entry.key.packed())
    return keys


def entry(index: Index, number: int) -> Entry | None:
    """Return what an index knows of an episode; None: nothing."""
    data = index.get(b"e" + _NUMBER.pack(number))
    return None if data is None else unpacked(data)


def entries(index: Index, start: int, stop: int) -> Iterator[tuple[int, Entry]]:
    """Yield episodes with numbers from ``start`` to before ``stop``."""
    for key, data in index.scan(b"e" + _NUMBER.pack(start), b"e" + _NUMBER.pack(stop)):
        yield _NUMBER.unpack(key[1:])[0], unpacked(data)


def find(index: Index, key: Key) -> int | None:
    """Return the number of the episode that a step belongs to; None: there is none. Its step is not looked at."""
    data = index.get(b"k" + Key(key.env_id, 0, key.timestamp).packed())
    return None if data is None else int(_NUMBER.unpack(data)[0])
