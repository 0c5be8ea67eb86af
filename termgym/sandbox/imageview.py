"""The view of a sandbox on an image: the whole root is the agent's tree; only /proc, /dev and /sys are not.

Everything about the start travels to bubblewrap by its options file, the environment too: an image's ENV may hold a
variable that has the loader put code into the next program (LD_PRELOAD), and bubblewrap is the host's.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from termgym.errors import SandboxError, TaskError
from termgym.sandbox import syscalls
from termgym.sandbox.bubblewrap import (
    FILTER_FD,
    OPTIONS_FD,
    PRIVATE_MEMORY,
    file_of,
    namespaces,
    wait_for_limits,
)
from termgym.sandbox.person import CAPABILITIES, Person
from termgym.sandbox.reading import find_program
from termgym.snapshot.walking import opened_root

LAUNCHERS_ENV = {"PATH": "/usr/bin:/bin"}
"""What bubblewrap itself is started with."""
_TOO_SMALL = "/busybox"  # its applets of these names know nothing of users
_MS_BIND = 4096  # linux/mount.h


@dataclass(frozen=True, slots=True)
class ImageView:
    """What one sandbox on an image sees."""

    bwrap: Path
    """Bubblewrap on a read-only mount: to root inside, /proc/1/exe is a way to it that leads past all else."""
    live: Path
    """The tree, which is the whole root."""
    devices: Path
    """A directory to be shown as /dev."""
    nothing: Path
    """A directory to be shown as /sys: empty, for what is there is the host's."""
    pts: Path
    """A devpts instance of its own."""
    room: Path
    """A directory in which all of it is put together, to be bound as one."""
    proc_files: Sequence[tuple[str, str]]
    """(file or directory of the host, path in the sandbox): mounted read-only, in this order."""
    person: Person
    env: Mapping[str, str]
    network: bool
    filter: bytes | None
    covers: Sequence[tuple[Path, str]] = ()
    """(directory, path in the tree without the first slash): shown there, over what the tree has."""


@contextmanager
def launcher(
    view: ImageView, pipes: tuple[int, int] | None, *, real_root: bool, chdir: str
) -> Iterator[tuple[list[str], dict[int, int]]]:
    """Yield the argv that a program's own argv is appended to, and the descriptors to start it with: its -> ours.

    As ``bubblewrap.launcher``, whose contract this is.
    """
    passed: dict[int, int] = {}
    argv = namespaces(network=view.network, real_root=real_root, uid=0, gid=0)
    if pipes is not None:
        argv += wait_for_limits(pipes, passed)
    argv += ["--dev-bind", str(view.room), "/", "--proc", "/proc"]
    for source, target in view.proc_files:
        argv += ["--ro-bind", source, target]
    argv += ["--perms", "1777", "--size", PRIVATE_MEMORY, "--tmpfs", "/dev/shm", "--chdir", chdir]
    argv += ["--cap-drop", "ALL", *(word for name in CAPABILITIES for word in ("--cap-add", name)), "--clearenv"]
    for name, value in view.env.items():
        argv += ["--setenv", name, value]
    with contextlib.ExitStack() as files:
        files.enter_context(furnished(view))
        if real_root:
            files.enter_context(_grouped(view.person.groups))
        if view.filter is not None:
            passed[FILTER_FD] = file_of(view.filter, files)
            argv += ["--seccomp", str(FILTER_FD)]
        passed[OPTIONS_FD] = file_of(b"".join(os.fsencode(word) + b"\0" for word in argv), files)
        yield [str(view.bwrap), "--args", str(OPTIONS_FD), "--", *_becoming(view, real_root=real_root)], passed


@contextmanager
def furnished(view: ImageView) -> Iterator[None]:
    """Bind the tree on the room, and on it what is not the tree's; only as long as a sandbox is being started."""
    syscalls.mount(str(view.live), view.room, None, _MS_BIND | syscalls.MS_REC)
    try:
        os.close(_open_directory(view.room, "proc"))  # bubblewrap would follow a link there, from the host's root
        _cover(view.devices, view.room, "dev")
        _cover(view.nothing, view.room, "sys")
        for source, name in view.covers:
            _cover(source, view.room, name)
        syscalls.mount(str(view.pts), view.room / "dev/pts", None, _MS_BIND)
        yield
    finally:
        syscalls.umount(view.room, syscalls.MNT_DETACH)


def _cover(source: Path, root: Path, name: str) -> None:
    """Bind a directory on one of the tree's."""
    place = _open_directory(root, name)
    try:
        syscalls.mount(str(source), f"/proc/self/fd/{place}", None, _MS_BIND | syscalls.MS_REC)
    finally:
        os.close(place)


def _open_directory(root: Path, name: str) -> int:
    """Return a descriptor of a directory of the tree, as it is: no link is followed."""
    try:
        with opened_root(root) as top:
            return syscalls.open_in_root(top, name, os.O_PATH | os.O_DIRECTORY, follow=False)
    except OSError as error:
        raise SandboxError(f"/{name} is no directory any more ({error.strerror}), so no program starts") from error


@contextmanager
def _grouped(groups: Sequence[int]) -> Iterator[None]:
    """Have what is started meanwhile be in these groups: root of an image needs no program of it to become itself."""
    before = os.getgroups()
    os.setgroups(groups)
    try:
        yield
    finally:
        os.setgroups(before)


def _becoming(view: ImageView, *, real_root: bool) -> list[str]:
    """Return the words that start a program as the person, from root in its groups.

    Raises:
        TaskError: the image has no program that does it.
    """
    person = view.person
    if not real_root or (person.uid, person.gid) == (0, 0):
        return []
    path = view.env["PATH"]
    setpriv = find_program(view.live, path, "setpriv")
    if setpriv is not None and not setpriv.endswith(_TOO_SMALL):
        return ["setpriv", f"--reuid={person.uid}", f"--regid={person.gid}", "--keep-groups", "--inh-caps=-all", "--"]
    chroot = find_program(view.live, path, "chroot")
    if chroot is not None and not chroot.endswith(_TOO_SMALL):
        groups = ",".join(map(str, person.groups))
        return ["chroot", f"--userspec={person.uid}:{person.gid}", f"--groups={groups}", "--skip-chdir", "/"]
    raise TaskError(
        f"the image wants user {person.uid}, and has neither setpriv (util-linux) nor chroot (coreutils) to become it; "
        "install one of them"
    )
