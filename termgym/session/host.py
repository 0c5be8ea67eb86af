"""A terminal on the host itself, without any isolation: for tests, and for driving a shell that one trusts."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic, sleep

from termgym.errors import SandboxError
from termgym.session.process import all_pids, read_stat
from termgym.session.session import Session
from termgym.session.terminal import Spawned, Terminal, spawn_bash

_MARK = "TERMGYM_TERMINAL"  # in the environment of everything the shell starts: daemons are found by it
_KILL_LIMIT = 5.0  # [s]
_numbers = itertools.count()


def host_terminal(*, env: Mapping[str, str] | None = None, cwd: str | None = None) -> Terminal:
    """Return the terminal of a new bash that runs beside this process, as its user.

    ``kill_all`` finds the shell's session, its descendants and whoever inherited its environment; a process that has
    left all three behind (``env -i setsid`` after a double fork) is beyond it: that takes a sandbox.

    Args:
        env: environment of the shell; None: this process's own.
    """
    mark = f"{os.getpid()}.{next(_numbers)}"
    spawned = spawn_bash((), env={**(os.environ if env is None else env), _MARK: mark}, cwd=cwd)
    host = _Host(spawned, f"{_MARK}={mark}".encode())
    return Terminal(
        spawned.command_fd,
        spawned.main_fd,
        spawned.error_fd,
        spawned.report_fd,
        spawned.script_fd,
        spawned.process.pid,
        host.wait,
        host.kill_all,
        host.pids,
    )


@contextlib.contextmanager
def host_session(
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    watch: Sequence[str] = (),
    output_limit: int = 32_768,
) -> Iterator[Session]:
    """Provide a session on a host terminal, all of whose processes are killed at the end."""
    terminal = host_terminal(env=env, cwd=cwd)
    try:
        session = Session(terminal, watch=watch, output_limit=output_limit)
        try:
            yield session
        finally:
            session.close()
    finally:
        terminal.kill_all()


class _Host:
    def __init__(self, spawned: Spawned, mark: bytes) -> None:
        self._process = spawned.process
        self._mark = mark

    def wait(self, seconds: float) -> int | None:
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return code if code >= 0 else 128 - code

    def pids(self) -> list[int]:
        """Return the shell's session and its descendants."""
        shell = self._process.pid
        found = {shell}
        # Children have higher numbers than their parents until numbers wrap around: then a second look finds them.
        for status in filter(None, map(read_stat, all_pids())):
            if status.session == shell or status.parent in found:
                found.add(status.pid)
        return sorted(found)

    def kill_all(self) -> None:
        end = monotonic() + _KILL_LIMIT
        while victims := [pid for pid in self._everyone() if _is_alive(pid)]:
            if monotonic() > end:
                raise SandboxError(f"processes {victims} are still alive {_KILL_LIMIT:.0f} s after SIGKILL")
            for pid in victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            sleep(0.001)
        self._process.wait(_KILL_LIMIT)

    def _everyone(self) -> set[int]:
        return {*self.pids(), *(pid for pid in all_pids() if self._is_marked(pid))}

    def _is_marked(self, pid: int) -> bool:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return self._mark in file.read().split(b"\0")
        except OSError:
            return False  # ended, or another user's


def _is_alive(pid: int) -> bool:
    status = read_stat(pid)
    return status is not None and status.state not in "ZX"
