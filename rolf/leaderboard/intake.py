"""Intake: files of strangers, read within bounds.

A submission may be anything: links that lead out of it, a small file that decompresses to an endless one, JSON nested a
million deep, numbers that are none. Whatever is read here costs a bounded amount of memory, and is either plain data or
a reason for refusing it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from rolf.leaderboard.problem import Problems, quoted

DOCUMENT = 4 << 20
"""Largest submission.json and lock.json [bytes]."""
LINE = 8 << 20
"""Longest line of a file, after decompression [bytes]."""
UNPACKED = 1 << 30
"""Most that one file may decompress to [bytes]."""
WHOLE = 64 << 20
"""Most that the trajectory of one episode may decompress to, for it is held at once [bytes]."""
FILES = ("lock.json", "results.jsonl", "submission.json")
FOLDER = "trajectories"
WELCOME = ("README.md",)
"""What else may lie in a submission."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""What files in it may be called."""


class Refused(ValueError):
    """A file is not read any further; says why."""


def inventory(folder: Path, most: int, problems: Problems) -> dict[str, int]:
    """Return the files of a submission, by name relative to it, with their sizes [bytes].

    Args:
        folder: The submission.
        most: Files that it may have at most; the folder is not read beyond them.
        problems: Gets what is no file, what has no place there, and what is too much.
    """
    found: dict[str, int] = {}
    for name in _listed(folder, "", most, found, problems):
        if name == FOLDER:
            for inside in _listed(folder, f"{FOLDER}/", most, found, problems):
                problems.add(f"{FOLDER}/{inside}", "a folder has no place here", advice="remove it")
        else:
            problems.add(quoted(name), "this folder has no place in a submission", advice="remove it")
    for name in FILES:
        if name not in found:
            problems.add(name, "it is missing", advice="hand in the whole folder that `rolf eval --out` wrote")
    for name in sorted(found):
        if "/" not in name and name not in (*FILES, *WELCOME):
            reason = "an evaluation that has not ended" if ".partial" in name else "this file has no place here"
            advice = "run the same `rolf eval` to its end" if ".partial" in name else "remove it"
            problems.add(name, reason, advice=advice)
    return found


def _listed(folder: Path, below: str, most: int, found: dict[str, int], problems: Problems) -> Iterator[str]:
    """Add the files of one folder to those found, and yield the names of its folders."""
    with os.scandir(folder / below) as entries:
        for entry in entries:
            if len(found) >= most:
                problems.add(below or ".", f"there are more than {most} files", advice="hand in what `rolf eval` wrote")
                return
            if not NAME.fullmatch(entry.name):
                problems.add(f"{below}{quoted(entry.name)}", "no file of a submission is called so", advice="remove it")
                continue
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                yield entry.name
            elif stat.S_ISREG(status.st_mode):
                found[f"{below}{entry.name}"] = status.st_size
            else:
                kind = "a link" if stat.S_ISLNK(status.st_mode) else "no ordinary file"
                problems.add(f"{below}{entry.name}", f"it is {kind}", advice="put the file itself there")


def opened(folder: Path, name: str) -> BufferedReader:
    """Open a file that `inventory` found; never through a link.

    Raises:
        Refused: it is no ordinary file.
        OSError: it cannot be read.
    """
    handle = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    file = os.fdopen(handle, "rb")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise Refused("it is no ordinary file")
    return file


def sha256(folder: Path, name: str) -> str:
    """Return the SHA-256 of a file as it lies there."""
    with opened(folder, name) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def document(folder: Path, name: str) -> Any:
    """Return what a JSON file holds.

    Raises:
        Refused: it is too large, or not strictly JSON.
    """
    with opened(folder, name) as file:
        raw = file.read(DOCUMENT + 1)
    if len(raw) > DOCUMENT:
        raise Refused(f"it has more than {DOCUMENT} bytes")
    return strict(raw)


def lines(folder: Path, name: str, *, most: int, unpacked: int = UNPACKED) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers, from 1; one whose name ends in ``.gz`` is decompressed.

    Args:
        folder: The submission.
        name: The file, relative to it.
        most: Lines that it may have.
        unpacked: Bytes that it may come to.

    Raises:
        Refused: it is damaged, or more than that.
    """
    left = unpacked
    with opened(folder, name) as plain:
        file = cast(IO[bytes], gzip.GzipFile(fileobj=plain)) if name.endswith(".gz") else plain
        number = 0
        while raw := _line(file, number + 1, min(LINE, left)):
            number, left = number + 1, left - len(raw)
            if number > most:
                raise Refused(f"it has more than {most} lines")
            yield number, raw


def _line(file: IO[bytes], number: int, longest: int) -> bytes:
    try:
        raw = file.readline(longest + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Refused(f"it is damaged, or not compressed by gzip: {error}") from error
    if len(raw) > longest:
        raise Refused(f"line {number} makes it longer than any such file is; more than {longest} bytes are not read")
    if raw and not raw.endswith(b"\n"):
        raise Refused(f"line {number} was cut off")
    return raw


def strict(raw: bytes, *, nan: bool = False) -> Any:
    """Return what JSON says, and nothing that only Python's reader takes for JSON.

    Args:
        raw: The text.
        nan: Whether NaN and infinities are taken, which an environment may well tell.

    Raises:
        Refused: it is no JSON, a key is there twice, or it is nested too deep.
    """
    try:
        return json.loads(raw, object_pairs_hook=_once, parse_constant=None if nan else _no_number)
    except RecursionError:
        raise Refused("it is nested too deep") from None
    except Refused:
        raise
    except ValueError as error:  # no UTF-8, no JSON, or a number of thousands of digits
        raise Refused(f"it is not JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(f"the key {quoted(twice)} is there twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise Refused(f"{text} is not JSON, and no number either")
