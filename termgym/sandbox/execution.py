"""Start a program inside a running sandbox, beside its shell, as the agent's user.

The supervisor forks, the child joins the namespaces and forks again, because a pid namespace only holds for
children. Nothing of this runs inside before the agent's user and limits are in force.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from termgym.result import Completed
from termgym.sandbox import syscalls
from termgym.sandbox.death import KILL_DEADLINE, collect, ended
from termgym.sandbox.environment import AGENT_GID, AGENT_UID
from termgym.sandbox.offspring import finish, fork
from termgym.sandbox.person import Person, become
from termgym.sandbox.room import TAG, Room

_JOINED = (
    syscalls.CLONE_NEWNS | syscalls.CLONE_NEWPID | syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS | syscalls.CLONE_NEWNET
)
CANNOT_START = 127
_KILLED = 128 + signal.SIGKILL
_OUTPUT_LIMIT = 4 << 20  # [bytes] a stream; a check never needs more
_GRACE = 0.005  # for a program that was killed to be collected [s]
_TRACED = "its end cannot be seen: another program traces it"
_ROUNDS = 64  # of 64 KiB: more than a pipe can hold by default


@dataclass(frozen=True, slots=True)
class Entrance:
    """The way in: which process's namespaces, as whom, under which limits."""

    pid: int | None
    """A process inside; None where there are no namespaces."""
    real_root: bool
    confine: Callable[[], None]
    """Joins the control group and sets the rlimits of the calling process."""
    filter: bytes | None
    """The seccomp filter that holds inside."""
    apart: int | None = None
    """A user namespace to join instead of the agent's (``apart``)."""
    person: Person | None = None
    """Who to be on an image; None: the agent."""


def start(
    entrance: Entrance,
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    streams: tuple[int, int, int],
    report: int = -1,
    *,
    detach: bool,
) -> int:
    """Start ``argv`` with ``streams`` as its standard streams.

    Args:
        entrance: where and as whom.
        argv: the program; found by the PATH in ``env``.
        env: its whole environment.
        cwd: its working directory inside.
        streams: descriptors for 0, 1 and 2.
        report: a descriptor to which the program's pid is written, a line, and why it could not be started.
        detach: hand it to the sandbox's pid 1, and return when that is done.

    Returns:
        The pid of a child of the caller whose exit status is the program's (``detach``: 0 once it runs).
    """

    def enter() -> int:
        try:
            entrance.confine()
            user = _join(entrance)
            child = os.fork()
            if child == 0:
                if detach and os.fork():
                    os._exit(0)
                _become(argv, env, cwd, streams, report, entrance, user)
            if report >= 0:
                os.write(report, b"%d\n" % child)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except OSError as error:
            _tell(streams[2], report, f"cannot enter the sandbox: {error}")
            return 1
        return status if status >= 0 else 128 - status

    return fork(enter)


def _join(entrance: Entrance) -> int | None:
    """Join all namespaces but the user's; return the descriptor with which that one is joined later."""
    if entrance.pid is None:
        return None
    inside = os.pidfd_open(entrance.pid)
    syscalls.enter(inside, _JOINED)
    return None if entrance.real_root else inside


def _become(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    streams: tuple[int, int, int],
    report: int,
    entrance: Entrance,
    user_namespace: int | None,
) -> None:
    try:
        os.setsid()
        if entrance.apart is not None:
            syscalls.enter(entrance.apart, syscalls.CLONE_NEWUSER)
        elif user_namespace is not None:
            syscalls.enter(user_namespace, syscalls.CLONE_NEWUSER)
        # Root inside could else open what this process still holds of ours, in the moment between the two.
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
        if entrance.person is not None:
            become(entrance.person, real_root=entrance.real_root)
        elif entrance.real_root:
            drop_to_agent()
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        if entrance.pid is not None and entrance.filter is not None:
            syscalls.set_filter(entrance.filter)
        copies = [os.dup(fd) for fd in streams]
        for number, copy in enumerate(copies):
            os.dup2(copy, number)
        if report >= 0:
            report = os.dup2(report, 3, inheritable=False)
        os.closerange(3 if report < 0 else 4, os.sysconf("SC_OPEN_MAX"))
        os.chdir(cwd)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(argv[0], list(argv), dict(env))
    except OSError as error:
        _tell(2, report, f"{argv[0]}: {error.strerror}")
    finally:
        os._exit(CANNOT_START)


