"""Stillness: the agent's programs held where they are while something is looked at, so that none can meddle with it.

By ptrace(2), which works with and without control groups, and of which neither the programs nor their parents hear:
SIGSTOP would show in job control, and SIGCONT would have full-screen programs draw again. A thread that was seized and
interrupted runs no instruction of its own until it is let go.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from termgym.sandbox import syscalls
from termgym.sandbox.offspring import finish, fork

_SEIZE, _INTERRUPT, _DETACH = 0x4206, 0x4207, 17  # linux/ptrace.h
_WALL = 0x4000_0000  # linux/wait.h: threads too
_DEADLINE = 2.0  # for the last of them to stand still; only a program that multiplies without end takes long [s]
_PAUSE = 0.0001  # [s]


@contextlib.contextmanager
def held(inside: Callable[[], Iterable[int]]) -> Iterator[str | None]:
    """Hold every process that ``inside`` returns for as long as the context lasts.

    Yields:
        None, or why not all could be held: that is what the agent brought about.
    """
    tracer = _Tracer(inside)
    tracer.start()
    try:
        yield tracer.reason()
    finally:
        tracer.let_go()


class _Tracer(threading.Thread):
    """The thread that holds.

    When it ends the kernel lets go of whatever it still holds (ptrace(2)). That cannot be had by asking: one that has
    not stopped yet, as a parent in vfork(2), does not let itself be asked, and a dead one would never be collected.
    """

    def __init__(self, inside: Callable[[], Iterable[int]]) -> None:
        super().__init__(name="stillness")
        self._inside = inside
        self._reason: str | None = None
        self._fault: BaseException | None = None
        self._holds, self._ends = threading.Event(), threading.Event()

    def run(self) -> None:
        """Hold until told to let go."""
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for who waits for this thread
        threads: dict[int, int] = {}
        try:
            self._reason = _hold(self._inside, threads)
        except BaseException as fault:  # noqa: BLE001 - raised by ``reason``, where somebody hears of it
            self._fault = fault
        self._holds.set()
        self._ends.wait()
        _let_go(threads)

    def reason(self) -> str | None:
        """Wait until all are held; return None, or why not all could be."""
        self._holds.wait()
        if self._fault is not None:
            raise self._fault
        return self._reason

    def let_go(self) -> None:
        """Let go, and return when that is done."""
        self._ends.set()
        self.join()


def probe() -> str | None:
    """Return why nothing can be held on this host, or None: a child was."""
    pid = fork(_pause)
    try:
        with held(lambda: [pid]) as reason:
            return reason
    finally:
        finish(pid, 0.0)


def _pause() -> int:
    signal.pause()
    return 0


def _hold(inside: Callable[[], Iterable[int]], threads: dict[int, int]) -> str | None:
    """Hold all, those born meanwhile too; note in ``threads`` who is held, and the signal that each is owed."""
    end = time.monotonic() + _DEADLINE
    while new := [tid for pid in inside() for tid in _threads(pid) if tid not in threads]:
        for tid in new:
            try:
                syscalls.ptrace(_SEIZE, tid)
                threads[tid] = 0
                syscalls.ptrace(_INTERRUPT, tid)
            except ProcessLookupError:  # it has just ended; if it was seized, that has to be waited for
                continue
            except OSError as error:
                if _state(tid) in "ZX":
                    continue
                return f"process {tid} cannot be held ({error.strerror}): another program traces it"
        for tid in new:
            while tid in threads and not _has_stopped(tid, threads):
                if time.monotonic() > end:
                    return f"process {tid} does not stand still"
                time.sleep(_PAUSE)
        if time.monotonic() > end:
            return f"new processes appear faster than they can be held; {len(threads)} are"
    return None


def _threads(pid: int) -> list[int]:
    """Return the living threads of a process."""
    try:
        found = [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [tid for tid in found if _state(tid) not in "ZX"]


def _state(tid: int) -> str:
    """Return the letter of a thread's state (proc(5)); X if it is gone."""
    return _status(tid)[0]


def _status(tid: int) -> tuple[str, int]:
    """Return the state of a thread and its parent's pid."""
    try:
        with open(f"/proc/{tid}/stat", "rb") as file:
            fields = file.read().rsplit(b") ", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return "X", 0
    return fields[0].decode(), int(fields[1])


def _has_stopped(tid: int, threads: dict[int, int]) -> bool:
    """Return whether a thread stands still now; one that has ended is forgotten."""
    found = None
    with contextlib.suppress(ChildProcessError):  # it has ended
        found = os.waitid(os.P_PID, tid, os.WSTOPPED | os.WNOHANG | _WALL)
    if found is not None:
        if not found.si_status >> 8:  # no event of ptrace's own: it was about to receive this signal
            threads[tid] = found.si_status
        return True
    state, parent = _status(tid)
    if state in "ZX":
        # Whoever else waits for it hears of its end only after its tracer.
        if state == "X" or parent == os.getpid() or os.waitpid(tid, os.WNOHANG | _WALL)[0]:
            del threads[tid]
        return tid not in threads
    # A parent in vfork(2) wakes only after its child, which is held; then it stops before it does anything.
    return state == "D"


def _let_go(threads: dict[int, int]) -> None:
    """Let go of all that have stopped, each with the signal that it is owed."""
    end = time.monotonic() + _DEADLINE
    while threads and time.monotonic() < end:
        for tid, owed in list(threads.items()):
            try:
                syscalls.ptrace(_DETACH, tid, owed)
                del threads[tid]
            except ProcessLookupError:  # it has not stopped yet, or was killed
                if _has_stopped(tid, threads) and _state(tid) == "D":
                    del threads[tid]
        if threads:
            time.sleep(_PAUSE)
