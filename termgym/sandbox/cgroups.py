"""Control groups, version 2 or 1, chosen by trying: a limit counts only after it was seen to bite."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from termgym.errors import why
from termgym.sandbox.processes import is_zombie

_PREFIX = "rolf-"
ROOM = "run"
"""The group inside a sandbox's in which programs beside the shell run."""
_NAME = re.compile(r"rolf-(\d+)-(\d+)-\w+")
_REMOVE_DEADLINE = 5.0  # [s]; a group is busy until the last of its processes is reaped


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where groups of our own can be made for one controller."""

    version: int
    parent: Path


@dataclass(frozen=True, slots=True)
class Group:
    """The directories of one sandbox's group, by controller (in version 2 the same one for all)."""

    directories: dict[str, Path]
    versions: dict[str, int]

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every distinct directory."""
        return tuple(dict.fromkeys(self.directories.values()))

    def take(self, pid: int) -> None:
        """Move a process in; 0 is the calling one."""
        for path in self.paths:
            (path / "cgroup.procs").write_text(str(pid))

    def processes(self) -> set[int]:
        """Return the pids in the group and in the groups inside it."""
        return {pid for path in self.paths for pid in _members(path)}

    def set_memory(self, size: int | None) -> None:
        """Limit memory, swap included [bytes]."""
        directory = self.directories["memory"]
        if self.versions["memory"] == 2:
            (directory / "memory.max").write_text("max" if size is None else str(size))
            _write_if_there(directory / "memory.swap.max", "max" if size is None else "0")
            return
        value = "-1" if size is None else str(size)
        swap = directory / "memory.memsw.limit_in_bytes"
        # The two must never cross: lower the smaller first, raise the larger first.
        try:
            (directory / "memory.limit_in_bytes").write_text(value)
            _write_if_there(swap, value)
        except OSError:
            _write_if_there(swap, value)
            (directory / "memory.limit_in_bytes").write_text(value)

    def spare_memory(self, limit: int, size: int) -> bool:
        """Raise the memory limit above ``limit`` where less than ``size`` of it is free; return whether it was."""
        if "memory" not in self.directories:
            return False
        usage = "memory.current" if self.versions["memory"] == 2 else "memory.usage_in_bytes"
        used = int((self.directories["memory"] / usage).read_text())
        if used + size > limit:
            self.set_memory(used + size)
        return used + size > limit

    def oom_kills(self) -> int:
        """Return how many processes the memory limit has ended so far."""
        if "memory" not in self.directories:
            return 0
        name = "memory.events" if self.versions["memory"] == 2 else "memory.oom_control"
        lines = (self.directories["memory"] / name).read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)

    def set_processes(self, count: int | None) -> None:
        """Limit processes and threads."""
        (self.directories["pids"] / "pids.max").write_text("max" if count is None else str(count))

    def set_cpu(self, cores: float | None) -> None:
        """Limit CPU time per wall time [cores]."""
        period = 100_000
        quota = None if cores is None else max(1000, int(cores * period))
        directory = self.directories["cpu"]
        if self.versions["cpu"] == 2:
            (directory / "cpu.max").write_text(f"{'max' if quota is None else quota} {period}")
        else:
            (directory / "cpu.cfs_period_us").write_text(str(period))
            (directory / "cpu.cfs_quota_us").write_text(str(-1 if quota is None else quota))

    def remove(self) -> None:
        """Remove the group; its processes must be dead or dying."""
        for path in self.paths:
            _remove(path)


def _write_if_there(path: Path, text: str) -> None:
    if path.exists():
        path.write_text(text)


def _remove(path: Path, patience: float = _REMOVE_DEADLINE) -> None:
    end = time.monotonic() + patience
    if path.name != ROOM:
        _remove(path / ROOM, patience)
    while path.exists():
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.002)


def _mounts() -> dict[str, Path]:
    """Return controller -> mount point; ``v2`` is the unified hierarchy."""
    found: dict[str, Path] = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        where = Path(left.split()[4])
        if kind == "cgroup2":
            found.setdefault("v2", where)
        elif kind == "cgroup":
            for name in options.split(","):
                found.setdefault(name, where)
    return found


def _own_paths() -> dict[str, str]:
    """Return controller -> this process's group, from /proc/self/cgroup; ``v2`` likewise."""
    result = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for name in controllers.split(",") if controllers else ["v2"]:
            result[name] = path
    return result


