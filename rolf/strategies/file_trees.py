"""File trees: what lies on real disks and breaks programs that have only seen tidy ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from rolf.strategies.tree import LONGEST_NAME, Directory, Entry, File, HardLink, Symlink, Tree

PLAIN_NAMES = ("a", "b", "c", "d", "e")
HOSTILE_NAMES = (
    "two words",
    " ",
    "-rf",
    "--",
    "new\nline",
    "tab\there",
    "naïve ☕",
    "*",
    "?",
    "[a]",
    "$HOME",
    "`id`",
    "it's",
    '"',
    "\\",
    "#",
    "~",
    "a;b",
    "a&b",
    ".hidden",
    "...",
    "\udcff\udcfe",  # two bytes that are no UTF-8
    "e\u0301",  # an accent of its own
    "n" * LONGEST_NAME,
)
MODES = (0o644, 0o600, 0o755, 0o444, 0o400, 0o777, 0o200, 0o000, 0o4755, 0o2755)
DIRECTORY_MODES = (0o755, 0o700, 0o711, 0o1777)
TIMES = st.integers(1, 2_000_000_000)
"""[s since 1970]"""
LONGEST_HOLE = 1 << 20
"""[bytes]"""
KNOWN_CONTENTS = (b"", b"x", b"x\n", b"one\ntwo\n", b"no newline", b"\r\n", b"\0", b"\xff\xfe")
LARGEST_CONTENT = 5_000
"""More than a page of memory [bytes]."""
DEEP = 1_000
"""No directory with a longer path is entered: the whole must fit PATH_MAX, 4096 [bytes]."""
DANGLING = ("nowhere", "nowhere/at/all", ".")


class _Recipe(NamedTuple):
    """One entry before it is known what else there is."""

    place: int
    """Which of the directories so far it lies in."""
    name: str
    entry: Entry | int
    """A number: a link to that one of the entries so far."""


def file_names() -> st.SearchStrategy[str]:
    """Return names of files: plain ones, hostile ones, and any that Linux takes.

    It shrinks to ``"a"``.

    Example::

        @given(file_names())
        def test_every_name_can_be_quoted(name):
            assert shlex.split(shlex.quote(name)) == [name]
    """
    anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=20)
    legal = anything.filter(lambda name: name not in (".", "..") and len(os.fsencode(name)) <= LONGEST_NAME)
    # The simplest first, in one choice: what takes fewer choices counts as simpler.
    return st.one_of(st.just("a"), st.sampled_from(PLAIN_NAMES), st.sampled_from(HOSTILE_NAMES), legal)


def contents() -> st.SearchStrategy[bytes]:
    """Return what stands in files: nothing, text, what is no text, more than a page of memory."""
    return st.one_of(st.sampled_from([*KNOWN_CONTENTS, b"x" * LARGEST_CONTENT]), st.binary(max_size=64))


def files() -> st.SearchStrategy[File]:
    """Return regular files, sparse ones among them."""
    whole = st.builds(File, contents(), st.sampled_from(MODES), st.just(File.mtime) | TIMES)
    sparse = st.builds(File, contents(), mtime=TIMES, hole=st.integers(1, LONGEST_HOLE))
    return st.one_of(whole, sparse)


def file_trees(*, min_size: int = 1, max_size: int = 12) -> st.SearchStrategy[Tree]:
    """Return trees of files.

    In them: names with blanks, line feeds, leading dashes, accents, and bytes that are no UTF-8; all modes of files
    that matter; empty directories; symbolic links to files, to directories, to themselves and to nothing, none of which
    leads out of the tree; hard links; sparse files; files that were modified when others were not. Nothing in it needs
    a privilege to be made or, by its owner, to be removed. It shrinks to a tree of one empty file,
    ``Tree({'a': File()})``.

    Args:
        min_size: Entries drawn at least; some may fall on the same path.
        max_size: Entries at most.

    Example::

        @given(file_trees())
        def test_an_archive_keeps_everything(tree):
            with TemporaryDirectory() as here, TemporaryDirectory() as there:
                tree.write(here)
                unpack(pack(here), there)
                assert changes(tree, read_tree(there)) == ()
    """
    links = st.integers(0, 9)
    targets = st.one_of(st.sampled_from(PLAIN_NAMES), st.sampled_from(DANGLING))
    directories, symlinks = st.builds(Directory, st.sampled_from(DIRECTORY_MODES)), st.builds(Symlink, targets, TIMES)
    entries = st.one_of(st.just(File()), files(), directories, symlinks, links)
    recipes = st.builds(_Recipe, st.integers(0, 4), file_names(), entries)
    return st.lists(recipes, min_size=min_size, max_size=max_size).map(_grown)


def _grown(recipes: Sequence[_Recipe]) -> Tree:
    entries: dict[str, Entry] = {}
    for place, name, wanted in recipes:
        directories = ["", *(path for path, entry in entries.items() if isinstance(entry, Directory))]
        parent = directories[place % len(directories)]
        path = f"{parent}/{name}" if parent and len(os.fsencode(parent)) < DEEP else name
        if path not in entries:
            entries[path] = _linked(entries, wanted) if isinstance(wanted, int) else wanted
    return Tree(entries)


def _linked(entries: dict[str, Entry], number: int) -> Entry:
    found = [path for path, entry in entries.items() if isinstance(entry, File)]
    return HardLink(found[number % len(found)]) if found else File()
