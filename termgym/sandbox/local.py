"""LocalSandbox: this machine, in namespaces of its own."""

from __future__ import annotations

import base64
import contextlib
import errno
import functools
import hashlib
import json
import os
import stat
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from termgym.errors import SandboxError, SandboxLost, SandboxUnavailable, TaskError
from termgym.image.image import Image
from termgym.result import Completed
from termgym.sandbox.birth import START_DEADLINE
from termgym.sandbox.client import Supervisor, isolated_supervisor, unsafe_supervisor
from termgym.sandbox.environment import AGENT_GID, AGENT_UID, faketime_library, frozen_clock, pinned
from termgym.sandbox.hearing import hear
from termgym.sandbox.imaged import imaged
from termgym.sandbox.measuring import Meter, open_meter
from termgym.sandbox.processes import descendants, inhabitants, listening_ports, look
from termgym.sandbox.reading import read_place
from termgym.sandbox.seen import FileStatus, Metrics, Process
from termgym.sandbox.syscalls import open_in_root
from termgym.sandbox.verdicts import answered, requested
from termgym.session.session import Session
from termgym.session.terminal import Terminal
from termgym.snapshot.change import Change, ChangeKind
from termgym.tasks.task import HOME, Limits, Task
from termgym.verification.request import Verification, Verified

_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
}
_NOT_THERE = (errno.ENXIO, errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.ENAMETOOLONG, errno.EAGAIN)
_ATTEMPTS = 64
"""At finding a path while directories above it are renamed (EAGAIN, openat2(2)); the agent may do that without end."""
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
        self._clock = _clock_variables(clock, isolated=isolated)
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
        if self._closed:
            raise SandboxError("this sandbox is closed; open another")
        return self._supervisor.request(do, takes=takes, machine=self._machine, **fields)

    # ---- shells

    def start(self, task: Task, *, watch: Sequence[str] = (), image: Image | None = None) -> Session:
        """See ``Sandbox.start``."""
        self._check_image(task, image)
        self._image = image
        self._watch = tuple(watch)
        self._env = pinned()
        request = _request(task, self._limits or task.limits, self._env, self._clock)
        request |= imaged(image, network=self._network)
        self._end_session()
        takes = len(task.services) * START_DEADLINE
        reply, fds = self._ask("start", takes=takes, **request)
        if reply.get("need") == "recipe":
            reply, fds = self._ask("start", takes=takes + _BUILD, recipe=_recipe(task), **request)
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
        cgroup = facts["cgroup"]
        if self._meter is None or cgroup != known:  # the spare has a group of its own
            if self._meter is not None:
                self._meter.close()
            self._meter = open_meter(cgroup)
        terminal = Terminal(command, main, error, report, script, facts["shell_pid"], self._wait, self.kill, self._pids)
        try:
            self._session = Session(terminal, watch=self._watch, output_limit=self._output_limit)
        except BaseException:
            for fd in (command, main, error, report, script):
                with contextlib.suppress(OSError):
                    os.close(fd)
            raise
        return self._session

    def _end_session(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
        for fd in (self._root_fd, self._live_fd):
            if fd >= 0:
                os.close(fd)
        self._root_fd = self._live_fd = -1

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
        if self._session is not None:
            self._session.close()
            self._session = None
        _, (output, gone) = self._ask("verify", takes=_BUILD, **requested(verification))
        try:
            heard = hear(output, gone, verification.timeout)
        finally:
            os.close(output)
            os.close(gone)
        return answered(self._ask("verified")[0], heard)

    # ---- what can be asked from outside

    def _find(self, path: str, flags: int = 0) -> int | None:
        """Return a descriptor for an agent path that opens nothing yet; None where there is nothing to be reached."""
        alive = self._isolated and self._processes_alive()
        root = self._root_fd if alive else self._live_fd
        if root < 0:
            raise SandboxError("this sandbox has no files; start it first")
        for _ in range(_ATTEMPTS):
            try:
                return open_in_root(root, path, os.O_PATH | flags)
            except ValueError:  # no name of a file can hold that
                return None
            except OSError as error:
                if error.errno not in _NOT_THERE:
                    raise
                if error.errno != errno.EAGAIN:
                    return None
        return None

    def _processes_alive(self) -> bool:
        return os.path.exists(f"/proc/{self._facts.get('init_pid')}/ns")

    def status(self, path: str) -> FileStatus | None:
        """See ``Inspector.status``."""
        fd = self._find(path, os.O_NOFOLLOW)
        if fd is None:
            return None
        try:
            found = os.fstat(fd)
        finally:
            os.close(fd)
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "device")
        uid, gid = found.st_uid, found.st_gid
        if self._hello["isolation"] == "userns" and uid == os.getuid():  # as the agent sees its own files
            uid, gid = (AGENT_UID, AGENT_GID) if self._image is None else (0, 0)
        return FileStatus(kind, stat.S_IMODE(found.st_mode), found.st_size, uid, gid)

    def read_file(self, path: str, limit: int = 1 << 20) -> bytes | None:
        """See ``Inspector.read_file``. The kernel's own files (/proc) are none: their reader would be us, who may read
        more of them than the agent."""
        place = self._find(path)
        if place is None:
            return None
        try:
            # Looked at before it is opened: opening a FIFO would wake its writer, opening a device may do anything.
            found = os.fstat(place)
            return read_place(place, limit) if stat.S_ISREG(found.st_mode) and found.st_dev != self._proc() else None
        finally:
            os.close(place)

    def _proc(self) -> int | None:
        """Return the device number of the sandbox's /proc, if there is one."""
        fd = self._find("/proc")
        if fd is None:
            return None
        try:
            return os.fstat(fd).st_dev
        finally:
            os.close(fd)

    def read_link(self, path: str) -> str | None:
        """See ``Inspector.read_link``."""
        fd = self._find(path, os.O_NOFOLLOW)
        if fd is None:
            return None
        try:
            return os.readlink("", dir_fd=fd)
        except OSError:
            return None
        finally:
            os.close(fd)

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
        if self._meter is not None:
            self._meter.begin(self._pids)

    def metrics(self) -> Metrics:
        """See ``Sandbox.metrics``."""
        if self._meter is None:
            return Metrics(None, None, None)
        return self._meter.read(self._pids)

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
        if self._meter is not None:
            self._meter.close()
            self._meter = None


