"""Layout: where the next episodes lie, segment after segment: a function of what is there and what comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer import framing
from rolf_adapters.buffer.catalogue import Entry
from rolf_adapters.buffer.extent import Extent
from rolf_adapters.buffer.graph import Graph
from rolf_adapters.buffer.priority import priorities
from rolf_adapters.buffer.segments import Place, Run


class Pending(NamedTuple):
    """An episode that is to be written."""

    body: bytes
    env_id: str
    timestamp: int
    rewards: NDArray[np.float64]
    graph: Graph


class Tail(NamedTuple):
    """What an extent does not say of the segments."""

    firsts: dict[int, int]
    """Segments that are not dropped -> number of their first episode."""
    offsets: list[int]
    """Where the episodes of the last segment lie."""


class Plan(NamedTuple):
    """What is to be written, and what there will be then."""

    runs: list[Run]
    entries: list[Entry]
    extent: Extent
    tail: Tail


def lay_out(pending: Sequence[Pending], extent: Extent, tail: Tail, segment_size: int) -> Plan:
    """Lay episodes out behind what there is.

    Args:
        pending: The episodes, in their order.
        extent: What there is.
        tail: The rest of it; left as it is.
        segment_size: What a segment takes, unless a single episode takes more [bytes].
    """
    segment, offset, number = extent.segment, extent.offset, extent.next
    firsts, offsets = dict(tail.firsts), list(tail.offsets)
    entries: list[Entry] = []
    runs = [Run(segment, offset, [])]
    values = priorities([each.graph for each in pending], [each.rewards for each in pending])
    for (body, env_id, timestamp, _, graph), worth in zip(pending, values, strict=True):
        length = len(body)
        size = framing.size(length)
        if offset > framing.HEADER_SIZE and offset + size > segment_size:
            runs[-1].chunks.append(framing.seal(offsets))
            segment, offset, offsets = segment + 1, 0, []
            runs.append(Run(segment, 0, []))
        if offset == 0:
            runs[-1].chunks.append(framing.header(segment, number))
            offset = framing.HEADER_SIZE
        firsts.setdefault(segment, number)
        entries.append(Entry(Place(segment, offset, length), env_id, timestamp, worth, graph))
        runs[-1].chunks.extend(framing.framed(number, body))
        offsets.append(offset)
        offset += size
        number += 1
    return Plan(runs, entries, replace(extent, next=number, segment=segment, offset=offset), Tail(firsts, offsets))
