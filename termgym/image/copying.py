"""``COPY``: what is copied where, as docker's reference says it."""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from e2b_dockerfile_utils import PatternMatcher

from termgym.image.context import Entry, Origin, total_size
from termgym.image.dockerfile import Step
from termgym.image.layering import Layer
from termgym.image.patterns import is_pattern
from termgym.image.tree import Found, Tree
from termgym.reasons import shorten

LARGEST = 4 << 30
"""What one instruction may copy [bytes]."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry and its path in the image."""

    path: str
    entry: Entry
    owner: tuple[int, int] | None = None
    """Who it will belong to, if not to whom the rest does."""


@dataclass(frozen=True, slots=True)
class Copy:
    """Everything one instruction copies."""

    items: tuple[Placed, ...]
    owner: tuple[int, int]
    mode: int | None
    dated: bool

    def describe(self) -> list[object]:
        """Return what tells this copy from another one."""
        items = [[item.path, item.owner, *item.entry.describe()] for item in self.items]
        return [*items, list(self.owner), self.mode]

    def write(self, layer: Layer) -> None:
        """Put it into a layer.

        Raises:
            Misplaced: a file would have to be a directory, or the other way round.
        """
        for item in self.items:
            layer.put(item.path, item.entry, item.owner or self.owner, self.mode, dated=self.dated)


def plan_copy(
    step: Step, words: Sequence[str], origin: Origin, image: Tree, workdir: str, owner: tuple[int, int], *, dated: bool
) -> Copy:
    """Return what an instruction copies.

    Args:
        step: for its flags and its line.
        words: its sources and its target, expanded.
        origin: where the sources are.
        image: what is copied into.
        workdir: what a relative target is relative to.
        owner: who it will belong to.
        dated: whether it keeps its times.

    Raises:
        ImageError: a source is missing, the target does not fit, or it is too much.
    """
    *sources, target = words
    excluded = _excluded(step)
    chosen = [each for source in sources for each in _selected(step, source, origin)]
    into = posixpath.join(workdir, target)
    holds_many = target.endswith("/") or posixpath.basename(target) in (".", "..")
    if (len(sources) > 1 or len(chosen) > 1) and not holds_many:
        there = image.find(into)
        if not (there and there.is_directory):
            advice = f"end it with a slash: {target}/"
            raise step.fault(f"{len(chosen)} sources for the target {target!r}, which is no directory", advice)
        holds_many = True
    into = image.resolve(into)
    items: list[Placed] = []
    with_parents = step.flag("parents") == "true"
    for path, top in chosen:
        if not (top.is_directory or stat.S_ISREG(top.status.st_mode)):
            raise step.fault(f"{shorten(path[1:])} is no file and no directory", "copy what can be read to its end")
        base = _base(path, top, into, image, holds_many=holds_many, with_parents=with_parents)
        base = image.resolve(base) if not top.is_directory else base
        items += (Placed(_join(base, entry.place), entry) for entry in origin.entries(top, excluded))
    _check_size(step, items, origin)
    return Copy(tuple(items), owner, _mode(step), dated)


def _selected(step: Step, source: str, origin: Origin) -> list[tuple[str, Found]]:
    """Return what one source names.

    Raises:
        ImageError: it names nothing.
    """
    found = origin.select(posixpath.normpath(f"/{source.lstrip('/')}"))
    if not found:
        raise _missing(step, source, origin)
    return found


def _base(path: str, top: Found, into: str, image: Tree, *, holds_many: bool, with_parents: bool) -> str:
    """Return where a source itself goes."""
    if with_parents:
        return _join(into, path.lstrip("/"))
    if top.is_directory:
        return into
    there = image.find(into)
    if holds_many or (there and there.is_directory):
        return _join(into, posixpath.basename(path))
    return into


def _excluded(step: Step) -> PatternMatcher | None:
    patterns = [value for name, value in step.flags if name == "exclude"]
    try:
        return PatternMatcher(patterns) if patterns else None
    except ValueError as error:
        raise step.fault(f"--exclude: {error}", "see https://docs.docker.com/reference/dockerfile/") from error


def _missing(step: Step, source: str, origin: Origin) -> Exception:
    wrong = f"{shorten(source)} matches nothing" if is_pattern(source) else f"{shorten(source)} is not"
    where = f"in {origin.name}"
    if origin.ignored is not None and origin.ignored.matches(source.strip("/")):
        return step.fault(f"{wrong} {where}: {origin.ignore_file} leaves it out", f"add !{source.strip('/')} there")
    if source.startswith(".."):
        return step.fault(f"{wrong} {where}", "a path cannot leave it; move the file into it")
    return step.fault(f"{wrong} {where}", f"it has {_listing(source, origin)}")


def _listing(source: str, origin: Origin) -> str:
    above = origin.tree.find(posixpath.dirname(f"/{source.strip('/')}"))
    names = (
        [child.path.rpartition("/")[2] for child in origin.tree.children(above)] if above and above.is_directory else []
    )
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return f"there: {shown}" if names else "no such directory either"


def _mode(step: Step) -> int | None:
    text = step.flag("chmod")
    if text is None:
        return None
    if not text or set(text) - set("01234567") or int(text, 8) > 0o7777:
        raise step.fault(f"--chmod={text} is no mode", "give an octal one, such as --chmod=0755")
    return int(text, 8)


def _check_size(step: Step, items: Sequence[Placed], origin: Origin) -> None:
    size = total_size(item.entry for item in items)
    if size > LARGEST:
        largest = max((item.entry.found for item in items), key=lambda found: found.status.st_size)
        raise step.fault(
            f"{_gib(size)} from {origin.name}, {largest.path[1:]} alone {_gib(largest.status.st_size)}",
            f"at most {LARGEST >> 30} GiB are copied; name what is needed, or leave the rest out by a .dockerignore",
        )


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def _join(base: str, place: str) -> str:
    return posixpath.join(base, place) if place else base