def _clock_variables(clock: str, *, isolated: bool) -> dict[str, str]:
    if clock == "real":
        return {}
    if clock != "frozen":
        raise ValueError(f"clock is {clock!r}; allowed are 'real' and 'frozen'")
    if not isolated:
        raise ValueError("clock='frozen' needs backend='local'; without isolation it would litter the host's /dev/shm")
    library = faketime_library()
    if library is None:
        raise SandboxUnavailable("clock='frozen' needs libfaketime; install it (`apt-get install libfaketime`)")
    return frozen_clock(library)


def _request(task: Task, limits: Limits, env: Mapping[str, str], preload: Mapping[str, str]) -> dict[str, Any]:
    services = [
        {"argv": list(s.argv), "ready_port": s.ready_port, "ready_path": s.ready_path, "cwd": s.cwd}
        for s in task.services
    ]
    return {
        "key": _key(task),
        "services": services,
        "read_only": list(task.read_only),
        "env": dict(env),
        "preload": dict(preload),
        "disk_bytes": limits.disk_bytes,
        "budget": {
            "memory_bytes": limits.memory_bytes,
            "processes": limits.processes,
            "cpu_cores": limits.cpu_cores,
            "file_bytes": limits.file_bytes,
        },
    }


@functools.lru_cache(maxsize=256)
def _recipe_text(task_files: tuple[Any, ...], setup: str, tree: str | None) -> str:
    files = [
        {"path": f.path, "content": base64.b64encode(f.content).decode(), "mode": f.mode, "kind": f.kind}
        for f in task_files
    ]
    return json.dumps({"files": files, "setup": setup, "tree": tree})


def _recipe(task: Task) -> dict[str, Any]:
    recipe: dict[str, Any] = json.loads(_recipe_text(task.files, task.setup, task.tree))
    return recipe


@functools.lru_cache(maxsize=1024)
def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _key(task: Task) -> str:
    return _digest_of(_recipe_text(task.files, task.setup, task.tree))


__all__ = ["HOME", "LocalSandbox"]
