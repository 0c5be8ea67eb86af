"""One sandbox, in the supervisor: its tree, its namespaces, its processes."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from termgym.errors import SandboxError
from termgym.result import Completed
from termgym.sandbox import bubblewrap, cgroups, imageview, limits, stillness, views
from termgym.sandbox.birth import Shell, first_child, read_child_pid, start_bash
from termgym.sandbox.building import launch_setup
from termgym.sandbox.death import KILL_DEADLINE, collect, empty, kill_descendants
from termgym.sandbox.environment import AGENT_NAME
from termgym.sandbox.execution import CANNOT_START, Entrance, run
from termgym.sandbox.handing import hand_in
from termgym.sandbox.imageview import ImageView
from termgym.sandbox.leftover import Leftover
from termgym.sandbox.processes import descendants, inhabitants
from termgym.sandbox.room import Room
from termgym.sandbox.services import ready, start_service
from termgym.sandbox.settings import Settings
from termgym.sandbox.standing import Standing
from termgym.sandbox.terminals import mount_terminals, unmount_terminals
from termgym.sandbox.verifying import Verifying
from termgym.sandbox.worlds import AGENT_OWNER
from termgym.snapshot import open_snapshot
from termgym.snapshot.protocol import Snapshot

_SPARE = 32 << 20
"""Memory that a new shell finds free, whatever files fill the rest [bytes]."""
_KILLED = 128 + signal.SIGKILL


class Machine:
    """One sandbox. Not re-entrant; the supervisor serves one request at a time."""

    def __init__(self, directory: Path, label: str, settings: Settings) -> None:
        self._directory = directory
        self._settings = settings
        self._budget = limits.Budget(None, None, None, None)
        self._view: views.AnyView | None = None
        self._standing: Standing | None = None
        self._verifying: Verifying | None = None
        self._kills = 0
        self._read_only: tuple[str, ...] = ()
        self._rlimits: dict[str, int] = {}
        self._raised = False
        self._env: dict[str, str] = {}
        self._preloaded: dict[str, str] = {}
        self._shell: Shell | None = None
        self._init: int | None = None
        self._status: int | None = None
        self.snapshot: Snapshot | None = None
        self.leftover = Leftover()
        directory.mkdir()
        self._pts = directory / "pts"
        self._room = directory / "room"
        for place in (self._pts, self._room):
            place.mkdir()
        self.group = cgroups.make_group(settings.enforcement.usable, label)

    # ---- life and death of processes

    def _first_directory(self) -> str:
        """Return where a shell starts."""
        assert self.snapshot is not None
        if self._standing is not None:
            return self._standing.first_directory(self.snapshot.live)
        return views.first_directory(self.snapshot.live)

    def start_shell(self) -> tuple[list[int], dict[str, Any]]:
        """Start a shell on the live tree; return our ends of its terminal and what is known of it."""
        assert self._shell is None
        if self.group is not None and self._budget.memory_bytes is not None:
            # What the agent left in its files is memory too; it must not look like a fault of the machine.
            self._raised = self.group.spare_memory(self._budget.memory_bytes, _SPARE)
        try:
            pid = self._start_bare() if self._settings.isolation == "none" else self._start_isolated()
            limits.verify_member(self.group, pid, self._budget)
            fds = self._fds(pid)
        except BaseException:
            if self._shell is not None:
                self._shell.hang_up()
            raise
        return fds, {"shell_pid": pid, "init_pid": self._init, "cgroup": cgroups.describe(self.group)}

    def _start_bare(self) -> int:
        """Start a shell without namespaces; it is under its limits before it is asked anything."""
        prefix = [*limits.rlimit_launcher(self._rlimits), "env", "-C", self._home()]
        prefix += bubblewrap.AS_AGENT if self._settings.real_root else ()
        self._shell = self._spawn(prefix, "/dev/ptmx", {})
        self._take(self._shell.process.pid)
        return self._shell.process.pid

    def _start_isolated(self) -> int:
        """Start a shell in namespaces; bubblewrap waits at a pipe until its child is under its limits."""
        assert self._view is not None
        preload = ["env", *(f"{name}={value}" for name, value in self._preloaded.items())] if self._preloaded else []

        def spawn_shell(prefix: list[str], files: dict[int, int]) -> Shell:
            return self._spawn([*prefix, *preload], str(self._pts / "ptmx"), files)

        return first_child(*self._enclose(self._view, self._first_directory(), spawn_shell))

    def _enclose(
        self,
        view: views.AnyView,
        chdir: str,
        spawn_it: Callable[[list[str], dict[int, int]], Shell],
    ) -> tuple[int, Shell]:
        """Start a program in namespaces and under its limits; return the sandbox's pid 1 and what was started."""
        real_root = self._settings.real_root
        mount_terminals(self._pts, real_root=real_root)
        info, info_end = os.pipe()
        go_end, go = os.pipe()
        try:
            with views.launcher(view, (info_end, go_end), real_root=real_root, chdir=chdir) as (prefix, files):
                self._shell = spawn_it(prefix, files)
                os.close(info_end)
                info_end = -1
                self._init = read_child_pid(info, self._shell)
            self._take(self._init)
            limits.set_rlimits(self._rlimits, self._init)
            os.write(go, b"x")
        finally:
            for fd in (info, info_end, go, go_end):
                if fd >= 0:
                    os.close(fd)
        return self._init, self._shell

    def _spawn(self, prefix: Sequence[str], ptmx: str, files: Mapping[int, int]) -> Shell:
        self._status = None
        owner = AGENT_OWNER if self._settings.real_root else None
        env = self._env
        if self._standing is not None:
            owner, env = self._standing.person[:2], imageview.LAUNCHERS_ENV
        return start_bash(prefix, env=env, ptmx=ptmx, files=files, owner=owner)

    def _take(self, pid: int) -> None:
        if self.group is not None:
            self.group.take(pid)

    def _home(self) -> str:
        assert self.snapshot is not None
        return str(self.snapshot.live / "home" / AGENT_NAME)

    def confine(self) -> None:
        """Put the calling process (between fork and exec) under this machine's limits."""
        self._take(0)
        limits.set_rlimits(self._rlimits)

    def _fds(self, pid: int) -> list[int]:
        assert self.snapshot is not None
        assert self._shell is not None
        root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_DIRECTORY)
        live = os.open(self.snapshot.live, os.O_PATH | os.O_DIRECTORY)
        return [*self._shell.lines, root, live]

    def pids(self) -> list[int]:
        """Return every process of the agent."""
        if self._settings.isolation == "none":
            return descendants(os.getpid())
        if self._init is None:
            return []
        group = None if self.group is None else self.group.directories.get("pids")
        return inhabitants(self._init, None if group is None else str(group))

    @property
    def awaited(self) -> set[int | None]:
        """The pids of processes that a ``wait`` or a ``kill`` will collect."""
        return {self._init, None if self._shell is None else self._shell.process.pid}

    def wait(self, timeout: float) -> int | None:
        """Return the shell's exit status (128 + signal), or None if it still runs after ``timeout`` [s]."""
        if self._shell is None:
            return self._status
        self._status = self._shell.process.wait(timeout)
        return self._status

    def kill(self) -> None:
        """Kill every process of the agent and return when none is left.

        Raises:
            SandboxError: something survived (a process stuck in the kernel).
        """
        if self._settings.isolation == "none":
            kill_descendants(None if self._shell is None else self._shell.process.pid)
        elif self._init is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._init, signal.SIGKILL)
        if self._shell is not None:
            if self.wait(KILL_DEADLINE) is None:
                raise SandboxError(f"processes are still alive {KILL_DEADLINE:.0f} s after SIGKILL")
            self._shell = None
        if self._init is not None:
            # Bubblewrap's outer process may end before it has collected this one, which then is ours.
            if not collect(self._init, KILL_DEADLINE):
                raise SandboxError(f"process {self._init} is still alive {KILL_DEADLINE:.0f} s after SIGKILL")
            self._init = None
        if self.group is not None:
            empty(self.group)
        if self._verifying is not None:  # nobody waits for its verdict any more
            self._verifying.close()
            self._verifying = None

    # ---- the tree

    def stand_on(self, base: Path, request: dict[str, Any]) -> None:
        """Put the initial state ``base`` in place. Every process is dead."""
        standing: Standing | None = request.get("standing")
        if self.snapshot is not None and self.snapshot.base == base:
            self.leftover.keep(self.snapshot.live)
            self.snapshot.restore()
        else:
            self._close_snapshot()
            work = self._directory / "tree"
            work.mkdir(exist_ok=True)
            self.snapshot = open_snapshot(
                base,
                work,
                backend=self._settings.snapshot,
                size_bytes=request["disk_bytes"],
                log_dir=self._settings.log_dir,
                ground=None if standing is None else standing.ground,
            )
        self.limit(limits.Budget(**request["budget"]))
        views.check_read_only(self.snapshot.live, request["read_only"])
        self._standing = standing
        if standing is not None:
            self._env, self._preloaded = dict(standing.env), {}
            self._view = views.on_image(self._settings, self.snapshot.live, self._pts, self._room, standing)
            return
        self._env = dict(request["env"])
        # Not in bubblewrap's own environment: what the library leaves in shared memory would belong to root.
        self._preloaded = dict(request["preload"])
        if self._settings.isolation == "none":
            self._env["HOME"] = self._home()
        self._view = views.usual(self._settings, self.snapshot.live, self._pts, self._room, request)

    def limit(self, budget: limits.Budget) -> None:
        """Put a budget in force for whatever is started from now on."""
        if budget == self._budget and self._rlimits and not self._raised:
            return
        self._raised = False
        limits.apply(self.group, budget)
        self._budget = budget
        self._rlimits = limits.rlimits(budget, self._settings.enforcement.sources, shared_user=self._settings.real_root)

    def launch(self, tree: Path, argv: Sequence[str], fds: Sequence[int], output: int) -> subprocess.Popen[bytes]:
        """Start a setup program on ``tree`` (worlds.Launch)."""
        return launch_setup(self._settings, self.confine, tree, argv, fds, output)

    # ---- programs beside the shell

    def _entrance(self, confine: Callable[[], None]) -> Entrance:
        pid = None if self._settings.isolation == "none" else self._init
        if pid is None and self._settings.isolation != "none":
            raise SandboxError("nothing runs in this sandbox; start it first")
        person = None if self._standing is None else self._standing.person
        return Entrance(pid, self._settings.real_root, confine, self._settings.filter, person=person)

    def run(self, request: dict[str, Any], stdin: bytes) -> Completed:
        """Run one program to its end."""
        env = {**self._env, **self._preloaded, **request["env"]}
        room = Room(self.group, self.pids)

        def confine() -> None:
            self.confine()
            room.enter()

        entrance = self._entrance(confine)
        if request["apart"]:
            entrance = replace(entrance, apart=self._settings.apart)
        alone = request["alone"] and self._settings.holds
        with stillness.held(self._everybody) if alone else contextlib.nullcontext() as reason:
            if reason is not None:  # the agent saw to it, so it is no fault; and nothing may pass that was not run
                return Completed(CANNOT_START, b"", b"", refused=reason)
            killed = 0 if self.group is None else self.group.oom_kills()
            done = run(
                entrance,
                request["argv"],
                env,
                request["cwd"] or env["HOME"],
                timeout=request["timeout"],
                stdin=stdin,
                room=room,
            )
        if self.group is not None and self.group.oom_kills() > killed:
            return replace(done, refused="the sandbox ran out of memory meanwhile")
        return done

    def _everybody(self) -> list[int]:
        """Return every process inside, its pid 1 included: the agent may have put its code there."""
        return [*self.pids(), *([] if self._init is None else [self._init])]

    def start_service(self, service: dict[str, Any]) -> None:
        """Start one service and wait until it is ready.

        Raises:
            SandboxError: it is not ready in time.
        """
        env = {**self._env, **self._preloaded}
        assert self.snapshot is not None
        is_ready = partial(ready, service, os.getpid() if self._init is None else self._init, self.snapshot.live)
        start_service(self._entrance(self.confine), service["argv"], env, service["cwd"], is_ready)

    # ---- an image's own: what is handed in, and a verifier on what the agent left

    def hand_in(self, request: dict[str, Any]) -> None:
        """Copy a directory of the host's into the live tree, while no process of the agent can move.

        One that could would put a link in the way of our next step, and that leads from the machine's root.
        """
        if self.snapshot is None or self._standing is None:
            raise SandboxError("files are handed into the tree of an image; start a task that has one first")
        person = self._standing.person
        owner = (person.uid, person.gid) if request["as_agent"] else (0, 0)
        with stillness.held(self._everybody) as reason:
            if reason is not None:
                raise SandboxError(
                    f"nothing is handed in while the agent's processes move, and they do not stop: {reason}"
                )
            hand_in(Path(request["source"]), self.snapshot.live, self._standing.base, request["target"], owner)

    def begin_verification(self, request: dict[str, Any]) -> list[int]:
        """Kill every process and start a verifier; return its output, and a descriptor that its end makes readable."""
        self.kill()
        if self.snapshot is None or self._standing is None or not isinstance(self._view, ImageView):
            raise SandboxError("a verifier runs on the tree of an image; start a task that has one first")
        real_root = self._settings.real_root
        place = self._verifying = Verifying(
            self.snapshot, self._standing, self._directory, request, real_root=real_root
        )
        if self.group is not None and self._budget.memory_bytes is not None:
            self._raised = self.group.spare_memory(self._budget.memory_bytes, self._budget.memory_bytes)
        self._kills = 0 if self.group is None else self.group.oom_kills()
        output, output_end = os.pipe()
        try:
            _, shell = self._enclose(place.view(self._view), place.directory, partial(place.spawn, output, output_end))
            return [output, os.pidfd_open(shell.process.pid)]
        except BaseException:
            os.close(output)
            self.kill()
            raise
        finally:
            os.close(output_end)

    def end_verification(self) -> dict[str, Any]:
        """Kill the verifier with all that it started, and return what it came to; None as status if it still ran."""
        place, self._verifying = self._verifying, None
        if place is None:
            raise SandboxError("no verification was begun")
        try:
            status = self.wait(0.0)
            self.kill()
            starved = status == _KILLED and self.group is not None and self.group.oom_kills() > self._kills
            refused = "the verifier ran out of memory" if starved else ""
            return {"exit_code": status, "refused": refused, **place.collect()}
        finally:
            place.close()

    # ---- the end

    def close(self) -> None:
        """Kill everything and remove everything; what can be removed is, even if something cannot."""
        with contextlib.ExitStack() as last:
            last.callback(shutil.rmtree, self._directory)
            last.callback(self._remove_group)
            last.callback(unmount_terminals, self._pts)
            last.callback(self._close_snapshot)
            last.callback(self.leftover.clear)
            last.callback(self.kill)

    def _close_snapshot(self) -> None:
        if self.snapshot is not None:
            self.snapshot.close()
            self.snapshot = None

    def _remove_group(self) -> None:
        if self.group is not None:
            self.group.remove()
            self.group = None