def hierarchies() -> tuple[dict[str, Hierarchy], dict[str, str]]:
    """Return where each controller can be used, and why the others cannot."""
    mounts, own = _mounts(), _own_paths()
    usable: dict[str, Hierarchy] = {}
    missing: dict[str, str] = {}
    for name in ("memory", "pids", "cpu", "cpuacct", "blkio"):
        try:
            usable[name] = _hierarchy(name, mounts, own)
        except OSError as error:
            missing[name] = f"no control group with the {name} controller can be made: {why(error)}"
    return usable, missing


def _hierarchy(name: str, mounts: dict[str, Path], own: dict[str, str]) -> Hierarchy:
    if name in mounts:
        parent = mounts[name] / own.get(name, "/").lstrip("/")
        found = Hierarchy(1, parent if parent.is_dir() else mounts[name])
    elif "v2" in mounts:
        parent = mounts["v2"] / own.get("v2", "/").lstrip("/")
        found = Hierarchy(2, parent if parent.is_dir() else mounts["v2"])
        _delegate(found.parent, {"cpuacct": "cpu", "blkio": "io"}.get(name, name))
    else:
        raise OSError("no hierarchy that has it is mounted")
    trial = found.parent / group_name("trial")
    trial.mkdir()
    trial.rmdir()
    return found


def _delegate(parent: Path, controller: str) -> None:
    if controller in (parent / "cgroup.subtree_control").read_text().split():
        return
    if controller not in (parent / "cgroup.controllers").read_text().split():
        raise OSError("it is not available in the group of this process")
    (parent / "cgroup.subtree_control").write_text(f"+{controller}")


def group_name(label: str) -> str:
    """Return a group name that says which process owns it, so that orphans can be told."""
    return f"{_PREFIX}{os.getpid()}-{start_time(os.getpid())}-{label}"


def start_time(pid: int) -> str:
    """Return the start time of a process [clock ticks since boot]; with the pid it names a process for good."""
    text = Path(f"/proc/{pid}/stat").read_text()
    return text[text.rindex(")") + 2 :].split()[19]


def make_group(usable: dict[str, Hierarchy], label: str) -> Group | None:
    """Make a group in every usable hierarchy; None if there is none."""
    if not usable:
        return None
    directories = {}
    for name, hierarchy in usable.items():
        path = hierarchy.parent / group_name(label)
        path.mkdir(exist_ok=True)
        directories[name] = path
    return Group(directories, {name: hierarchy.version for name, hierarchy in usable.items()})


def parents(usable: Mapping[str, Hierarchy]) -> set[Path]:
    """Return the directories in which groups are made."""
    return {hierarchy.parent for hierarchy in usable.values()}


def remove_orphans(directories: Iterable[Path]) -> None:
    """Remove groups whose owner is gone (it was killed before it could)."""
    for parent in directories:
        for path in parent.glob(f"{_PREFIX}*"):
            match = _NAME.fullmatch(path.name)
            if match and not _alive(int(match[1]), match[2]):
                with contextlib.suppress(OSError):  # still busy: the next start tries again
                    _remove(path, 0.0)


def clear_away(directories: Iterable[Path], prefix: str) -> None:
    """Remove the groups named ``prefix…`` of a supervisor that is surely gone, and end what still runs in them."""
    for parent in directories:
        for path in parent.glob(f"{prefix}*"):
            _evict(path)
            _remove(path)


def _evict(path: Path) -> None:
    for pid in _members(path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _members(path: Path) -> list[int]:
    pids = (path / "cgroup.procs").read_text().split()
    with contextlib.suppress(FileNotFoundError):
        pids += (path / ROOM / "cgroup.procs").read_text().split()
    return [int(pid) for pid in pids]


def _alive(pid: int, started: str) -> bool:
    """Return whether a process lives; one that nobody has collected does not (a container may have nobody who does)."""
    try:
        return start_time(pid) == started and not is_zombie(pid)
    except (FileNotFoundError, ProcessLookupError):
        return False


def describe(group: Group | None) -> dict[str, Any]:
    """Return the group as JSON for the client, which reads the figures itself."""
    if group is None:
        return {"versions": {}, "directories": {}}
    return {"versions": group.versions, "directories": {k: str(v) for k, v in group.directories.items()}}
