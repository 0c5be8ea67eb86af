"""Source: a text file of a task folder, read strictly, and where in it something stands.

A mistake is named with file and line, because the folder's author is to mend it, perhaps among thousands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from termgym.errors import FolderError
from termgym.reasons import shorten

BOM = b"\xef\xbb\xbf"
LONGEST = 16 << 20
"""Longest text file that is read [bytes]; an instruction of more is none."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text file and its content, with lines ended by ``\\n``."""

    path: Path
    text: str

    def fault(self, wrong: str, line: int | None = None) -> FolderError:
        """Return the error that says what is wrong here, and where."""
        where = str(self.path) if line is None else f"{self.path}, line {line}"
        return FolderError(f"{where}: {wrong}")


def dotted(name: Sequence[str | int]) -> str:
    """Return a name as people write it: ``steps[1].agent.user``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in name).lstrip(".")


def read_source(path: Path, *, script: bool = False) -> Source:
    """Return a text file of a folder.

    Args:
        path: Where it lies.
        script: Whether a shell is to run it: then a byte-order mark or a carriage return would break it.

    Raises:
        FolderError: it is no file, cannot be read, is no UTF-8, or a script that no shell would understand.
    """
    raw = _bytes(path)
    marked = raw.startswith(BOM)
    if script and marked:
        raise FolderError(f"{path}, line 1: begins with a byte-order mark, which hides '#!'; save it as UTF-8 without")
    if script and b"\r\n" in raw:
        line = raw[: raw.index(b"\r\n")].count(b"\n") + 1
        advice = f"run `dos2unix {path.name}`"
        raise FolderError(f"{path}, line {line}: ends with CR LF, which no shell understands; {advice}")
    try:
        text = raw[len(BOM) if marked else 0 :].decode()
    except UnicodeDecodeError as error:
        at = (len(BOM) if marked else 0) + error.start
        line = raw[:at].count(b"\n") + 1
        wrong = f"byte {raw[at : at + 1]!r} is no UTF-8; save the file as UTF-8"
        raise FolderError(f"{path}, line {line}: {wrong}") from None
    return Source(path, text.replace("\r\n", "\n"))


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        kind = "is no file" if path.exists() else "is missing"
        raise FolderError(f"{path}: {kind}; a task folder needs it")
    size = path.stat().st_size
    if size > LONGEST:
        raise FolderError(f"{path}: has {size} bytes; at most {LONGEST} are read of a text")
    try:
        return path.read_bytes()
    except OSError as error:
        raise FolderError(f"{path}: cannot be read: {error.strerror}; let your user read it") from error


def value_fault(source: Source, name: Sequence[str | int], line: int | None, value: object, wrong: str) -> FolderError:
    """Return the error that says which value is wrong, what it is, and what is allowed."""
    return source.fault(f"{dotted(name)}={shorten(value)} {wrong}", line)
