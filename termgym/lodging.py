"""Lodging: the machine that episodes live in, one after the other, and the shell that stands in it now."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence

from termgym.errors import SandboxError, SandboxLost, SandboxUnavailable, SnapshotError
from termgym.image import Image
from termgym.sandbox.protocol import Sandbox
from termgym.session.driving import Driver
from termgym.session.session import Session
from termgym.tasks.task import HOME, Task

FAULTS = (SandboxError, SnapshotError)
"""What an infrastructure fault looks like: the machine's failure, never the agent's."""
_log = logging.getLogger(__name__)


class Lodging:
    """A machine that is made when it is first needed, and again after it failed.

    Args:
        open_sandbox: Makes the machine.
        driver: The loop that drives the shell beside others, if there is one.
        bare: Whether nothing is mounted, so that paths are the host's under some root.
    """

    def __init__(self, open_sandbox: Callable[[], Sandbox], driver: Driver | None, *, bare: bool) -> None:
        self._open = open_sandbox
        self._driver = driver
        self._bare = bare
        self._owner = os.getpid()
        self.sandbox: Sandbox | None = None
        self.tokens: list[str] = []
        """Moments that are kept."""
        self._session: Session | None = None
        self.root = ""
        """Where the machine's files lie on the host if nothing is mounted; empty otherwise."""

    @property
    def session(self) -> Session:
        """The shell."""
        assert self._session is not None
        return self._session

    @property
    def ours(self) -> bool:
        """Whether the machine belongs to this process: after a fork it is the parent's."""
        return self._owner == os.getpid()

    def machine(self, what: str) -> Sandbox:
        """Return the machine.

        Raises:
            RuntimeError: there is none; ``what`` needs it.
        """
        if self.sandbox is None or not self.ours:
            raise RuntimeError(f"{what} needs a sandbox; call reset first")
        return self.sandbox

    def start(self, task: Task, watch: Sequence[str], image: Image | None) -> Sandbox:
        """Put a task's initial state in place and start a shell; a machine that fails at it is replaced once."""
        if not self.ours:
            self.abandon()
        try:
            return self._started(task, watch, image)
        except SandboxUnavailable:
            raise
        except FAULTS as error:
            _log.warning("the sandbox failed (%s); starting another", error)
            self.abandon()
            return self._started(task, watch, image)

    def _started(self, task: Task, watch: Sequence[str], image: Image | None) -> Sandbox:
        sandbox = self.sandbox
        if sandbox is None:
            sandbox = self.sandbox = self._open()
            self._owner = os.getpid()
        for token in self.tokens:
            sandbox.forget(token)
        self.tokens.clear()
        self._let_go()
        self._session = sandbox.start(task, watch=watch, image=image)
        if self._bare:
            # Nothing is mounted there: the agent's home lies somewhere on the host, never in the same place twice.
            self.root = self._session.exported()["HOME"].removesuffix(HOME)
        return sandbox

    def respawn(self) -> Session:
        """Start a new shell on the files as they are."""
        assert self.sandbox is not None
        self._let_go()
        self._session = self.sandbox.respawn()
        return self._session

    def restore(self, token: str) -> Session:
        """Put the files of a kept moment back and start a new shell."""
        assert self.sandbox is not None
        self._let_go()
        self._session = self.sandbox.restore(token)
        return self._session

    def inside(self, path: str) -> str:
        """Return a directory as the agent of an isolated machine would see it."""
        if path != self.root and not path.startswith(self.root + "/"):
            return path
        return path[len(self.root) :] or "/"

    def close(self) -> None:
        """Leave nothing behind; may be called again, and ``start`` makes everything anew."""
        self._let_go()
        sandbox, self.sandbox = self.sandbox, None
        self.tokens.clear()
        if sandbox is not None:
            try:
                sandbox.close()
            except SandboxLost as error:  # nothing of it is left to be closed
                _log.info("closing a sandbox that is gone: %s", error)

    def abandon(self) -> None:
        """Let go of a machine that has failed, of which nothing more can be asked."""
        try:
            self.close()
        except FAULTS as error:
            _log.warning("closing a failed sandbox: %s", error)

    def _let_go(self) -> None:
        """Part from the shell, which is about to be closed."""
        if self._session is not None and self._driver is not None:
            self._driver.forget(self._session)
        self._session = None
