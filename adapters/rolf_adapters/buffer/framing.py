"""Framing: how the records of a segment lie one behind the other, and how to tell where what is whole ends.

A segment is a file: a header, then records, each a head with a CRC-32 and a body, all at multiples of 8 bytes. One that
will not grow any more ends with a seal, a record that says where the others begin. Nothing is ever written over, so a
process that dies in the middle of writing leaves whole records and at most one that is torn.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

try:  # the same numbers, in a tenth of the time in the cache and in half of it in memory
    from isal.isal_zlib import crc32
except ImportError:  # where there is no wheel of it
    from zlib import crc32

_HEADER = struct.Struct("<8sIQI8x")
"""Magic, segment, number of its first episode, CRC-32 of these."""
_HEAD = struct.Struct("<4sIQQ")
"""Magic, CRC-32 of the rest of the head and the body, length of the body, number."""
_REST = struct.Struct("<QQ")
_MAGIC, _EPISODE, _SEAL = b"ROLFSEG1", b"EPIS", b"SEAL"
HEADER_SIZE = _HEADER.size
HEAD_SIZE = _HEAD.size


class Found(NamedTuple):
    """A record that is whole."""

    number: int
    """Of the episode."""
    offset: int
    """Where its head begins."""
    length: int
    """Of its body [bytes]."""


class Scanned(NamedTuple):
    """What was found in a segment from some place on."""

    records: list[Found]
    end: int
    """Where what is whole ends."""
    sealed: bool


def header(segment: int, first: int) -> bytes:
    """Return the header of a segment whose first episode has a number."""
    plain = _HEADER.pack(_MAGIC, segment, first, 0)[:20]
    return _HEADER.pack(_MAGIC, segment, first, crc32(plain))


def is_header(data: Any, segment: int, first: int) -> bool:
    """Return whether a segment begins as it should."""
    return bytes(data[:HEADER_SIZE]) == header(segment, first)


def first_of(data: bytes) -> int:
    """Return the number of the first episode that a segment's header tells; 0 where it is none."""
    return int(_HEADER.unpack(data)[2]) if len(data) == HEADER_SIZE else 0


def framed(number: int, body: bytes, magic: bytes = _EPISODE) -> tuple[bytes, bytes, bytes]:
    """Return head, body and padding of a record."""
    crc = crc32(body, crc32(_REST.pack(len(body), number)))
    return _HEAD.pack(magic, crc, len(body), number), body, bytes(-len(body) % 8)


def seal(offsets: list[int]) -> bytes:
    """Return the record that ends a segment with records at these places."""
    return b"".join(framed(len(offsets), np.array(offsets, "<u8").tobytes(), _SEAL))


def size(length: int) -> int:
    """Return what a record with a body of this length takes [bytes]."""
    return HEAD_SIZE + length + -length % 8


def is_whole(data: Any, offset: int, length: int, number: int) -> bool:
    """Return whether the record of an episode is what was written."""
    if offset + HEAD_SIZE + length > len(data):
        return False
    magic, crc, said, of = _HEAD.unpack_from(data, offset)
    return (magic, said, of) == (_EPISODE, length, number) and _crc(data, offset, length) == crc


def crc_of(data: Any, offset: int) -> int:
    """Return the CRC-32 that the head of a record holds."""
    return int(_HEAD.unpack_from(data, offset)[1])


def _crc(data: Any, offset: int, length: int) -> int:
    start = offset + 8
    return int(crc32(memoryview(data)[start : start + _REST.size + length]))


def scan(data: Any, offset: int, number: int) -> Scanned:
    """Return the whole records from a place on, up to the first that is not, or the seal.

    Args:
        data: The segment.
        offset: Where to begin.
        number: Of the episode that is to come first; they follow one another.
    """
    records: list[Found] = []
    while offset + HEAD_SIZE <= len(data):
        magic, crc, length, of = _HEAD.unpack_from(data, offset)
        if offset + HEAD_SIZE + length > len(data) or _crc(data, offset, length) != crc:
            break
        if magic == _SEAL:
            return Scanned(records, offset + size(length), True)
        if magic != _EPISODE or of != number:
            break
        records.append(Found(number, offset, length))
        offset += size(length)
        number += 1
    return Scanned(records, offset, False)
