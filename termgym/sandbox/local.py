"""LocalSandbox: this machine, in namespaces of its own."""

from __future__ import annotations

import base64
import contextlib
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from termgym.errors import SandboxError, SandboxLost, SandboxUnavailable, TaskError
from termgym.image.image import Image
from termgym.result import Completed
from termgym.sandbox import places
from termgym.sandbox.birth import START_DEADLINE
from termgym.sandbox.client import Supervisor, isolated_supervisor, unsafe_supervisor
from termgym.sandbox.environment import AGENT_GID, AGENT_UID, pinned
from termgym.sandbox.hearing import hear
from termgym.sandbox.imaged import imaged
from termgym.sandbox.measuring import Meter, open_meter
from termgym.sandbox.processes import descendants, inhabitants, listening_ports, look
from termgym.sandbox.seen import FileStatus, Metrics, Process
from termgym.sandbox.verdicts import answered, requested
from termgym.sandbox.wishes import clock_variables, recipe, start_request
from termgym.session.session import Session
from termgym.session.terminal import Terminal
from termgym.snapshot.change import Change, ChangeKind
from termgym.tasks.task import HOME, Limits, Task
from termgym.verification.request import Verification, Verified

_LONGEST_RUN = 86_400.0  # [s]
_BUILD = 120.0
"""A start's own time: building an initial state [s]."""


