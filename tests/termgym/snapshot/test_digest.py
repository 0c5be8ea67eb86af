"""What the digest of a tree depends on, and what not."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.isolation import run_as
from toys.trees import add_socket, build

from termgym.snapshot import ChangeKind, copy_tree, open_snapshot, tree_digest
from termgym.snapshot.normalise import normalise

LONG_NAME = "a/" + "n" * 126
"""128 bytes: version 4 of the index then holds a NUL where a careless reader takes it for the end of a name."""

SAME: dict[str, Callable[[Path], object]] = {
    "mtime": lambda home: os.utime(home / "a", (1, 1)),
    "atime": lambda home: os.utime(home / "a", ns=(1, os.stat(home / "a").st_mtime_ns)),
    "inode": lambda home: (shutil.copy2(home / "a", home / "a2"), os.replace(home / "a2", home / "a")),
    "mode of a dead socket": lambda home: os.chmod(home / "socket", 0o600),
}
OTHER: dict[str, Callable[[Path], object]] = {
    "content": lambda home: (home / "a").write_bytes(b"alphA\n"),
    "name": lambda home: os.rename(home / "a", home / "A"),
    "mode": lambda home: os.chmod(home / "a", 0o600),
    "mode of a directory": lambda home: os.chmod(home / "e", 0o700),
    "attribute": lambda home: os.setxattr(home / "a", "user.x", b""),
    "link target": lambda home: (os.unlink(home / "sym"), os.symlink("b", home / "sym")),
    "type": lambda home: (os.unlink(home / "fifo"), (home / "fifo").write_bytes(b"")),
    "empty directory": lambda home: (home / "e" / "x").mkdir(),
    "hard link structure": lambda home: (os.unlink(home / "l2"), shutil.copy2(home / "l1", home / "l2")),
    "socket gone": lambda home: os.unlink(home / "socket"),
}


def digests(scratch: Path, act: Callable[[Path], object]) -> tuple[str, str]:
    build(scratch / "tree")
    home = scratch / "tree" / "home" / "agent"
    add_socket(home / "socket")
    before = tree_digest(scratch / "tree")
    act(home)
    return before, tree_digest(scratch / "tree")


@pytest.mark.parametrize("what", SAME)
def test_does_not_count(what: str) -> None:
    """Two equal runs differ in these."""
    before, after = run_as("plain", digests, SAME[what])
    assert before == after


@pytest.mark.parametrize("what", OTHER)
def test_counts(what: str) -> None:
    """Two runs that differ in these are not equal."""
    before, after = run_as("plain", digests, OTHER[what])
    assert before != after


def copy_digest(scratch: Path) -> tuple[str, str]:
    build(scratch / "tree")
    copy_tree(scratch / "tree", scratch / "copy")
    return tree_digest(scratch / "tree"), tree_digest(scratch / "copy")


def test_is_the_same_for_a_copy() -> None:
    """The digest is of what is there, not of where."""
    original, copy = run_as("plain", copy_digest)
    assert original == copy


def git_digests(scratch: Path, version: str, edit: bytes) -> tuple[str, str]:
    figures = []
    for place, content in ((scratch / "one", b"hello\n"), (scratch / "two", edit)):
        place.mkdir()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(scratch),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": "@1000000000 +0000",
            "GIT_COMMITTER_DATE": "@1000000000 +0000",
        }
        for name in ("greeting", LONG_NAME, "x"):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        for command in (
            ["init", "-q", "-b", "main", "."],
            ["-c", f"index.version={version}", "add", "."],
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first"],
        ):
            subprocess.run(["git", *command], cwd=place, env=environment, check=True)
        figures.append(place)
    assert (figures[0] / ".git" / "index").read_bytes() != (figures[1] / ".git" / "index").read_bytes()
    return tree_digest(figures[0]), tree_digest(figures[1])


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_two_equal_git_repositories_are_equal(version: str) -> None:
    """git's index holds inode numbers and change times; the state of the repository does not depend on them."""
    one, two = run_as("plain", git_digests, version, b"hello\n")
    assert one == two


def test_another_git_repository_is_another() -> None:
    """Normalising must not hide what was staged."""
    one, two = run_as("plain", git_digests, "2", b"HELLO\n")
    assert one != two


@settings(max_examples=200, deadline=None)
@given(
    name=st.sampled_from([b"index", b"m.pyc", b"other"]),
    head=st.sampled_from([b"", b"DIRC\0\0\0\2\0\0\0\1", b"DIRC\0\0\0\4\0\0\0\2"]),
    rest=st.binary(max_size=300),
)
def test_normalising_takes_any_bytes(name: bytes, head: bytes, rest: bytes) -> None:
    """An agent can call anything ``index``; what does not parse counts as it is."""
    plain = normalise(name, head + rest)
    assert len(plain) <= len(head + rest)
    if name == b"other":
        assert plain == rest if not head else plain == head + rest


def count_reads(scratch: Path) -> None:
    base, work = scratch / "base", scratch / "work"
    build(base)
    work.mkdir()
    snapshot = open_snapshot(base, work)
    before = snapshot.digest()
    untouched = base / "home" / "agent" / "many" / "f1"
    untouched.write_bytes(b"changed behind the snapshot's back")
    (snapshot.live / "home" / "agent" / "a").write_bytes(b"edited")
    edited = snapshot.digest()
    untouched.write_bytes(b"1")
    assert edited == snapshot.digest() != before, "a file that was not touched was read again"
    snapshot.close()


def test_only_what_changed_is_read_again() -> None:
    """A digest at each step must cost what the step changed."""
    run_as("user", count_reads)


@pytest.mark.parametrize("folder", ["", "repo/.git/"])
@pytest.mark.parametrize("backend", ["manifest", "rsync"])
def test_a_diff_names_an_index_by_what_is_in_it(tmp_path: Path, backend: str, folder: str) -> None:
    """A rewrite that brings only new clock and inode figures is no other content, or no replay would be equal."""
    index = b"DIRC" + (2).to_bytes(4, "big") + (1).to_bytes(4, "big")
    entry = bytes(24) + (0o100644).to_bytes(4, "big") + bytes(12) + b"\1" * 20 + (1).to_bytes(2, "big") + b"f\0"
    padded = entry + bytes(-len(entry) % 8)
    fresh = index + b"\7" * 24 + padded[24:] + b"\2" * 20
    other = index + padded.replace(b"\1" * 20, b"\3" * 20) + b"\4" * 20
    base = tmp_path / "base"
    base.mkdir()
    place = f"{folder}index"
    (base / place).parent.mkdir(parents=True, exist_ok=True)
    (base / place).write_bytes(index + padded + b"\5" * 20)
    (tmp_path / "work").mkdir()
    snapshot = open_snapshot(base, tmp_path / "work", backend=backend)
    try:
        (snapshot.live / place).write_bytes(fresh)
        assert [change.kind for change in snapshot.diff()] == [ChangeKind.MTIME]
        (snapshot.live / place).write_bytes(other)
        assert [change.kind for change in snapshot.diff()] == [ChangeKind.CONTENT]
    finally:
        snapshot.close()
