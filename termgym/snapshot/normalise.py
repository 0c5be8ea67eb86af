"""Files whose bytes hold clock and inode figures by design: a digest of them would differ between two equal runs.

- git's index keeps what stat(2) said about each file, to notice changes without reading it
  (https://git-scm.com/docs/index-format). The size field is among it: git zeroes it where clock readings are too close.
- A byte-compiled Python module keeps the mtime of its source (https://peps.python.org/pep-0552/).

A diff compares and names what is left of them, too: a rewrite that only brings new clock figures is no other content.
"""

from __future__ import annotations

_INDEX_STAT = slice(0, 24)  # ctime, mtime, device, inode
_INDEX_OWNER_SIZE = slice(28, 40)  # uid, gid, size; the mode before them is content
_INDEX_FIXED = 40
_CLOCK_EXTENSIONS = frozenset({b"UNTR", b"FSMN", b"EOIE"})  # untracked cache, file system monitor, offset with hash
_HASH_SIZES = (20, 32)  # SHA-1 and SHA-256 repositories; the file does not say which
_PYC_HEADER = 16


def is_normalised(name: bytes, size: int) -> bool:
    """Return whether a file of this name, or path, may need it; only such files have to be in memory as a whole."""
    return (_last(name) == b"index" or name.endswith(b".pyc")) and size <= 64 << 20


def normalise(name: bytes, content: bytes) -> bytes:
    """Return the content without figures that two equal runs do not share."""
    if _last(name) == b"index" and content.startswith(b"DIRC"):
        for hash_size in _HASH_SIZES:
            plain = _index(content, hash_size)
            if plain is not None:
                return plain
    if name.endswith(b".pyc") and len(content) >= _PYC_HEADER and content[4:8] == bytes(4):
        return content[:8] + bytes(4) + content[12:]
    return content


def _last(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


def _index(content: bytes, hash_size: int) -> bytes | None:
    """Return a git index with its stat fields zeroed and its checksum dropped, or None if it does not parse."""
    version, count = int.from_bytes(content[4:8], "big"), int.from_bytes(content[8:12], "big")
    end = len(content) - hash_size
    if version not in (2, 3, 4) or end < 12:
        return None
    plain = bytearray(content[:end])
    at = 12
    for _ in range(count):
        following = _entry_end(plain, at, version, hash_size)
        if following is None:
            return None
        for part in (_INDEX_STAT, _INDEX_OWNER_SIZE):
            plain[at + part.start : at + part.stop] = bytes(part.stop - part.start)
        at = following
    extensions = _extensions(bytes(plain[at:]))
    return None if extensions is None else bytes(plain[:at]) + extensions


def _entry_end(content: bytearray, at: int, version: int, hash_size: int) -> int | None:
    """Return where the next entry begins."""
    flags_at = at + _INDEX_FIXED + hash_size
    if flags_at + 2 > len(content):
        return None
    extended = bool(content[flags_at] & 0x40) and version >= 3
    name_at = flags_at + (4 if extended else 2)
    if version == 4:  # names share the beginning of the one before, and are not padded
        while name_at < len(content) and content[name_at] & 0x80:
            name_at += 1
        name_at += 1
    nul = content.find(b"\0", name_at)
    if nul < 0:
        return None
    following = nul + 1 if version == 4 else at + ((nul - at) // 8 + 1) * 8
    return following if following <= len(content) else None


def _extensions(content: bytes) -> bytes | None:
    """Return the extensions that hold no clock figures, or None if they do not parse."""
    kept = []
    while content:
        end = 8 + int.from_bytes(content[4:8], "big")
        if len(content) < end or not content[:4].isalnum():
            return None
        if content[:4] not in _CLOCK_EXTENSIONS:
            kept.append(content[:end])
        content = content[end:]
    return b"".join(kept)
