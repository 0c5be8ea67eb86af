"""This process's end of the conversation with its supervisor."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

from termgym import errors
from termgym.sandbox.wire import Wire

_BOOT = """
import sys, types
package = types.ModuleType("termgym")
package.__path__ = [sys.argv[1]]
sys.modules["termgym"] = package
from termgym.sandbox.supervisor import main
main(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
"""
"""Starts the supervisor without termgym/__init__.py, which loads Gymnasium: it must stay small, since it forks."""

_END_DEADLINE = 10.0  # [s]


class Supervisor:
    """A supervisor process and the lock that keeps one request at a time."""

    def __init__(self, mode: str) -> None:
        ours, theirs = socket.socketpair()
        package = str(Path(__file__).resolve().parent.parent)
        argv = [sys.executable, "-I", "-S", "-c", _BOOT, package, str(theirs.fileno()), mode, str(os.getpid())]
        with theirs:
            self._process = subprocess.Popen(argv, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._wire = Wire(ours)
        self._lock = threading.Lock()
        self._machines = 0
        self.lost = False
        self.owner = os.getpid()
        try:
            self._receive()
        except BaseException:
            self.end()
            raise

    def request(self, do: str, **fields: Any) -> tuple[dict[str, Any], list[int]]:
        """Ask for ``do``; return the reply and the descriptors in it.

        Raises:
            SandboxLost: the supervisor is gone.
            TermGymError: what went wrong there.
        """
        with self._lock:
            if self.lost:
                raise errors.SandboxLost("the sandbox's supervisor process is gone; call reset to start another")
            try:
                self._wire.send({"do": do, **fields})
            except OSError as error:
                self.end()
                raise errors.SandboxLost(f"the sandbox's supervisor process is gone ({error}); call reset") from error
            return self._receive()

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        try:
            reply, fds = self._wire.receive()
        except (EOFError, OSError) as error:
            self.end()
            raise errors.SandboxLost(f"the sandbox's supervisor process ended: {error}; call reset") from error
        if "error" in reply:
            raise getattr(errors, reply["error"])(reply["message"])
        return reply, fds

    def name_machine(self) -> str:
        """Return a name that no other machine of this supervisor has."""
        with self._lock:
            self._machines += 1
            return str(self._machines)

    def end(self) -> None:
        """Close the conversation; the supervisor then cleans up and ends."""
        self.lost = True
        self._wire.close()
        if os.getpid() == self.owner:
            self._process.wait(_END_DEADLINE)


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
        supervisor.lost = True
        supervisor._wire.close()
    _shared = None


def _end_all() -> None:
    """Wait for the supervisors to clean up, so that nothing is left when this process is gone."""
    for supervisor in list(_every):
        if not supervisor.lost and supervisor.owner == os.getpid():
            supervisor.end()


os.register_at_fork(after_in_child=_forget_in_child)
atexit.register(_end_all)
