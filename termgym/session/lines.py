"""Our ends of a terminal's lines: what is waiting to be written, what has been read, which are still open."""

from __future__ import annotations

import fcntl
import os
import select
import socket
import termios
from collections.abc import Sequence
from time import monotonic

from termgym.session.terminal import Terminal, open_slave

_CHUNK = 65_536  # per read; a pty gives at most 4095 at once [bytes]
_MODES = 60  # struct termios of the kernel, with room [bytes]
_TCSETS = 0x5402  # ioctl_tty(2)
_INBOX_LIMIT = 1 << 20  # junk that the agent may have in the report pipe before the oldest of it goes [bytes]


AWAKE = 0.0003 if len(os.sched_getaffinity(0)) > 1 else 0.0
"""How long to look again and again before sleeping [s]; not on a single processor, which the shell needs itself."""


class Lines:
    """Non-blocking reads and writes on one terminal, with the poll interests that they need."""

    __slots__ = ("_command", "_fds", "_interests", "_modes", "_now", "_outbox", "_poll", "_terminal", "inbox", "open")

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._command = socket.socket(fileno=terminal.command_fd)
        self._command.setblocking(False)  # as it is already; the object has to know
        self._outbox: dict[int, bytearray] = {}
        self.inbox = b""
        """What came through the report pipe."""
        self.open = {terminal.main_fd, terminal.error_fd, terminal.report_fd}
        """Lines that have not come to their end."""
        self._fds: tuple[int, ...] = (terminal.main_fd, terminal.error_fd, terminal.report_fd)
        self._interests: Sequence[tuple[int, int]] = ()
        self._poll = select.poll()
        self._modes: dict[int, bytes] = {}
        self._now = bytearray(_MODES)
        self._refresh()

    @property
    def interests(self) -> Sequence[tuple[int, int]]:
        """(fd, event mask) pairs; the same object until they change."""
        return self._interests

    def watch(self, fd: int) -> None:
        """Add a descriptor to the interests."""
        self._fds = (*self._fds, fd)
        self.open.add(fd)
        self._refresh()

    def unwatch(self, fd: int) -> None:
        """Take a descriptor out of the interests."""
        self.open.discard(fd)
        self._refresh()

    def poll(self, seconds: float) -> list[tuple[int, int]]:
        """Return what is ready within a time.

        A builtin answers sooner than a processor that sleeps wakes up, so at first it is kept awake.
        """
        found = self._poll.poll(0)
        if found or seconds <= 0:
            return found
        end = monotonic() + min(AWAKE, seconds)
        while not found and monotonic() < end:
            os.sched_yield()  # the kernel hands our bytes on in a thread of its own, perhaps on this processor
            found = self._poll.poll(0)
        return found or self._poll.poll(max(0.0, seconds - AWAKE) * 1000)

    def write(self, fd: int, data: bytes) -> None:
        """Send bytes; what the kernel does not take now goes when ``flush`` is called.

        Raises:
            OSError: nobody is at the other end any more.
        """
        if fd not in self._outbox:
            try:
                sent = self._send(fd, data)
            except BlockingIOError:
                sent = 0
            if sent == len(data):
                return
            data = data[sent:]
        self._outbox.setdefault(fd, bytearray()).extend(data)
        self._refresh()

    def interrupt(self) -> bool:
        """Type ^C at the main pty past everything that waits; return False if nobody is there, or its input is full."""
        try:
            return os.write(self._terminal.main_fd, b"\x03") == 1
        except OSError:
            return False

    def flush(self, fd: int) -> None:
        """Send what is left for a line, as far as it goes."""
        waiting = self._outbox.get(fd)
        if waiting is None:
            return
        try:
            del waiting[: self._send(fd, waiting[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:  # EIO: nobody is at the other end any more, which shows elsewhere
            waiting.clear()
        if not waiting:
            self.forget_unsent(fd)

    def _send(self, fd: int, data: bytes | bytearray) -> int:
        if fd == self._terminal.command_fd:
            # Whoever embeds this may have SIGPIPE end the process, as it does by default.
            return self._command.send(data, socket.MSG_NOSIGNAL)
        return os.write(fd, data)

    def forget_unsent(self, fd: int) -> None:
        """Drop what is left for a line."""
        if self._outbox.pop(fd, None) is not None:
            self._refresh()

    def sending(self, fd: int) -> bool:
        """Return whether something is left for a line."""
        return fd in self._outbox

    def read(self, fd: int) -> bytes:
        """Return what a line has; nothing if it has nothing now or, taken out of ``open``, has come to its end."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return b""
        except OSError:  # EIO: no process holds the slave any more
            data = b""
        if not data:
            self.open.discard(fd)
            self._refresh()
        return data

    def receive(self) -> None:
        """Take what the report pipe has into the inbox."""
        self.inbox += self.read(self._terminal.report_fd)
        if len(self.inbox) > _INBOX_LIMIT:
            self.inbox = self.inbox[-_INBOX_LIMIT // 2 :]

    def remember_modes(self) -> None:
        """Take the tty modes as they are now for the right ones."""
        for fd in (self._terminal.main_fd, self._terminal.error_fd):
            self._modes[fd] = fcntl.ioctl(fd, termios.TCGETS, bytes(_MODES))

    def restore_modes(self) -> None:
        """Undo ``stty``: echo, OPOST and raw mode must not leak into the next step."""
        for fd, modes in self._modes.items():
            fcntl.ioctl(fd, termios.TCGETS, self._now, True)
            if self._now != modes:
                fcntl.ioctl(fd, _TCSETS, modes)

    def drop_typeahead(self) -> None:
        """Throw away keystrokes that nobody has read, and unsent ones."""
        for master in (self._terminal.main_fd, self._terminal.error_fd):
            self.forget_unsent(master)
            # A flush on the master leaves what the slave's line discipline already holds.
            slave = open_slave(master)
            try:
                termios.tcflush(slave, termios.TCIFLUSH)
            finally:
                os.close(slave)

    def detach(self) -> None:
        """Leave the descriptors to whoever made the terminal."""
        self._command.detach()

    def close(self) -> None:
        """Close our ends."""
        self._command.close()
        for fd in self._terminal[1:5]:
            os.close(fd)
        self.open.clear()

    def _refresh(self) -> None:
        masks = {fd: select.POLLIN for fd in self._fds if fd in self.open}
        for fd in self._outbox:
            masks[fd] = masks.get(fd, 0) | select.POLLOUT
        for fd, _ in self._interests:
            if fd not in masks:
                self._poll.unregister(fd)
        for fd, mask in masks.items():
            self._poll.register(fd, mask)
        self._interests = tuple(masks.items())
