"""Shell: one bash at the far end of a terminal; what can be asked of it and done to it at any moment."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic

from termgym.errors import SandboxError, SandboxLost
from termgym.session.capture import decode
from termgym.session.lines import Lines
from termgym.session.report import Report, Wire, exported_variables
from termgym.session.terminal import ERROR_FD, MAIN_FD, REPORT_FD, SCRIPT_FD, Terminal
from termgym.session.waiting import Watcher

_DIGITS = 16  # of a nonce
_AT_ONCE = 64  # nonces for which the kernel is asked together: asking takes longer than all else about them
_DELETED = " (deleted)"  # proc(5): appended to the cwd link of a directory that is gone
# ``exec`` itself, or what may run it unseen: a sourced file, an evaluated string, a redirection that closes.
_CLOSING = re.compile(rb"exec|&-|source|\. |eval")


def _words() -> Iterator[bytes]:
    """Yield words that nobody can guess; a letter comes first, since each is also an argument of ``unset -f``."""
    while True:
        digits = secrets.token_hex(_DIGITS // 2 * _AT_ONCE).encode()
        for start in range(0, len(digits), _DIGITS):
            yield b"t" + digits[start : start + _DIGITS]


class Shell:
    """A bash that has shaken hands: job control on, no history, errors on their own pty.

    Raises:
        SandboxLost: it did not come up in time.
        SandboxError: it came up without job control.
    """

    def __init__(self, terminal: Terminal, watch: Sequence[str], start_timeout: float) -> None:
        self.terminal = terminal
        self._wire = self._usual_wire = Wire(watch)
        self.watcher = Watcher(terminal)
        self.lines = Lines(terminal)
        self.last = Report(0, b"", False, b"", {}, b"")
        """The latest report."""
        self.nonces = (b"-", b"-")
        """Of the latest command and the one before."""
        self.connected = True
        """Whether the report pipe is open; it closes when the shell ends or ``exec`` replaces it, unless a background
        subshell still holds it."""
        self.asked_again = True
        """Whether the latest command's report was asked for a second time."""
        self.watched_also: Sequence[str] = ()
        """Variables that the commands to come report beside those of ``watch``."""
        self._before = self.last
        self._nonces = _words()
        self._may_lose_lines = False
        self._cwd_link = f"/proc/{terminal.shell_pid}/cwd"
        self._pidfd = -1
        self._closed = False
        try:
            self._pidfd = os.pidfd_open(terminal.shell_pid)
            self.lines.watch(self._pidfd)
        except OSError as error:
            self._give_up()
            raise SandboxLost(
                f"the shell (pid {terminal.shell_pid}) ended before it was asked anything: {error}"
            ) from error
        try:
            self._shake_hands(start_timeout)
        except BaseException:
            self._give_up()
            raise

    @property
    def end_fd(self) -> int:
        """A descriptor that becomes readable when the process ends (pidfd_open(2))."""
        return self._pidfd

    def _shake_hands(self, timeout: float) -> None:
        report = self._exchange(self._wire.opening, timeout)
        if b"m" not in report.flags:
            raise SandboxError(
                f"the shell has no job control ($- is {report.flags!r}): its fd 2 must be its controlling terminal"
            )
        try:
            self._check_sealed()
            self.watcher.remember_shell()
            self.lines.remember_modes()
        except OSError as error:
            raise SandboxLost(
                f"the shell (pid {self.terminal.shell_pid}) ended right after its first answer: {error}"
            ) from error
        for fd in (self.terminal.main_fd, self.terminal.error_fd):
            self.lines.read(fd)  # a launcher's or a prompt's first words

    def _check_sealed(self) -> None:
        """Make sure that programs will not inherit the shell's own lines."""
        for number in (REPORT_FD, SCRIPT_FD, MAIN_FD, ERROR_FD):
            with open(f"/proc/{self.terminal.shell_pid}/fdinfo/{number}", encoding="ascii") as file:
                flags = next(line for line in file if line.startswith("flags:"))
            if not int(flags.split()[1], 8) & os.O_CLOEXEC:
                raise SandboxError(f"this bash does not make its descriptor {number} close-on-exec; bash 5.0 to 5.3 do")

    def can_take_commands(self) -> bool:
        """Return whether the shell has not lost its own lines (``exec 242>&-``).

        Looking costs a third of a builtin step. So it is left out until a command has come that contains what can close
        a descriptor; should one slip through, the next command fails and is looked at.
        """
        return not (self._may_lose_lines or self.last.status) or self.watcher.holds_its_lines()

    def send(self, command: bytes) -> None:
        """Type a command.

        Raises:
            OSError: the command socket has no other end any more.
        """
        self._new_nonce()
        if self.watched_also or self._wire is not self._usual_wire:
            self._choose_wire()
        self._before = self.last
        self._may_lose_lines = self._may_lose_lines or _CLOSING.search(command) is not None
        self.lines.write(
            self.terminal.command_fd, self._wire.command(command, self.nonces[0], self.last, self.terminal.script_fd)
        )
        self.asked_again = False
        if not self.watcher.sees_rest:
            self.ask_again()

    def _choose_wire(self) -> None:
        """Have the report tell of what is watched now; the one before may still have been on its way until now."""
        usual = self._usual_wire
        more = [name for name in self.watched_also if name not in usual.watch]
        self._wire = Wire((*usual.watch, *more)) if more else usual
        self.last = self.last._replace(text=b"")  # a report that looks the same may be about other variables now

    @property
    def sending(self) -> bool:
        """Whether part of a command is still to be typed."""
        return self.lines.sending(self.terminal.command_fd)

    def ask_again(self) -> None:
        """Ask for the report of a command whose line may have been unwound; does no harm otherwise."""
        self.asked_again = True
        with contextlib.suppress(OSError):  # it has ended, which shows elsewhere
            self.lines.write(self.terminal.command_fd, self._wire.again(self.nonces[0], self._before))

    def take(self, fd: int, events: int) -> bytes:
        """Read or write what a descriptor is ready for; return output, if it is that."""
        if events & select.POLLOUT:
            self.lines.flush(fd)
            if events == select.POLLOUT:
                return b""
        if fd == self.terminal.report_fd:
            self.lines.receive()
            if fd not in self.lines.open:
                self.connected = False
        elif fd == self._pidfd:
            self.connected = False
            self.lines.unwatch(fd)
        elif fd != self.terminal.command_fd:  # whose output is an echo that nobody asked for
            return self.lines.read(fd)
        return b""

    def reported(self) -> bool:
        """Return whether the latest command has been reported; then ``last`` is its report."""
        report = self._wire.parse(self.lines.inbox, self.nonces[0], self.last)
        if report is None:
            return False
        self.last = report
        self.lines.inbox = b""
        return True

    def exported(self, timeout: float = 10.0) -> Mapping[str, str]:
        """Return the exported variables, as a child of the shell would get them now.

        Raises:
            SandboxLost: the shell does not answer.
            SandboxError: ``/usr/bin/env`` could not run.
        """
        status = self.last.status
        self._exchange(self._wire.environment, timeout)
        listing = self._listing
        # Without its text: a report that looks the same speaks of another status than the one carried over.
        self.last = self.last._replace(status=status, text=b"")
        variables = exported_variables(listing, self.nonces[0])
        if not variables:
            raise SandboxError("the shell could not run /usr/bin/env, so its exported variables are unknown")
        return variables

    def cwd(self) -> str | None:
        """Return the working directory as the shell's own root shows it, None if the shell has ended."""
        try:
            path = os.readlink(self._cwd_link)
        except OSError:
            return None
        if path.endswith(_DELETED) and self._is_removed():
            return path.removesuffix(_DELETED)
        return path

    def _is_removed(self) -> bool:
        try:
            return os.stat(self._cwd_link).st_nlink == 0
        except OSError:
            return True

    def kill(self) -> None:
        """Kill the shell alone; SIGKILL also ends a stopped process."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def close(self) -> None:
        """Close all descriptors; may be called twice."""
        if not self._closed:
            self._closed = True
            self.lines.close()
            self._forget_process()

    def _give_up(self) -> None:
        self.lines.detach()
        self._forget_process()

    def _forget_process(self) -> None:
        if self._pidfd >= 0:
            os.close(self._pidfd)
        self._pidfd = -1

    def _new_nonce(self) -> None:
        self.nonces = (next(self._nonces), self.nonces[0])

    def _exchange(self, line: Callable[[bytes], bytes], timeout: float) -> Report:
        """Send a line of our own and wait for its report."""
        self._new_nonce()
        self.lines.inbox = b""
        said = bytearray()
        end = monotonic() + timeout
        with contextlib.suppress(OSError):  # it has ended: the report pipe tells so too
            self.lines.write(self.terminal.command_fd, line(self.nonces[0]))
        while True:
            self._listing = self.lines.inbox
            if self.reported():
                return self.last
            left = end - monotonic()
            if left <= 0 or not self.connected:
                how = "did not answer" if self.connected else "ended without an answer"
                raise SandboxLost(f"the shell {how} within {timeout:g} s; it said {decode(bytes(said[-2000:]))!r}")
            for fd, events in self.lines.poll(left):
                said += self.take(fd, events)