def _tell(stderr: int, report: int, reason: str) -> None:
    """Say why a program could not be started."""
    os.write(stderr, f"{reason}\n".encode())
    if report >= 0:
        os.write(report, reason.encode())


def drop_to_agent() -> None:
    """Turn the calling process, real root, into the agent's user for good."""
    os.setgroups([])
    os.setresgid(AGENT_GID, AGENT_GID, AGENT_GID)
    os.setresuid(AGENT_UID, AGENT_UID, AGENT_UID)


def run(
    entrance: Entrance,
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    *,
    timeout: float,
    stdin: bytes,
    room: Room,
) -> Completed:
    """Run ``argv`` to its end or the time-out; whatever it started is dead when this returns.

    Args:
        entrance: where and as whom.
        argv: the program.
        env: its environment.
        cwd: its working directory inside.
        timeout: [s]
        stdin: what it can read.
        room: where its processes are told from the agent's.
    """
    source = os.memfd_create("stdin")
    os.write(source, stdin)
    os.lseek(source, 0, os.SEEK_SET)
    out_r, out_w = os.pipe()
    err_r, err_w = os.pipe()
    why_r, why_w = os.pipe()
    try:
        pid = start(entrance, argv, {**env, TAG[0]: TAG[1]}, cwd, (source, out_w, err_w), why_w, detach=False)
        for fd in (out_w, err_w, why_w):
            os.close(fd)
        done = _collect(pid, (out_r, err_r), timeout, room)
        os.set_blocking(why_r, False)
        inner, reason = _reported(why_r)
        # Who waited for it may have been ended by the memory limit: then it was adopted.
        if inner and not done.refused and not collect(inner, KILL_DEADLINE):
            reason = _TRACED
        return replace(done, refused=done.refused or reason)
    finally:
        for fd in (source, out_r, err_r, why_r):
            os.close(fd)


def _reported(fd: int) -> tuple[int, str]:
    """Return the pid of the program and why it could not be started, 0 and nothing where that was not told."""
    try:
        told = os.read(fd, 4096)
    except BlockingIOError:
        return 0, ""
    first, _, rest = told.partition(b"\n")
    return (int(first), rest.decode("utf-8", "replace")) if first.isdigit() else (0, told.decode("utf-8", "replace"))


def _collect(pid: int, pipes: tuple[int, int], timeout: float, room: Room) -> Completed:
    gone = os.pidfd_open(pid)
    kept = {fd: bytearray() for fd in pipes}
    try:
        timed_out = not _listen(kept, gone, time.monotonic() + timeout)
    finally:
        os.close(gone)
    status = _end(pid, room)
    for fd in pipes:
        os.set_blocking(fd, False)
        for _ in range(_ROUNDS):  # somebody of the agent's may hold the other end and write without end
            if not _take(fd, kept[fd]):
                break
    refused = _TRACED if status is None else ""
    code = _KILLED if status is None else status if status >= 0 else 128 - status
    return Completed(code, bytes(kept[pipes[0]]), bytes(kept[pipes[1]]), timed_out, refused)


def _end(pid: int, room: Room) -> int | None:
    """Kill what still runs of a run; return how the process outside that waits for it ended, None if it did not.

    Then it was killed. It may come into the room, and start the program, only after the room was cleared: so it is
    cleared until there is nobody left to come.
    """
    end = time.monotonic() + KILL_DEADLINE
    status = ended(pid, 0.0)
    room.clear(pid if status is None else None)
    while status is None:
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            finish(pid)
            return None
        status = ended(pid, _GRACE)
        room.clear(pid if status is None else None)
    return status


def _listen(kept: dict[int, bytearray], gone: int, end: float) -> bool:
    """Take output until the program has ended; return False if it has not by ``end``."""
    poll = select.poll()
    for fd in (*kept, gone):
        poll.register(fd, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll(max(0.0, end - time.monotonic()) * 1000)]
        for fd in ready:
            if fd in kept and not _take(fd, kept[fd]):
                poll.unregister(fd)
        # The program decides the end, not its pipes: a daemon may hold those for ever.
        if gone in ready:
            return True
        if time.monotonic() >= end:
            return False


def _take(fd: int, into: bytearray) -> bool:
    """Read once; return whether there may be more."""
    try:
        data = os.read(fd, 65536)
    except BlockingIOError:
        return False
    if len(into) < _OUTPUT_LIMIT:
        into += data
    return bool(data)
