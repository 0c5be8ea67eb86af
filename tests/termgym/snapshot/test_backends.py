"""What one backend does that the others do not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from toys.isolation import run_as
from toys.trees import build, facts

from termgym.errors import SnapshotError
from termgym.snapshot import ChangeKind, Snapshot, open_snapshot


def opened(scratch: Path, backend: str, log_dir: Path | None = None) -> Snapshot:
    base, work = scratch / "base", scratch / "work"
    build(base)
    work.mkdir()
    return open_snapshot(base, work, backend=backend, log_dir=log_dir)


def edit_at_once(scratch: Path) -> None:
    snapshot = opened(scratch, "manifest")
    path = snapshot.live / "home" / "agent" / "c"
    status = path.stat()
    for turn in range(30):
        with path.open("r+b") as file:
            file.write(b"%04d" % turn)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        kinds = [(change.path, change.kind) for change in snapshot.diff()]
        assert kinds == [("/home/agent/c", ChangeKind.CONTENT)], f"turn {turn}"
        snapshot.restore()
        assert snapshot.diff() == ()


def test_manifest_sees_an_edit_in_the_tick_of_the_restore() -> None:
    """The clock behind change times ticks every few milliseconds; an edit within the tick leaves the time as it was."""
    run_as("plain", edit_at_once)


def correct_in_place(scratch: Path) -> None:
    snapshot = opened(scratch, "manifest")
    home = snapshot.live / "home" / "agent"
    inode = (home / "a").stat().st_ino
    (home / "a").write_bytes(b"edited, and longer than before")
    victim = home / "new"
    victim.write_bytes(b"new")
    os.unlink(home / "b")
    os.link(victim, home / "b")
    with victim.open("rb") as watching:
        snapshot.restore()
        assert watching.read() == b"new", "the base's bytes went through a wrong hard link"
    assert (home / "a").stat().st_ino == inode
    assert facts(snapshot.live) == facts(snapshot.base)


def test_manifest_corrects_in_place_but_never_through_a_wrong_link() -> None:
    """In place is a hundred times cheaper on a disk that discards, and wrong where a name was moved to another file."""
    run_as("plain", correct_in_place)


def touch_nothing(scratch: Path) -> None:
    snapshot = opened(scratch, "manifest")
    (snapshot.live / "tmp" / "new").write_bytes(b"x")
    snapshot.restore()
    times = {path: path.lstat().st_ctime_ns for path in (snapshot.live / "home" / "agent" / "many").iterdir()}
    (snapshot.live / "tmp" / "new").write_bytes(b"x")
    snapshot.restore()
    assert times == {path: path.lstat().st_ctime_ns for path in times}


def test_manifest_leaves_alone_what_is_right() -> None:
    """A restore that wrote everything anew would cost the whole tree, at every reset."""
    run_as("plain", touch_nothing)


def write_logs(scratch: Path) -> dict[str, str]:
    logs = scratch / "logs"
    snapshot = opened(scratch, "rsync", logs)
    home = snapshot.live / "home" / "agent"
    (home / "added").write_bytes(b"x")
    (home / "a").write_bytes(b"edited")
    snapshot.diff()
    snapshot.restore()
    snapshot.diff()
    snapshot.close()
    return {path.name: path.read_text(errors="surrogateescape") for path in sorted(logs.iterdir())}


def test_rsync_writes_the_logs_of_each_episode() -> None:
    """Two files an episode: what rsync did before it, and what differed after it."""
    logs = run_as("plain", write_logs)
    assert list(logs) == ["000000_diff.txt", "000000_init", "000001_diff.txt", "000001_init"]
    assert "home/agent/big" in logs["000000_init"]
    assert "deleting home/agent/added" in logs["000001_init"]
    lines = logs["000000_diff.txt"].splitlines()
    assert any(line.startswith("Only in ") and line.endswith("/live/home/agent: added") for line in lines)
    assert any(line.startswith("Files ") and line.endswith("/live/home/agent/a differ") for line in lines)
    assert any(line.startswith("content /home/agent/a ") for line in lines)
    assert logs["000001_diff.txt"].strip() == ""


def fail_rsync(scratch: Path) -> str:
    snapshot = opened(scratch, "rsync")
    broken = scratch / "bin"
    broken.mkdir()
    (broken / "rsync").write_text("#!/bin/sh\necho 'skipping file deletion' >&2\nexit 23\n")
    (broken / "rsync").chmod(0o755)
    os.environ["PATH"] = f"{broken}:{os.environ['PATH']}"
    with pytest.raises(SnapshotError) as caught:
        snapshot.restore()
    return str(caught.value)


def test_rsync_that_did_not_finish_is_an_error() -> None:
    """Exit status 23 means that files of one episode stay for the next; nothing may go on from there."""
    message = run_as("plain", fail_rsync)
    assert "ended with 23" in message
    assert "skipping file deletion" in message


def rename_and_link(scratch: Path) -> None:
    snapshot = opened(scratch, "overlay")
    home = snapshot.live / "home" / "agent"
    os.rename(home / "d", home / "moved")
    (home / "l1").write_bytes(b"through all names")
    assert (home / "moved" / "l3").read_bytes() == b"through all names"
    os.chmod(home / "big", 0o600)
    layer = scratch / "work" / "layer" / "upper" / "home" / "agent" / "big"
    assert layer.stat().st_blocks == 0, "chmod copied the content"
    assert [(c.path, c.kind) for c in snapshot.diff() if "big" in c.path] == [("/home/agent/big", ChangeKind.MODE)]
    snapshot.close()


@pytest.mark.root
def test_overlay_of_root_behaves_as_a_disk() -> None:
    """Directories can be renamed, hard links hold, chmod costs no copy: the options took effect."""
    run_as("root", rename_and_link)


def odd_places(scratch: Path) -> None:
    place = scratch / "a,b:c\\d e"
    place.mkdir()
    snapshot = opened(place, "overlay-userns")
    (snapshot.live / "tmp" / "x").write_bytes(b"x")
    assert [change.path for change in snapshot.diff()] == ["/tmp/x"]
    snapshot.restore()
    assert snapshot.diff() == ()
    snapshot.close()


def test_overlay_takes_any_directory_name() -> None:
    """Commas end a mount option and colons a layer, unless they are told not to."""
    run_as("user", odd_places)
