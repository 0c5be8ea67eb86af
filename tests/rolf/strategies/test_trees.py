"""Trees as plain data are trees on disk, and mutations foresee what they do."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from rolf.strategies import (
    BreakLink,
    ChangeMode,
    Create,
    Directory,
    Edits,
    File,
    HardLink,
    Link,
    Mutation,
    Remove,
    Rename,
    Replace,
    Resize,
    Symlink,
    Touch,
    Tree,
    TreeChange,
    Write,
    changes,
    file_trees,
    mutations,
    read_tree,
)

LIMITS = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.fixture
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    return lambda: tmp_path_factory.mktemp("tree") / "root"


def seen(folder: Path, edits: Edits) -> tuple[Tree, Tree]:
    """Return what lies on the disk before and after."""
    edits.before.write(folder)
    before = read_tree(folder)
    edits.apply(folder)
    return before, read_tree(folder)


@settings(LIMITS, max_examples=100)
@given(edits=file_trees().flatmap(mutations))
def test_what_is_done_is_what_was_foreseen(folders: Callable[[], Path], edits: Edits) -> None:
    """By a walk over the disk, which knows nothing of mutations."""
    before, after = seen(folders(), edits)
    assert changes(edits.before, before) == changes(edits.after, after) == ()
    assert changes(edits.before, after) == edits.changes


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@settings(LIMITS, max_examples=10_000)
@given(edits=file_trees(max_size=20).flatmap(lambda tree: mutations(tree, max_size=15)))
def test_what_is_done_is_what_was_foreseen_of_thousands(folders: Callable[[], Path], edits: Edits) -> None:
    before, after = seen(folders(), edits)
    assert changes(edits.before, before) == changes(edits.after, after) == ()
    assert changes(edits.before, after) == edits.changes


ONE_OF_EACH = Tree(
    {
        "a": File(b"one\n", mode=0o600),
        "b": File(b"end", mtime=2_000, hole=4096),
        "d": Directory(0o700),
        "d/empty": Directory(),
        "d/a again": HardLink("a"),
        "to a": Symlink("a"),
        "dangling": Symlink("nowhere/at/all", mtime=3_000),
        "-n": File(mode=0),
    }
)


def test_writes_what_it_says(tmp_path: Path) -> None:
    """Looked at by the calls of the system, not by our own reader."""
    ONE_OF_EACH.write(tmp_path)
    assert (tmp_path / "a").read_bytes() == b"one\n"
    assert (tmp_path / "a").samefile(tmp_path / "d" / "a again")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o700
    sparse = (tmp_path / "b").stat()
    assert (sparse.st_size, sparse.st_mtime) == (4099, 2_000)
    assert os.readlink(tmp_path / "dangling") == "nowhere/at/all"
    assert (tmp_path / "dangling").lstat().st_mtime == 3_000
    assert stat.S_IMODE((tmp_path / "-n").stat().st_mode) == 0
    assert sorted(os.listdir(tmp_path / "d")) == ["a again", "empty"]
    assert read_tree(tmp_path).file("d/a again").data == b"one\n"


@pytest.mark.parametrize(
    ("mutation", "expected"),
    [
        (Create("new", File()), {("new", "added")}),
        (Create("d/new", Directory(0o711)), {("d/new", "added")}),
        (Link("c", "b"), {("c", "added"), ("b", "link")}),
        (Link("c", "a"), {("c", "added"), ("a", "link"), ("d/a again", "link")}),
        (Remove("d"), {("d", "removed"), ("d/empty", "removed"), ("d/a again", "removed"), ("a", "link")}),
        (Remove("dangling"), {("dangling", "removed")}),
        (Replace("a", Directory()), {("a", "type"), ("d/a again", "link")}),
        (Replace("to a", Symlink("b")), {("to a", "content")}),
        (Rename("d/empty", "moved"), {("d/empty", "removed"), ("moved", "added")}),
        (Rename("a", "d/a again"), set()),  # rename(2): two names of one file are left alone
        (Rename("b", "-n"), {("b", "removed"), ("-n", "content"), ("-n", "mode")}),
        (ChangeMode("d/a again", 0o777), {("a", "mode"), ("d/a again", "mode")}),
        (Write("a", 0, b"ONE\n"), {("a", "content"), ("d/a again", "content")}),
        (Write("a", 0, b"one\n", mtime=5), {("a", "mtime"), ("d/a again", "mtime")}),
        (Write("-n", 9, b""), set()),
        (Write("-n", 9, b"x"), {("-n", "content")}),
        (Resize("b", 4096, mtime=2_000), {("b", "content")}),
        (Resize("b", 4099, mtime=2_000), set()),
        (Touch("to a", 7), {("to a", "mtime")}),
        (BreakLink("a"), {("a", "link"), ("d/a again", "link")}),
        (BreakLink("b"), set()),
    ],
    ids=str,
)
def test_each_mutation_does_what_its_name_says(
    tmp_path: Path, mutation: Mutation, expected: set[tuple[str, str]]
) -> None:
    """By hand, so that foresight and deed do not err alike."""
    edits = Edits(ONE_OF_EACH, (mutation,))
    assert {(change.path, change.kind) for change in edits.changes} == expected
    ONE_OF_EACH.write(tmp_path)
    edits.apply(tmp_path)
    assert changes(ONE_OF_EACH, read_tree(tmp_path)) == edits.changes


def test_changes_are_sorted_and_plain() -> None:
    assert changes(Tree({"b": File()}), Tree({"a": File()})) == (TreeChange("a", "added"), TreeChange("b", "removed"))


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ({"d/a": File()}, "'d/a' lies in 'd', which is no directory of the tree; add Directory"),
        ({"d": File(), "d/a": File()}, "which is no directory of the tree"),
        ({"a": HardLink("b")}, "hard link to 'b', which is no File of the tree"),
        ({"..": File()}, "no file can be called"),
        ({"a/": File()}, "no file can be called"),
        ({"n" * 256: File()}, "no file can be called"),
        ({"a\0": File()}, "no file can be called"),
    ],
)
def test_what_is_no_tree_is_refused(entries: dict[str, File], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Tree(entries)


def test_a_fifo_is_no_part_of_a_tree(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    with pytest.raises(ValueError, match="neither file, directory nor link"):
        read_tree(tmp_path)


def test_a_tree_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("here already")
    with pytest.raises(FileExistsError):
        Tree({"a": File()}).write(tmp_path)
    assert (tmp_path / "a").read_text() == "here already"


WANTED: dict[str, Callable[[Tree], bool]] = {
    "a blank": lambda tree: any(" " in path for path in tree.entries),
    "a line feed": lambda tree: any("\n" in path for path in tree.entries),
    "a leading dash": lambda tree: any(path.startswith("-") for path in tree.entries),
    "no UTF-8": lambda tree: any("\udcff" in path for path in tree.entries),
    "a dangling link": lambda tree: any(
        isinstance(e, Symlink) and e.target == "nowhere" for e in tree.entries.values()
    ),
    "a hard link": lambda tree: any(isinstance(entry, HardLink) for entry in tree.entries.values()),
    "a hole": lambda tree: any(isinstance(entry, File) and entry.hole for entry in tree.entries.values()),
    "a set-id bit": lambda tree: any(isinstance(e, File) and e.mode & 0o6000 for e in tree.entries.values()),
    "an empty directory": lambda tree: any(
        isinstance(entry, Directory) and not any(other.startswith(f"{path}/") for other in tree.entries)
        for path, entry in tree.entries.items()
    ),
    "a file in a directory": lambda tree: any("/" in path for path in tree.entries),
}


def test_trees_have_everything() -> None:
    """Among a few hundred; what never comes is never found."""
    seen: set[str] = set()

    @settings(LIMITS, max_examples=300, phases=[Phase.generate], database=None)
    @given(file_trees())
    def look(tree: Tree) -> None:
        seen.update(what for what, there in WANTED.items() if there(tree))

    look()
    assert seen == set(WANTED)


def test_the_simplest_are_readable() -> None:
    simplest = settings(LIMITS, database=None)
    assert repr(find(file_trees(), lambda _: True, settings=simplest)) == "Tree(entries={'a': File()})"
    edits = find(mutations(Tree({"a": File()})), lambda each: bool(each.changes), settings=simplest)
    assert repr(edits.mutations) == "(Touch(path='a', mtime=1),)"


FIRST = settings(LIMITS, max_examples=5_000, phases=[Phase.generate], database=None)
"""Stop at the first that is found, and do not make it simpler."""


@pytest.mark.parametrize("kind", [Create, Link, Remove, Replace, Rename, ChangeMode, Write, Resize, Touch, BreakLink])
def test_mutations_are_of_every_kind(kind: type[Mutation]) -> None:
    """Nothing is left out for good."""
    edits = find(mutations(ONE_OF_EACH), lambda found: kind in map(type, found.mutations), settings=FIRST)
    assert edits.before == ONE_OF_EACH


def test_an_empty_tree_is_filled() -> None:
    filled = find(mutations(Tree()), lambda found: len(found.changes) > 1, settings=FIRST)
    assert filled.before == Tree()
