"""Is a program waiting for input? And is the shell still listening?

Asked only after some silence. The foreground group of the controlling terminal says who may read; /proc/PID/syscall
says what each of its threads is blocked in. A read from a tty is certain. A poll is told apart by what it polls: a
program that put the tty into raw mode and polls it is a REPL or a full-screen program; in canonical mode it waits only
if it polls nothing else (``read -t`` does, ``tail -f`` and ``ssh`` do not).
Devices are compared by number, never by path: the devpts instance may be private to the sandbox.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import termios
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from time import monotonic
from typing import NamedTuple

from termgym.session.blocking import PTMX, Blocked, blocked_threads, read_call
from termgym.session.process import ProcessStat, read_stat
from termgym.session.terminal import ERROR_FD, MAIN_FD, REPORT_FD, SCRIPT_FD, Terminal

_TIOCGPTN = 0x80045430  # ioctl_tty(2): number of a master's slave
_CONTROLLING = os.makedev(5, 0)  # /dev/tty
_REST_LIMIT = 0.5  # for the shell to come to rest after its first answer [s]
_INT = struct.Struct("i")
_LOCAL_FLAGS = struct.Struct("12xI")  # c_lflag in struct termios


class Verdict(Enum):
    """What a look at the sandbox found."""

    BUSY = "something runs, or nothing can be said"
    WAITS = "a program waits for keystrokes"
    LISTENS = "the shell reads its next command"
    CUT_OFF = "the shell no longer has its command socket"
    STOPPED = "the shell is stopped"
    GONE = "the shell has ended"


class Sight(NamedTuple):
    """One look."""

    verdict: Verdict
    pid: int = 0
    """Who waits."""
    on_error_pty: bool = False
    """Whether it reads from the error pty (``less`` does) and not from the main one."""


class Watcher:
    """Looks at the processes behind one terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._command: tuple[int, int] | None = None
        self._main = slave_device(terminal.main_fd)
        self._error = slave_device(terminal.error_fd)
        self._image: tuple[str, bytes] | None = None
        self._idle_read: tuple[int, int, int] | None = None

    def remember_shell(self) -> None:
        """Take what the shell's process is now for the shell at rest: its program, where and how it reads commands.

        By the buffer it reads into, its own reading is told apart from that of its ``read`` and ``select``.
        """
        shell = self._terminal.shell_pid
        self._image = _image(shell)
        self._command = _file(shell, 0)
        end = monotonic() + _REST_LIMIT
        while self._idle_read is None and monotonic() < end:
            self._idle_read = read_call(shell)

    def replaced(self) -> bool:
        """Return whether the shell's process runs another program, or the same one anew (``exec``)."""
        image = _image(self._terminal.shell_pid)
        return image is not None and image != self._image

    def holds_its_lines(self) -> bool:
        """Return whether the shell still has what it needs to take a command: its input, its screens and its memfd."""
        shell = self._terminal.shell_pid
        return (
            self._keeps_command_socket(shell)
            and (_device(shell, MAIN_FD), _device(shell, ERROR_FD)) == (self._main, self._error)
            and _is_same_file(shell, REPORT_FD, self._terminal.report_fd)
            and _is_same_file(shell, SCRIPT_FD, self._terminal.script_fd)
        )

    def ends(self) -> bool:
        """Return whether the shell is on its way out: the kernel takes its memory away before its descriptors."""
        try:
            with open(f"/proc/{self._terminal.shell_pid}/cmdline", "rb") as file:
                return not file.read(1)
        except (FileNotFoundError, ProcessLookupError):
            return True

    def listens(self) -> bool:
        """Return whether the shell is blocked reading its next command."""
        return self._at_rest() and _file(self._terminal.shell_pid, 0) == self._command

    @property
    def sees_rest(self) -> bool:
        """Whether ``listens`` can ever say so: the kernel may not let us look (no /proc/PID/syscall, Yama)."""
        return self._idle_read is not None

    def _at_rest(self) -> bool:
        """Return whether the shell reads its next command, from wherever it now comes."""
        call = read_call(self._terminal.shell_pid)
        return call is not None and call == self._idle_read

    def look(self) -> Sight:
        """Return what the processes behind the terminal are doing now."""
        shell = read_stat(self._terminal.shell_pid)
        if shell is None or shell.state in "ZX":
            return Sight(Verdict.GONE)
        if shell.state == "T":
            return Sight(Verdict.STOPPED, shell.pid)
        if self.listens():
            return Sight(Verdict.LISTENS, shell.pid)
        if self._at_rest() or not self._keeps_command_socket(shell.pid):
            return Sight(Verdict.CUT_OFF, shell.pid)
        return self._look_for_reader(shell)

    def foreground(self) -> int:
        """Return the foreground process group of the controlling terminal, 0 if there is none."""
        try:
            group: int = _INT.unpack(fcntl.ioctl(self._terminal.main_fd, termios.TIOCGPGRP, bytes(4)))[0]
        except OSError:
            return 0  # the terminal has no session any more
        return max(0, group)

    def members(self, group: int) -> list[ProcessStat]:
        """Return the live processes of a group."""
        return [each for each in self._processes() if each.group == group]

    def writers(self) -> list[ProcessStat]:
        """Return the processes but the shell that have one of our two screens for their output and are not stopped."""
        return [
            each
            for each in self._processes()
            if each.pid != self._terminal.shell_pid
            and each.state != "T"
            and {_device(each.pid, 1), _device(each.pid, 2)} & {self._main, self._error}
        ]

    def find_reader(self) -> Sight:
        """Return who waits for input, whatever has become of the shell."""
        shell = read_stat(self._terminal.shell_pid)
        return Sight(Verdict.GONE) if shell is None else self._look_for_reader(shell)

    def _processes(self) -> Iterator[ProcessStat]:
        for pid in self._terminal.pids():
            status = read_stat(pid)
            if status is not None and status.state not in "ZX":
                yield status

    def _keeps_command_socket(self, pid: int) -> bool:
        """Return whether a descriptor of the shell is its command socket: fd 0, or during a command a saved copy."""
        if _file(pid, 0) == self._command:
            return True
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            return True  # may not look, or just ended: nothing can be said
        return any(_file(pid, int(number)) == self._command for number in numbers)

    def _look_for_reader(self, shell: ProcessStat) -> Sight:
        everyone = list(self._processes())
        foreground = self.foreground()
        group = [each for each in everyone if each.group == foreground]
        calls = {each.pid: blocked_threads(each.pid) for each in group}
        for each in group:
            if sight := self._waits(each, calls[each.pid], everyone):
                return sight
        # ``su -c cat``, ``setsid -w cat`` and tmux leave the reading to a process outside the foreground group,
        # and are themselves blocked until it has done.
        delegates = [each for each in group if each.pid != shell.pid]
        if delegates and all(any(call.waits or call.polls for call in calls[each.pid]) for each in delegates):
            outside = (
                each for each in everyone if each.group != foreground and each.pid != shell.pid and each.state != "T"
            )
            for each in outside:
                if sight := self._waits(each, blocked_threads(each.pid), ()):
                    return sight
        return Sight(Verdict.BUSY)

    def _waits(self, process: ProcessStat, calls: Iterable[Blocked], everyone: Iterable[ProcessStat]) -> Sight | None:
        """Return the sight of a process that waits for input on one of our two screens."""
        for call in calls:
            devices = [self._resolve(_device(process.pid, fd), process) for fd in call.fds]
            ours = [device for device in devices if device in (self._main, self._error)]
            if ours and (call.reads or (call.polls and self._polls_for_keys(process, devices, everyone))):
                return Sight(Verdict.WAITS, process.pid, ours[0] == self._error)
        return None

    def _polls_for_keys(
        self, process: ProcessStat, devices: Sequence[int | None], everyone: Iterable[ProcessStat]
    ) -> bool:
        if PTMX in devices:  # script, tmux, sudo: a relay, which polls all the time; its inner program decides
            return any(self._reads_some_tty(each) for each in everyone if each.terminal not in (0, process.terminal))
        if self._is_raw():
            return True
        return all(device is None or device in (self._main, self._error) for device in devices)

    def _reads_some_tty(self, process: ProcessStat) -> bool:
        return any(
            is_terminal(self._resolve(_device(process.pid, fd), process))
            for call in blocked_threads(process.pid)
            if call.reads or call.polls
            for fd in call.fds
        )

    def _resolve(self, device: int | None, process: ProcessStat) -> int | None:
        return process.terminal if device == _CONTROLLING else device

    def _is_raw(self) -> bool:
        modes = fcntl.ioctl(self._terminal.main_fd, termios.TCGETS, bytes(60))
        return not _LOCAL_FLAGS.unpack_from(modes)[0] & termios.ICANON


