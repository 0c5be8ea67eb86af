"""``RUN``: one program in the image, under limits, until it ends or time is up."""

from __future__ import annotations

import contextlib
import os
import platform
import select
import signal
import stat
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from termgym.errors import SandboxUnavailable
from termgym.image.confinement import NOT_MOUNTED, Confinement
from termgym.image.tree import Tree
from termgym.sandbox import callfilter
from termgym.sandbox.cgroups import Group, hierarchies, make_group, parents, remove_orphans

SHOWN = 4000
"""What an error shows of the end of a program's output [characters]."""
_KEPT = 1 << 16  # [bytes]
_CHUNK = 1 << 16  # [bytes]
_NO_PROGRAM = "bwrap: execvp "
_PROCESSES = 4096
_PATIENCE = 10.0  # [s]; a killed process may have to wait for a disk
_LEAST_MEMORY, _MOST_MEMORY = 1 << 30, 8 << 30  # [bytes]
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_OURS = {"PATH": _PATH, "LC_ALL": "C.UTF-8", "LIBMOUNT_FORCE_MOUNT2": "always"}
"""The environment outside: the newer interface of mount(8) cuts the names of many layers."""

Report = Callable[[str], None]


class Ended(NamedTuple):
    """How a program ended."""

    status: int
    """Exit status; negative: the signal that ended it."""
    output: str
    timed_out: bool


def run(confinement: Confinement, argv: Sequence[str], switch: Sequence[str], timeout: float, report: Report) -> Ended:
    """Run a program in an image; what it wrote is in the confinement's ``upper`` afterwards.

    Raises:
        SandboxUnavailable: this machine does not let it be confined; says what helps.
    """
    with _grouped(confinement.room.name) as group, _filtered() as filter_fd:
        whole = replace(confinement, groups=group.paths if group else (), filter_fd=filter_fd)
        command = whole.command(argv, switch)
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=_OURS,
            pass_fds=() if filter_fd is None else (filter_fd,),
            start_new_session=True,
        )
        with process:
            try:
                output, in_time = _follow(process, started + timeout, report)
            finally:
                _end(process, group)
    text = output.decode("utf-8", "replace")
    if process.returncode == NOT_MOUNTED and text.startswith(("mount:", "unshare:", "mknod:", "sh:", "prlimit:")):
        raise _unavailable(text.strip())
    if process.returncode == 1 and text.startswith(("bwrap: ", "unshare: ")) and not text.startswith(_NO_PROGRAM):
        raise _unavailable(text.strip())
    return Ended(process.returncode, text, not in_time)


def _unavailable(told: str) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"an image cannot be built on this machine ({told}); the store must lie on ext4, xfs, btrfs or tmpfs "
        "(ROLF_CACHE names another place), a container must allow mounts (docker: --privileged), and an ordinary user "
        "needs user namespaces (Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0)"
    )


def _follow(process: subprocess.Popen[bytes], end: float, report: Report) -> tuple[bytes, bool]:
    """Read what a program says until it ends; return the end of it, and whether it ended in time."""
    assert process.stdout is not None
    kept: deque[bytes] = deque()
    size = 0
    poll = select.poll()
    poll.register(process.stdout, select.POLLIN)
    rest = b""
    while True:
        left = end - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return b"".join(kept)[-_KEPT:], False
        data = os.read(process.stdout.fileno(), _CHUNK)
        if not data:
            break
        kept.append(data)
        size += len(data)
        while size - len(kept[0]) > _KEPT:
            size -= len(kept.popleft())
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            report(line.decode("utf-8", "replace"))
        rest = rest[-_CHUNK:]
    try:
        process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return b"".join(kept)[-_KEPT:], False
    return b"".join(kept)[-_KEPT:], True


def _end(process: subprocess.Popen[bytes], group: Group | None) -> None:
    """End the program with all that it started: with bubblewrap dies its pid 1, and with that one all the rest."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    end = time.monotonic() + _PATIENCE
    while group is not None and (left := group.processes()) and time.monotonic() < end:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


@contextmanager
def _grouped(name: str) -> Iterator[Group | None]:
    """Yield a control group with a build's limits, where there can be one."""
    usable, _ = hierarchies()
    usable = {controller: usable[controller] for controller in ("memory", "pids") if controller in usable}
    remove_orphans(parents(usable))
    group = make_group(usable, "build" + name.rpartition("-")[2])
    try:
        if group is not None:
            if "memory" in group.directories:
                group.set_memory(_memory())
            if "pids" in group.directories:
                group.set_processes(_PROCESSES)
        yield group
    finally:
        if group is not None:
            group.remove()


def _memory() -> int:
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(_LEAST_MEMORY, min(_MOST_MEMORY, whole // 2))


@contextmanager
def _filtered() -> Iterator[int | None]:
    """Yield a descriptor of the filter of system calls, where there is one for this machine."""
    program = callfilter.program(platform.machine())
    if program is None:
        yield None
        return
    fd = os.memfd_create("filter")
    try:
        os.write(fd, program)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def clean_up(room: Path, resolver: str, *, was_there: bool) -> None:
    """Take away what the mount of resolv.conf left in the layer."""
    left = Tree([room / "upper"], "").find(resolver, follow=False) if resolver and not was_there else None
    if left is not None and stat.S_ISREG(left.status.st_mode) and not left.status.st_size:
        os.unlink(left.sources[0])
