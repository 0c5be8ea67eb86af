"""This process's end of the conversation with its supervisor."""

from __future__ import annotations

import atexit
import collections
import contextlib
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

from termgym import errors
from termgym.sandbox import cgroups, strays
from termgym.sandbox.wire import Wire

_BOOT = f"""
import sys, types
package = types.ModuleType("termgym")
package.__path__ = [sys.argv[1]]
sys.modules["termgym"] = package
{strays.BOOT}
main(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
"""
"""Starts the supervisor without termgym/__init__.py, which loads Gymnasium: it must stay small, since it forks."""

_END_DEADLINE = 10.0  # [s]
PATIENCE = 300.0
"""How long a request may take beyond the time it asks for itself [s]: comparing a huge tree takes a minute."""
_FIRST_FREE = 3  # below are the standard streams, which the owner may have closed


class Supervisor:
    """A supervisor process and the lock that keeps one request at a time."""

    def __init__(self, mode: str, *, patience: float = PATIENCE) -> None:
        ours, theirs = _socket_pair()
        package = str(Path(__file__).resolve().parent.parent)
        argv = [sys.executable, "-I", "-S", "-c", _BOOT, package, str(theirs.fileno()), mode, str(os.getpid())]
        self._wire = Wire(ours)
        try:
            with theirs:
                # A session of its own: what is typed at the owner's terminal (^C, ^Z, hanging up) is the owner's
                # business.
                self._process = subprocess.Popen(
                    argv, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd="/", start_new_session=True
                )
        except BaseException:
            self._wire.close()
            raise
        self._patience = patience
        self._lock = threading.Lock()
        self._machines = 0
        self._owed = 0
        """Replies to come, that of an interrupted request included."""
        self._abandoned: collections.deque[str] = collections.deque()
        self._traces: dict[str, Any] = {"groups": [], "prefix": "", "folder": None}
        self.lost = False
        self.owner = os.getpid()
        self._owed += 1
        try:
            self._traces, _ = self._receive("start", patience)
        except BaseException:
            self.end()
            raise

    @property
    def pid(self) -> int:
        """The supervisor's process."""
        return self._process.pid

    def request(self, do: str, *, takes: float = 0.0, **fields: Any) -> tuple[dict[str, Any], list[int]]:
        """Ask for ``do``; return the reply and the descriptors in it.

        An exception that comes meanwhile from elsewhere (a KeyboardInterrupt) leaves the conversation intact.

        Args:
            do: a method of the supervisor.
            takes: the time that the request itself may take [s].
            **fields: its arguments.

        Raises:
            SandboxLost: the supervisor is gone, or gave no answer in time and was killed.
            TermGymError: what went wrong there.
        """
        self._check_there()  # in a forked child the lock may be held by a thread that does not exist
        with self._lock:
            self._check_there()
            self._settle_debts()
            while self._abandoned:
                self._exchange("close_machine", {"machine": self._abandoned.popleft()}, 0.0)
            return self._exchange(do, fields, takes)

    def _check_there(self) -> None:
        if self.lost:
            raise errors.SandboxLost("the sandbox's supervisor process is gone; call reset to start another")

    def _settle_debts(self) -> None:
        """Take the replies that an interrupted request did not wait for."""
        while self._owed:
            with contextlib.suppress(errors.TermGymError):  # that of a request which nobody waits for any more
                _, fds = self._receive("an interrupted request", self._patience)
                for fd in fds:
                    os.close(fd)
            self._check_there()

    def _exchange(self, do: str, fields: dict[str, Any], takes: float) -> tuple[dict[str, Any], list[int]]:
        message = Wire.encode({"do": do, **fields})
        self._owed += 1
        try:
            self._wire.send_encoded(message)
        except OSError as error:
            self.end()
            raise errors.SandboxLost(f"the sandbox's supervisor process is gone ({error}); call reset") from error
        except BaseException:
            self.end()  # half a message may be on its way, after which nothing would be understood
            raise
        return self._receive(do, self._patience + takes)

    def _receive(self, do: str, patience: float) -> tuple[dict[str, Any], list[int]]:
        if not self._wire.wait(patience):
            self._process.kill()
            self.end()
            raise errors.SandboxLost(
                f"the sandbox's supervisor process did not answer {do!r} in {patience:g} s and was killed; call reset"
            )
        try:
            reply, fds = self._wire.receive()
            self._owed -= 1
        except (EOFError, OSError) as error:
            self.end()
            raise errors.SandboxLost(f"the sandbox's supervisor process ended: {error}; call reset") from error
        except BaseException:
            self.end()  # half a message may have been read
            raise
        if "error" in reply:
            raise getattr(errors, reply["error"])(reply["message"])
        return reply, fds

    def name_machine(self) -> str:
        """Return a name that no other machine of this supervisor has."""
        with self._lock:
            self._machines += 1
            return str(self._machines)

    def abandon(self, machine: str) -> None:
        """Have a machine closed before the next request. Never blocks: the garbage collector may call it."""
        self._abandoned.append(machine)

    def end(self) -> None:
        """Close the conversation; the supervisor then cleans up and ends. What a killed one left is cleaned up."""
        self.lost = True
        self._wire.close()
        if os.getpid() != self.owner:
            return
        try:
            self._process.wait(_END_DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode:
            strays.clear_strays()
            cgroups.clear_away(map(Path, self._traces["groups"]), self._traces["prefix"])
            if self._traces["folder"] is not None:
                shutil.rmtree(self._traces["folder"], ignore_errors=True)

    def let_go(self) -> None:
        """Drop the parent's conversation in a forked child."""
        self.lost = True
        self._wire.close()


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return a connected pair, clear of the standard streams, whose sending end gives up in time."""
    one, other = socket.socketpair()
    with one, other, contextlib.ExitStack() as kept:
        ends = []
        for end in (one, other):
            number = fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
            ends.append(kept.enter_context(socket.socket(fileno=number)))
        # A stopped supervisor reads nothing; the buffer of the kernel is soon full.
        ends[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 30, 0))
        kept.pop_all()
    return ends[0], ends[1]


_shared: Supervisor | None = None
_guard = threading.Lock()
_every: weakref.WeakSet[Supervisor] = weakref.WeakSet()


def isolated_supervisor() -> Supervisor:
    """Return the process's one isolated supervisor; start it if there is none (any more)."""
    global _shared
    with _guard:
        if _shared is None or _shared.lost:
            _shared = Supervisor("isolated")
            _every.add(_shared)
        return _shared


def unsafe_supervisor() -> Supervisor:
    """Start a supervisor without isolation; one for each sandbox, since it adopts that sandbox's orphans."""
    supervisor = Supervisor("unsafe")
    _every.add(supervisor)
    return supervisor


def _forget_in_child() -> None:
    """Drop the parent's supervisor in a forked child, which must neither use it nor keep its socket open."""
    global _shared, _guard
    _guard = threading.Lock()
    for supervisor in list(_every):
        supervisor.let_go()
    _shared = None


def _end_all() -> None:
    """Wait for the supervisors to clean up, so that nothing is left when this process is gone."""
    for supervisor in list(_every):
        if not supervisor.lost and supervisor.owner == os.getpid():
            supervisor.end()


os.register_at_fork(after_in_child=_forget_in_child)
atexit.register(_end_all)
