"""Recovery: what a writer that died left behind the last place that the index knows.

What is whole is taken up, what is torn is removed. Where there is no index, all that there is was left behind.
"""

from __future__ import annotations

import logging
import os
from typing import NamedTuple

from rolf_adapters.buffer import framing
from rolf_adapters.buffer.errors import Damaged
from rolf_adapters.buffer.extent import Extent
from rolf_adapters.buffer.segments import Place, Segments

_logger = logging.getLogger(__name__)


class Recovered(NamedTuple):
    """What was found."""

    episodes: list[tuple[int, Place]]
    """Numbers and places."""
    segment: int
    """Where writing goes on."""
    offset: int


def beginning(segments: Segments) -> Extent:
    """Return where to begin to look where there is no index."""
    present = segments.present()
    if not present:
        return Extent()
    with segments.path(present[0]).open("rb") as file:
        first = framing.first_of(file.read(framing.HEADER_SIZE))
    return Extent(first, first, present[0], 0, first)


def recover(segments: Segments, extent: Extent, *, careful: bool) -> Recovered:
    """Find what lies behind an extent, and remove what is torn.

    Args:
        segments: Where to look.
        extent: What is known.
        careful: Remove nothing but what is torn at the very end: what is found may have been committed.

    Raises:
        Damaged: ``careful``, and there is more behind what is torn.
    """
    found: list[tuple[int, Place]] = []
    segment, offset, number = extent.segment, extent.offset, extent.next
    while segments.path(segment).exists():
        data = segments.path(segment).read_bytes()
        if offset == 0:
            if not framing.is_header(data, segment, number):
                break
            offset = framing.HEADER_SIZE
        scanned = framing.scan(data, offset, number)
        found += [(record.number, Place(segment, record.offset, record.length)) for record in scanned.records]
        number += len(scanned.records)
        if not scanned.sealed:
            if careful and segments.path(segment + 1).exists():
                raise Damaged(
                    f"{str(segments.path(segment))!r} is damaged at byte {scanned.end}, and there are segments after "
                    f"it; without the index they cannot be told from what is torn: put the index back"
                )
            _tear(segments, segment, scanned.end, len(data))
            offset = scanned.end
        if scanned.records:  # who wrote them may have died before they were on the disk; the index is to know of them
            segments.settle(segment)
        if not scanned.sealed:
            break
        segment, offset = segment + 1, 0
    for later in segments.present():
        if later > segment or (later == segment and offset == 0):
            _logger.warning("%s was begun and nothing in it is whole; it is removed", segments.path(later))
            segments.remove(later)
    return Recovered(found, segment, offset)


def _tear(segments: Segments, segment: int, end: int, length: int) -> None:
    if end < length:
        _logger.warning("%s: the last %d bytes are torn and removed", segments.path(segment), length - end)
        os.truncate(segments.path(segment), end)
