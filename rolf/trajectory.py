"""Trajectory files: what happened in an environment, one JSON object a line, readable up to the moment of a crash.

The lines of a file are, in order: one ``header`` (which environment, made how, with which packages), then for every
episode one ``reset``, its ``step`` lines, and one ``final``. Every line is flushed before the next call returns. A file
that is whole may be compressed by gzip.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import json
import platform
import zlib
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

FORMAT = "rolf-trajectory/1"
ACTIONS = "rolf-actions/1"
"""Of files with an episode a line: what was done and what it came to, not what was seen (``rolf.evaluation``)."""
PACKAGES = ("rolf", "gymnasium", "numpy", "pydantic")
RECORDERS = ("RecordCast", "RecordTrajectory", "RecordVideo", "RenderCollection", "HumanRendering")
"""Wrappers that change nothing of what is compared; left out of the header, or a replay would write their files."""
LARGEST_ARRAY = 4_096
"""Arrays with more elements than this are kept as a digest."""
LONGEST_LINE = 256 << 20
"""What a line may be, compressed or not [bytes]: a small file can hold an endless one."""
MAGIC = b"\x1f\x8b"
"""What a file that gzip compressed begins with (RFC 1952, 2.3.1)."""
LARGEST_FILE = 4 << 30
"""What a file may come to when it is no longer compressed [bytes]."""


class TrajectoryError(ValueError):
    """A file is not a trajectory, or cannot be replayed as it is."""


class Line(NamedTuple):
    """One line of a trajectory file."""

    number: int
    """From 1, as editors count."""
    content: dict[str, Any]

    @property
    def kind(self) -> str:
        """``header``, ``reset``, ``step`` or ``final``."""
        return str(self.content["type"])


class Trajectory(NamedTuple):
    """A trajectory file as it was read."""

    header: dict[str, Any]
    lines: list[Line]
    """All that follows the header."""
    cut: str | None
    """What is wrong with the end of the file if it was cut off in mid-line, else None."""


def jsonable(value: Any) -> Any:
    """Return a value as JSON can hold it: equal values give equal results, whatever process made them.

    Tuples become lists, enumeration members their values, dataclasses and named tuples dictionaries, bytes base64;
    arrays become lists, or a digest where they are large.

    Raises:
        TypeError: the value is of a kind that no other process could read back or compare.
    """
    if isinstance(value, Enum):
        return jsonable(value.value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return _container(value)


def _container(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: jsonable(item) for key, item in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((jsonable(item) for item in value), key=repr)
    raise TypeError(f"a trajectory cannot hold {value!r} of type {type(value).__name__}; allowed is what JSON knows")


def _array(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype == object:
        return [jsonable(item) for item in array]
    if array.size <= LARGEST_ARRAY:
        return array.tolist()
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return {"sha256": digest, "shape": list(array.shape), "dtype": str(array.dtype)}


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that a trajectory may depend on, Python's and the kernel's included."""
    found = {"python": platform.python_version(), "kernel": platform.release()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a checkout, or an optional package
            found[name] = "not installed"
    return found


class TrajectoryWriter:
    """Write a trajectory file, a line at a time.

    Args:
        path: The file; its directory is made.
        overwrite: Whether an existing file may be replaced.

    Raises:
        FileExistsError: the file is there and ``overwrite`` is False.
    """

    def __init__(self, path: str | Path, *, overwrite: bool = False) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = self.path.open("w" if overwrite else "x", encoding="ascii")
        except FileExistsError:
            message = f"{str(self.path)!r} is there already; give another path, or overwrite=True to replace it"
            raise FileExistsError(message) from None

    def write(self, kind: str, **content: Any) -> None:
        """Write one line and flush it."""
        self._file.write(json.dumps({"type": kind, **jsonable(content)}, separators=(",", ":")) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; may be called again."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def read_trajectory(path: str | Path) -> Trajectory:
    """Return a trajectory file, all of it that is whole.

    Raises:
        TrajectoryError: the file is no trajectory, is of another format, or is damaged before its last line.
        OSError: the file cannot be read.
    """
    lines = _typed(Path(path))
    first, cut = next(lines, (None, "the file is empty"))
    if first is None:
        raise TrajectoryError(f"{str(path)!r} is not a trajectory: {cut}; rolf_wrappers.RecordTrajectory writes them")
    if first.kind != "header" or first.content.get("format") != FORMAT:
        got = first.content.get("format", first.kind)
        raise TrajectoryError(f"{str(path)!r} begins with {got!r}; this version reads {FORMAT!r}")
    read: list[Line] = []
    for line, cut in lines:
        if line is None:
            return Trajectory(first.content, read, cut)
        read.append(line)
    return Trajectory(first.content, read, None)


def _typed(path: Path) -> Iterator[tuple[Line | None, str | None]]:
    """Yield the lines of a trajectory, as `parsed` does."""
    for line, cut in parsed(path):
        if line is not None and "type" not in line.content:
            if line.number == 1 and line.content.get("format") == ACTIONS:
                message = f"{str(path)!r} holds an episode a line; say which: {path}#1 is the first"
                raise TrajectoryError(message)
            raise TrajectoryError(f"{str(path)!r}, line {line.number} is not a trajectory's line: it has no 'type'")
        yield line, cut


def parsed(path: Path) -> Iterator[tuple[Line | None, str | None]]:
    """Yield the whole lines of a file of JSON objects, then (None, reason) if the last one is half written.

    Raises:
        TrajectoryError: a line before the last is no JSON object, or the file is larger than any of these files is.
        OSError: the file cannot be read.
    """
    for number, raw in enumerate(_lines(path), start=1):
        try:
            content = json.loads(raw)
        except RecursionError as error:
            raise TrajectoryError(f"{str(path)!r}, line {number} is nested deeper than can be read") from error
        except ValueError as error:
            if not raw.endswith(b"\n"):
                yield None, f"line {number} was cut off in mid-write ({len(raw)} bytes are left of it)"
                return
            raise TrajectoryError(f"{str(path)!r}, line {number} is not JSON: {error}") from error
        if not isinstance(content, dict):
            raise TrajectoryError(f"{str(path)!r}, line {number} is not a trajectory's line: it has no 'type'")
        yield Line(number, content), None


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, compressed or not."""
    with path.open("rb") as plain:
        squeezed = plain.read(len(MAGIC)) == MAGIC
        plain.seek(0)
        file = gzip.GzipFile(fileobj=plain) if squeezed else plain
        total = 0
        try:
            while raw := file.readline(LONGEST_LINE + 1):
                total += len(raw)
                if len(raw) > LONGEST_LINE or (squeezed and total > LARGEST_FILE):
                    message = f"{str(path)!r} comes to more than a trajectory does: {total:,} bytes so far"
                    raise TrajectoryError(message)
                yield raw
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise TrajectoryError(f"{str(path)!r} was compressed and is damaged or cut off: {error}") from error