def slave_device(master: int) -> int:
    """Return the device number of a master's slave (devpts numbers from major 136 on)."""
    number = struct.unpack("I", fcntl.ioctl(master, _TIOCGPTN, bytes(4)))[0]
    return os.makedev(136 + (number >> 8), number & 0xFF)


def is_terminal(device: int | None) -> bool:
    """Return whether a device number is a pty slave's."""
    return device is not None and 136 <= os.major(device) <= 143


def _device(pid: int, fd: int) -> int | None:
    """Return the device number behind a process's descriptor, 0 if it is no character device, None if unknown."""
    try:
        status = os.stat(f"/proc/{pid}/fd/{fd}")
    except OSError:
        return None  # closed meanwhile, ended, or not ours to look at
    return status.st_rdev if stat.S_ISCHR(status.st_mode) else 0


def _file(pid: int, fd: int) -> tuple[int, int] | None:
    """Return what tells the file behind a process's descriptor from all others, None if it is not to be seen."""
    try:
        status = os.stat(f"/proc/{pid}/fd/{fd}")
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_same_file(pid: int, theirs: int, ours: int) -> bool:
    """Return whether a process's descriptor and one of ours are the same file; both ends of a pipe are."""
    try:
        return os.path.samestat(os.stat(f"/proc/{pid}/fd/{theirs}"), os.fstat(ours))
    except OSError:
        return False


def _image(pid: int) -> tuple[str, bytes] | None:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.readlink(f"/proc/{pid}/exe"), file.read()
    except OSError:
        return None  # ended
