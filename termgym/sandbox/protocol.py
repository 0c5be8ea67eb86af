"""What every sandbox can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from termgym.image.image import Image
from termgym.result import Completed
from termgym.sandbox.seen import FileStatus, Metrics, Process
from termgym.session.session import Session
from termgym.snapshot.change import Change
from termgym.tasks.task import Task
from termgym.verification.request import Verification, Verified

__all__ = ["FileStatus", "Inspector", "Metrics", "Process", "Sandbox"]


class Inspector(Protocol):
    """What checks may ask about the machine. Answered from outside the sandbox, so the agent cannot forge it,
    except ``run``, which executes as the agent's user inside it."""

    def status(self, path: str) -> FileStatus | None:
        """Return the status of an absolute agent path, or None if it does not exist."""

    def read_file(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """Return up to ``limit`` bytes of a regular file (following links inside the tree), or None."""

    def read_link(self, path: str) -> str | None:
        """Return the target of a symbolic link, or None."""

    def processes(self) -> tuple[Process, ...]:
        """Return all processes of the agent but the shell and the sandbox's own."""

    def listening_ports(self) -> frozenset[int]:
        """Return the TCP ports that something listens on inside the sandbox."""

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float = 10.0,
        stdin: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        apart: bool = False,
        alone: bool = False,
    ) -> Completed:
        """Run a program beside the shell as the agent's user in a clean environment; its whole tree dies at the end.

        Args:
            argv: the program.
            timeout: [s]
            stdin: what it can read.
            cwd: its working directory; None: the home.
            env: variables beside the clean environment.
            apart: out of the agent's reach: no other program of its can trace this one or open what it has open.
            alone: every other program of the agent's stands still meanwhile, and does not notice. Where one of them
                cannot be stopped, ``refused`` says so and nothing is run.
        """


class Sandbox(Inspector, Protocol):
    """A machine for one agent at a time, that goes back to a task's initial state on ``start``."""

    def start(self, task: Task, *, watch: Sequence[str] = (), image: Image | None = None) -> Session:
        """Kill what runs, put the task's initial state in place, start services and the shell.

        Args:
            task: whose episode begins.
            watch: variables that the shell reports after each command.
            image: what ``task.image`` was built to; with one, its whole root is the tree.

        Raises:
            TaskError: the task's setup failed.
            SandboxError: the machine failed.
        """

    @property
    def workdir(self) -> str:
        """Where the shell starts: the home, or what an image says."""

    def respawn(self) -> Session:
        """Start a new shell on the files as they are; all processes are gone."""

    def kill(self) -> None:
        """Kill every process; return when none is left. Files stay."""

    def copy_in(self, source: str, target: str, *, as_agent: bool = False) -> None:
        """Copy what is in a host directory into a directory of an image's tree, over what has the same names there.

        A link or file of the agent's on the way to it is replaced by a directory.

        Args:
            source: host directory.
            target: agent path.
            as_agent: whether the copies belong to the agent; else to root.

        Raises:
            TaskError: there is no such host directory.
        """

    def verify(self, verification: Verification) -> Verified:
        """Kill every process of the agent and run a verifier on what it left; whatever that writes is thrown away.

        Files and digest stay the agent's. No shell runs afterwards; ``respawn`` starts one.

        Raises:
            TaskError: the tests are not there, or the image has no such user.
            SandboxError, SnapshotError: the machine failed.
        """

    def begin_step(self) -> None:
        """Start measuring."""

    def metrics(self) -> Metrics:
        """Return what was used since ``begin_step``."""

    def diff(self) -> tuple[Change, ...]:
        """Return what differs from the initial state."""

    def digest(self) -> str:
        """Return the digest of the tree now."""

    def save(self) -> str:
        """Keep the files as they are now under a token."""

    def restore(self, token: str) -> Session:
        """Put the files of ``save`` back and start a new shell."""

    def forget(self, token: str) -> None:
        """Free what ``save`` kept."""

    def capabilities(self) -> Mapping[str, object]:
        """Return what this sandbox provides: isolation, snapshot, limits with sources, network, what is missing."""

    def close(self) -> None:
        """Leave nothing behind."""
