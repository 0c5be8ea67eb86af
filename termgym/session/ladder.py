"""The kill ladder: from a polite ^C to the end of the sandbox, one rung at a time."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Generator, Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from termgym.session.process import processor_time, read_stat
from termgym.session.terminal import Terminal
from termgym.session.waiting import Watcher


class Pace(NamedTuple):
    """How long each rung is given to take effect [s]."""

    interrupt: float
    terminate: float
    kill: float


PATIENT = Pace(interrupt=0.25, terminate=0.4, kill=0.4)
"""For a command that ran past its time-out: it may be cleaning up."""
BRISK = Pace(interrupt=0.06, terminate=0.2, kill=0.3)
"""For a program that only waits for input, before the next command."""

KILL_SHELL = "SIGKILL shell"
_KILL_ROUNDS = 6  # nested shells: each kill brings the next one to the foreground


_FAIR = 0.03
"""Processor time within which a process that can has done what a signal makes it do [s]."""
_STARVED = 0.05
"""From one look to the next at processes that do not get it [s]."""
_STARVED_DEADLINE = 20.0
"""How long they are waited for at most, in one climb [s]."""


class Rung(NamedTuple):
    """A rung that was just stepped on."""

    name: str
    """What was sent; empty: nothing, and what was sent before is waited for."""
    pause: float
    """How long to wait for its effect [s]."""


def climb(terminal: Terminal, watcher: Watcher, pace: Pace, reader: int = 0) -> Generator[Rung, None, None]:
    """Step on one rung at each call; close it when the shell has reported.

    Args:
        reader: a process that waits for input outside the foreground group, to go with it; 0 if there is none.
    """
    end = monotonic() + _STARVED_DEADLINE

    def starved() -> Iterator[Rung]:
        return _while_starved([terminal.shell_pid, *_victims(terminal, watcher, reader)], end)

    with contextlib.suppress(OSError):  # its input buffer is full: the next rung does without
        os.write(terminal.main_fd, b"\x03")
    yield Rung("^C", pace.interrupt)
    yield from starved()
    if _signal(watcher.foreground(), [], signal.SIGINT):
        yield Rung("SIGINT", pace.interrupt)
        yield from starved()
    for number, more in ((signal.SIGTERM, [signal.SIGCONT]), (signal.SIGKILL, [])):
        own_children = 0
        for _ in range(_KILL_ROUNDS if number is signal.SIGKILL else 1):
            victims = _victims(terminal, watcher, reader)
            # A second set of children of its own: the shell itself is in a loop, and starts the next when one dies.
            own_children += all(_parent(pid) == terminal.shell_pid for pid in victims)
            if not victims or own_children > 1:
                break
            for each in (number, *more):
                _signal(0, victims, each)
            yield Rung(number.name, pace.terminate if number is signal.SIGTERM else pace.kill / 2)
            yield from starved()
    shell = read_stat(terminal.shell_pid)
    if shell is not None and shell.state == "T":
        _signal(0, [terminal.shell_pid], signal.SIGCONT)
        yield Rung("SIGCONT shell", pace.interrupt)
    yield from _while_writers_pause(watcher, pace.interrupt)
    _signal(0, [terminal.shell_pid], signal.SIGKILL)
    yield Rung(KILL_SHELL, pace.kill)
    terminal.kill_all()
    yield Rung("kill all", pace.kill)


def _while_writers_pause(watcher: Watcher, pause: float) -> Iterator[Rung]:
    """Let the shell set its terminal while nobody writes there.

    Until a terminal is free the kernel has who sets its modes wait in a queue; but not who has a signal pending, as the
    shell has by now: that one tries again and again, and where many bytes are written all the time has no luck
    (``retry_write_wait`` in drivers/tty/tty_ioctl.c, Linux 6.3 and later).
    """
    writers = [each.pid for each in watcher.writers()]
    if writers:
        _signal(0, writers, signal.SIGSTOP)
        try:
            yield Rung("SIGSTOP writers", pause)
        finally:
            _signal(0, writers, signal.SIGCONT)


def _while_starved(pids: Sequence[int], end: float) -> Iterator[Rung]:
    """Wait for processes that would run and have no turn: on a busy machine, what was sent has not arrived yet.

    Args:
        pids: of whom.
        end: until when at most [s, time.monotonic()].
    """
    had = {pid: processor_time(pid) for pid in pids}
    while had and monotonic() < end:
        had = {pid: before for pid, before in had.items() if _waits_for_a_turn(pid, before)}
        if had:
            yield Rung("", _STARVED)


def _waits_for_a_turn(pid: int, had: float) -> bool:
    status = read_stat(pid)
    return status is not None and status.state == "R" and processor_time(pid) - had < _FAIR


def put_down(pid: int) -> None:
    """Kill one process, if it is still there and ours to kill."""
    _signal(0, [pid], signal.SIGKILL)


def _victims(terminal: Terminal, watcher: Watcher, reader: int) -> list[int]:
    """Return the foreground group's processes but the shell.

    Under ``set +m`` commands run in the shell's own group, so the group as a whole is never signalled.
    """
    group = watcher.foreground()
    victims = [each.pid for each in watcher.members(group) if each.pid != terminal.shell_pid] if group else []
    return [*victims, reader] if reader and reader not in victims and reader != terminal.shell_pid else victims


def _parent(pid: int) -> int:
    status = read_stat(pid)
    return 0 if status is None else status.parent


def _signal(group: int, pids: Sequence[int], number: signal.Signals) -> bool:
    """Send a signal to a group or to processes; return whether there was anyone."""
    sent = False
    for target in [-group] if group else pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # ended; or set-id, for which a higher rung is
            os.kill(target, number)
            sent = True
    return sent
