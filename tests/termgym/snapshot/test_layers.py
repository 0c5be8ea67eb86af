"""Live trees on the layers of an image: the same changes and digests as on a plain copy, found by what changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from toys.isolation import ROLES, roles_here, run_as

from termgym.errors import SnapshotError
from termgym.snapshot import Change, ChangeKind, open_snapshot
from termgym.snapshot.layers import Ground, Stack, mount_layers

MACHINES = [(role, backend) for role in ("root", "user") if role in roles_here() for backend in ROLES[role]]
OVERLAID = [(role, backend) for role, backend in MACHINES if backend.startswith("overlay")]


def lay(scratch: Path, role: str) -> Stack:
    """Make three layers: the upper two remove, replace and cover what lies below."""
    low, middle, top = (scratch / name for name in ("low", "middle", "top"))
    for path, text in {
        low / "etc/conf": "low",
        low / "etc/gone": "low",
        low / "bin/tool": "low",
        low / "opt/old/file": "low",
        middle / "etc/conf": "middle",
        middle / "opt/old/new": "middle",
        top / "srv/data": "top",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    os.link(low / "bin/tool", low / "bin/alias")
    os.mknod(middle / "etc/gone", stat.S_IFCHR, 0)
    prefix = "trusted.overlay." if role == "root" else "user.overlay."
    os.setxattr(middle / "opt/old", prefix + "opaque", b"y")
    return Stack((top, middle, low), scratch / "stack", redirects=role == "root")


def look(scratch: Path, role: str) -> None:
    stack = lay(scratch, role)
    found = {
        path.relative_to(stack.whole).as_posix(): path.read_text() for path in stack.whole.rglob("*") if path.is_file()
    }
    assert found == {
        "etc/conf": "middle",
        "bin/tool": "low",
        "bin/alias": "low",
        "opt/old/new": "middle",
        "srv/data": "top",
    }
    with pytest.raises(OSError, match="Read-only"):
        (stack.whole / "etc/conf").write_text("x")
    stack.close()
    assert os.listdir(stack.whole) == []


@pytest.mark.parametrize("role", [role for role in ("root", "user") if role in roles_here()])
def test_layers_are_one_tree(role: str) -> None:
    run_as(role, look, role)


def change(live: Path) -> None:
    (live / "etc/conf").write_text("changed")
    (live / "srv/new").write_text("new")
    (live / "bin/tool").chmod(0o700)
    (live / "opt/old/new").unlink()
    (live / "srv/data").write_text("top")  # the same bytes again: no departure


def depart(scratch: Path, role: str, backend: str) -> tuple[str, str, str, tuple[Change, ...]]:
    stack = lay(scratch, role)
    work = scratch / "work"
    work.mkdir()
    ground = Ground("an image", stack.layers)
    snapshot = open_snapshot(stack.whole, work, backend=backend, ground=ground)
    before = snapshot.digest()
    assert snapshot.diff() == ()
    change(snapshot.live)
    changes, changed = snapshot.diff(), snapshot.digest()
    token = snapshot.save()
    snapshot.restore()
    assert (snapshot.diff(), snapshot.digest()) == ((), before)
    snapshot.load(token)
    assert (snapshot.diff(), snapshot.digest()) == (changes, changed)
    snapshot.close()
    os.rmdir(work)
    work.mkdir()
    other = open_snapshot(stack.whole, work, backend=backend, ground=Ground("another", stack.layers))
    elsewhere = other.digest()
    other.close()
    stack.close()
    return before, changed, elsewhere, changes


def test_digest_says_what_departs_whatever_the_backend() -> None:
    """Of the image only its id counts: a root filesystem is too large to be read each time."""
    results = {machine: run_as(machine[0], depart, *machine) for machine in MACHINES}
    for machine, (before, changed, elsewhere, changes) in results.items():
        assert len({before, changed, elsewhere}) == 3, machine
        kinds = {(change.path, change.kind) for change in changes}
        assert ("/srv/data", ChangeKind.CONTENT) not in kinds, machine
        assert {
            ("/etc/conf", ChangeKind.CONTENT),
            ("/srv/new", ChangeKind.ADDED),
            ("/bin/tool", ChangeKind.MODE),
            ("/opt/old/new", ChangeKind.REMOVED),
        } <= kinds, machine
    copying = {changed for (_, backend), (_, changed, _, _) in results.items() if not backend.startswith("overlay")}
    layering = {changed for (_, backend), (_, changed, _, _) in results.items() if backend.startswith("overlay")}
    # A mode that is set parts a hard link on overlayfs without an index, as it does in docker.
    assert len(copying) == len(layering) == 1
    assert len({before for before, _, _, _ in results.values()}) == 1


def reach(scratch: Path) -> None:
    host, above = Path("/usr"), scratch / "above"
    for name in ("usr", "etc"):
        (above / name).mkdir(parents=True)
    for name in os.listdir(host):
        if (host / name).is_dir() and not (host / name).is_symlink():
            (above / "usr" / name).mkdir()
            os.setxattr(above / "usr" / name, "trusted.overlay.redirect", b"/" + os.fsencode(name))
    stack = Stack((above, host), scratch / "stack", redirects=True)
    assert (stack.whole / "usr/bin/env").is_file()
    snapshot = open_snapshot(stack.whole, scratch, ground=Ground("host", stack.layers))
    for place in ("etc/new", "usr/bin/new"):
        (snapshot.live / place).write_text("new")
    (snapshot.live / "usr/bin/env").unlink()
    assert [change.path for change in snapshot.diff()] == ["/etc/new", "/usr/bin/env", "/usr/bin/new"]
    snapshot.close()
    stack.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="in a user namespace overlayfs follows no redirects")
def test_machines_own_system_can_be_the_lowest_layer() -> None:
    """It is reached through redirects, and never copied."""
    run_as("root", reach)


def pile_up(scratch: Path, role: str) -> None:
    layers = [scratch / ("a-long-name-for-a-layer" * 6) / f"{number:0120d}" for number in range(120)]
    for number, layer in enumerate(layers):
        layer.mkdir(parents=True)
        (layer / f"f{number}").touch()
    stack = Stack(layers, scratch / "stack", redirects=role == "root")
    assert len(os.listdir(stack.whole)) == len(layers)
    features = b"" if role == "root" else b"userxattr"
    for place in ("live", "upper", "work"):
        (scratch / place).mkdir()
    mount_layers(scratch / "live", stack.layers, scratch / "upper", scratch / "work", features=features)
    assert len(os.listdir(scratch / "live")) == len(layers)
    told = Path("/proc/self/mounts").read_text()
    assert "a-long-name" not in told, "an agent could read where things lie on the host"


@pytest.mark.parametrize("role", [role for role in ("root", "user") if role in roles_here()])
def test_many_layers_with_long_names(role: str) -> None:
    """mount(2) takes one page of options, which 120 paths of 250 bytes would fill seven times."""
    run_as(role, pile_up, role)


def miss(scratch: Path) -> str:
    with pytest.raises(SnapshotError, match="build the image again") as caught:
        Stack((scratch / "top", scratch / "low"), scratch / "stack", redirects=True)
    assert sorted(os.listdir(scratch / "stack")) == ["nothing", "whole"]
    return str(caught.value)


def test_missing_layer_is_named() -> None:
    """A store may be emptied while a program still knows an image of it."""
    assert "top" in run_as("user", miss)
