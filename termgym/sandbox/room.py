"""The processes of one program that runs beside the shell, told from the agent's own, and ended for certain."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from termgym.errors import SandboxError
from termgym.sandbox.cgroups import ROOM, Group
from termgym.sandbox.death import KILL_DEADLINE
from termgym.sandbox.processes import descendants

TAG = ("ROLF_RUN", "1")
"""Variable that marks the processes of a run where there is no control group. Runs of one sandbox follow one another
and leave nothing, so one value does, and output that shows the environment stays the same."""
_PAUSE = 0.001  # [s]


class Room:
    """Where the processes of a run are: a control group inside the sandbox's, which none of them can leave or enter.

    Without control groups a variable marks them, which the agent can forge: then only what it loses by that is its own.

    Args:
        group: the sandbox's control group.
        inside: returns every process of the sandbox.
    """

    def __init__(self, group: Group | None, inside: Callable[[], Sequence[int]]) -> None:
        self._inside = inside
        self._directory: Path | None = None
        if group is not None and "pids" in group.directories:
            self._directory = group.directories["pids"] / ROOM
            self._directory.mkdir(exist_ok=True)
            self._gate, self._shut, self._open = ("cgroup.freeze", "1", "0")
            if group.versions["pids"] == 1:
                self._gate, self._shut, self._open = ("pids.max", "0", "max")

    def enter(self) -> None:
        """Move the calling process in."""
        if self._directory is not None:
            (self._directory / "cgroup.procs").write_text("0")

    def clear(self, starter: int | None) -> None:
        """Kill all but ``starter``, the process outside the namespaces that waits for them; return when none is left.

        None: it has ended.

        Raises:
            SandboxError: something survived.
        """
        end = time.monotonic() + KILL_DEADLINE
        self._set_gate(shut=True)
        stopped: set[int] = set()
        while left := self._members(starter):
            if time.monotonic() > end:
                raise SandboxError(f"processes {sorted(left)} of a run are alive {KILL_DEADLINE:.0f} s after SIGKILL")
            # A stopped process still counts: a fork bomb comes to rest before anything of it is killed.
            number = signal.SIGKILL if left <= stopped else signal.SIGSTOP
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            stopped |= left
            if number == signal.SIGKILL:
                time.sleep(_PAUSE)
        self._set_gate(shut=False)

    def _set_gate(self, *, shut: bool) -> None:
        """Let no process be born meanwhile."""
        if self._directory is not None:
            (self._directory / self._gate).write_text(self._shut if shut else self._open)

    def _members(self, starter: int | None) -> set[int]:
        if self._directory is not None:
            found = {int(pid) for pid in (self._directory / "cgroup.procs").read_text().split()}
        else:
            tag = "=".join(TAG).encode()
            found = {pid for pid in self._inside() if _has_tag(pid, tag)}
            # Until its parent ends, what runs is a child of the starter, not of the sandbox's pid 1; marked or not.
            found.update(descendants(starter) if starter is not None else ())
        return found if starter is None else found - {starter}


def _has_tag(pid: int, tag: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return tag in file.read().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