class LocalSandbox:
    """A sandbox on this machine.

    Args:
        isolated: in namespaces; False is ``local-unsafe``, which protects nothing.
        snapshot: backend by name; None: the fastest that works here.
        network: share the host's network instead of an empty one.
        clock: ``real`` or ``frozen`` (libfaketime).
        limits: override the task's.
        log_dir: where the rsync snapshot keeps its logs.
        output_limit: kept of each output stream of a step [bytes].

    Raises:
        SandboxUnavailable: this host cannot do it; the message says what is missing.
    """

    def __init__(
        self,
        *,
        isolated: bool = True,
        snapshot: str | None = None,
        network: bool = False,
        clock: str = "real",
        limits: Limits | None = None,
        log_dir: str | None = None,
        output_limit: int = 32_768,
    ) -> None:
        self._isolated = isolated
        self._limits = limits
        self._output_limit = output_limit
        self._clock = clock_variables(clock, isolated=isolated)
        self._supervisor: Supervisor = isolated_supervisor() if isolated else unsafe_supervisor()
        self._machine = self._supervisor.name_machine()
        self._network = network
        self._facts: dict[str, Any] = {}
        self._root_fd = self._live_fd = -1
        self._session: Session | None = None
        self._meter: Meter | None = None
        self._watch: tuple[str, ...] = ()
        self._env: dict[str, str] = {}
        self._image: Image | None = None
        self._closed = False
        self._ask("open", snapshot=snapshot, network=network, log_dir=log_dir)
        self._hello, _ = self._supervisor.request("hello")

    def __del__(self) -> None:
        """Let go of a machine that nobody closed. Nothing here may wait: the garbage collector decides when it runs."""
        if getattr(self, "_closed", True):
            return
        warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=1)
        self._closed = True
        self._let_go_of_descriptors()
        self._supervisor.abandon(self._machine)
        if not self._isolated:
            self._supervisor.let_go()

    def _ask(self, do: str, *, takes: float = 0.0, **fields: Any) -> tuple[dict[str, Any], list[int]]:
        self._check_open()
        return self._supervisor.request(do, takes=takes, machine=self._machine, **fields)

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxError("this sandbox is closed; open another")

    # ---- shells

    def start(self, task: Task, *, watch: Sequence[str] = (), image: Image | None = None) -> Session:
        """See ``Sandbox.start``."""
        self._check_image(task, image)
        self._image = image
        self._watch = tuple(watch)
        self._env = pinned()
        request = start_request(task, self._limits or task.limits, self._env, self._clock)
        request |= imaged(image, network=self._network)
        self._end_session()
        takes = len(task.services) * START_DEADLINE
        reply, fds = self._ask("start", takes=takes, **request)
        if reply.get("need") == "recipe":
            reply, fds = self._ask("start", takes=takes + _BUILD, recipe=recipe(task), **request)
        return self._adopt(reply, fds)

    def _check_image(self, task: Task, image: Image | None) -> None:
        if (task.image is None) != (image is None):
            raise ValueError(
                f"task {task.id!r} {'has no' if task.image is None else 'has an'} image, and start got {image!r}; give "
                "start(task, image=termgym.image.build(task.image)), or neither"
            )
        if image is not None and not self._isolated:
            raise SandboxUnavailable("a task with an image needs namespaces to live in; use backend='local'")
        if image is not None and self._clock:
            raise SandboxUnavailable("clock='frozen' preloads a library of the host, which an image has not; leave it")

    @property
    def workdir(self) -> str:
        """Where the shell starts."""
        return HOME if self._image is None else self._image.workdir or "/"

    def respawn(self) -> Session:
        """See ``Sandbox.respawn``."""
        self._end_session()
        return self._adopt(*self._ask("respawn"))

    def restore(self, token: str) -> Session:
        """See ``Sandbox.restore``."""
        self._end_session()
        return self._adopt(*self._ask("restore", token=token))

    def _adopt(self, facts: dict[str, Any], fds: Sequence[int]) -> Session:
        known = self._facts.get("cgroup")
        self._facts = {"missing": self._facts.get("missing", {}), **facts}
        command, main, error, report, script, self._root_fd, self._live_fd = fds
        terminal = Terminal(command, main, error, report, script, facts["shell_pid"], self._wait, self.kill, self._pids)
        cgroup = facts["cgroup"]
        try:
            if self._meter is None or cgroup != known:  # the spare has a group of its own
                self._stop_measuring()
                self._meter = open_meter(cgroup)
            self._session = session = Session(terminal, watch=self._watch, output_limit=self._output_limit)
        except BaseException:
            for fd in (command, main, error, report, script):
                with contextlib.suppress(OSError):
                    os.close(fd)
            raise
        finally:
            if self._closed:  # by another thread, which knew of none of this
                self._let_go_of_descriptors()
        self._check_open()
        return session

    def _end_session(self) -> None:
        self._hang_up()
        root_fd, self._root_fd = self._root_fd, -1
        live_fd, self._live_fd = self._live_fd, -1
        for fd in (root_fd, live_fd):
            if fd >= 0:
                os.close(fd)

    def _hang_up(self) -> None:
        # Here and beside it, taken before it is closed: two threads may be closing, and a number closed twice is
        # another's by then.
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _stop_measuring(self) -> None:
        meter, self._meter = self._meter, None
        if meter is not None:
            meter.close()

    def _wait(self, timeout: float) -> int | None:
        status: int | None = self._ask("wait", takes=timeout, timeout=timeout)[0]["status"]
        return status

    def _pids(self) -> Sequence[int]:
        init = self._facts.get("init_pid")
        if init is None:
            return descendants(self._hello["pid"])
        return inhabitants(init, self._facts["cgroup"]["directories"].get("pids"))

    def kill(self) -> None:
        """See ``Sandbox.kill``."""
        self._ask("kill")

    def copy_in(self, source: str, target: str, *, as_agent: bool = False) -> None:
        """See ``Sandbox.copy_in``."""
        self._ask("copy_in", source=os.path.abspath(source), target=target, as_agent=as_agent)

    def verify(self, verification: Verification) -> Verified:
        """See ``Sandbox.verify``."""
        if not os.path.isdir(verification.tests):
            raise TaskError(f"the verifier's directory {verification.tests!r} is not there (any more)")
        self._hang_up()
        _, (output, gone) = self._ask("verify", takes=_BUILD, **requested(verification))
        try:
            heard = hear(output, gone, verification.timeout)
        finally:
            os.close(output)
            os.close(gone)
        return answered(self._ask("verified")[0], heard)

    # ---- what can be asked from outside

    def _root(self) -> int:
        """Return the directory in which the agent's paths are found: as its processes see it, while there are any."""
        alive = self._isolated and os.path.exists(f"/proc/{self._facts.get('init_pid')}/ns")
        root = self._root_fd if alive else self._live_fd
        if root < 0:
            raise SandboxError("this sandbox has no files; start it first")
        return root

    def status(self, path: str) -> FileStatus | None:
        """See ``Inspector.status``."""
        found = places.status(self._root(), path)
        if found is None or self._hello["isolation"] != "userns" or found.uid != os.getuid():
            return found
        uid, gid = (AGENT_UID, AGENT_GID) if self._image is None else (0, 0)
        return replace(found, uid=uid, gid=gid)  # as the agent sees its own files

    def read_file(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """See ``Inspector.read_file``."""
        return places.content(self._root(), path, limit)

    def read_link(self, path: str) -> str | None:
        """See ``Inspector.read_link``."""
        return places.link_target(self._root(), path)

    def processes(self) -> tuple[Process, ...]:
        """See ``Inspector.processes``."""
        shell = self._facts["shell_pid"]
        return look(pid for pid in self._pids() if pid != shell)

    def listening_ports(self) -> frozenset[int]:
        """See ``Inspector.listening_ports``."""
        return listening_ports(self._facts["init_pid"] or self._hello["pid"])

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
        """See ``Inspector.run``."""
        if not 0 <= timeout < _LONGEST_RUN:
            raise ValueError(f"timeout is {timeout!r}; allowed is a time from 0 to {_LONGEST_RUN:.0f} s")
        reply, _ = self._ask(
            "run",
            takes=timeout,
            argv=list(argv),
            timeout=timeout,
            stdin=base64.b64encode(stdin).decode(),
            cwd=cwd,
            env=dict(env or {}),
            apart=apart,
            alone=alone,
        )
        out, err = base64.b64decode(reply["stdout"]), base64.b64decode(reply["stderr"])
        return Completed(reply["exit_code"], out, err, reply["timed_out"], reply["refused"])

    # ---- figures, files

    def begin_step(self) -> None:
        """See ``Sandbox.begin_step``."""
        meter = self._meter  # another thread may close it
        if meter is not None:
            meter.begin(self._pids)

    def metrics(self) -> Metrics:
        """See ``Sandbox.metrics``."""
        meter = self._meter  # another thread may close it
        return Metrics(None, None, None) if meter is None else meter.read(self._pids)

    def diff(self) -> tuple[Change, ...]:
        """See ``Sandbox.diff``."""
        changes = self._ask("diff")[0]["changes"]
        return tuple(Change(path, ChangeKind(kind), before, after) for path, kind, before, after in changes)

    def digest(self) -> str:
        """See ``Sandbox.digest``."""
        return str(self._ask("digest")[0]["digest"])

    def save(self) -> str:
        """See ``Sandbox.save``."""
        return str(self._ask("save")[0]["token"])

    def forget(self, token: str) -> None:
        """See ``Sandbox.forget``."""
        self._ask("forget", token=token)

    def capabilities(self) -> Mapping[str, object]:
        """See ``Sandbox.capabilities``."""
        return {
            "isolation": self._hello["isolation"],
            "snapshot": self._facts.get("snapshot"),
            "limits": dict(self._hello["limits"]),
            "network": "host" if self._network or not self._isolated else "none",
            "missing": {**self._hello["missing"], **self._facts.get("missing", {})},
        }

    def close(self) -> None:
        """See ``Sandbox.close``."""
        if self._closed:
            return
        self._closed = True
        self._let_go_of_descriptors()
        try:
            with contextlib.suppress(SandboxLost):  # it has taken everything along
                self._supervisor.request("close_machine", machine=self._machine)
        finally:
            if not self._isolated:
                self._supervisor.end()

    def _let_go_of_descriptors(self) -> None:
        self._end_session()
        self._stop_measuring()


__all__ = ["HOME", "LocalSandbox"]
