"""Limits: set, then seen to bite before the agent's code runs under them.

Control groups come first; where they are missing, rlimits stand in and the capabilities say so. RLIMIT_NPROC is
always set as a second fence, so that a fork bomb ends even if a group fails.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from termgym.errors import LimitNotEnforced, why
from termgym.sandbox.cgroups import Group, Hierarchy, hierarchies, make_group
from termgym.sandbox.offspring import finish, fork

_TRIAL_PROCESSES = 3
_TRIAL_MEMORY = 8 << 20  # [bytes]
_REFUSED = 11  # EAGAIN, what fork says at the limit
_RLIMITS = {
    "core": resource.RLIMIT_CORE,
    "nofile": resource.RLIMIT_NOFILE,
    "fsize": resource.RLIMIT_FSIZE,
    "data": resource.RLIMIT_DATA,
    "nproc": resource.RLIMIT_NPROC,
}
_SHARED_FENCE = 8192
"""RLIMIT_NPROC counts a user, not a sandbox; where all sandboxes share one user it only fences the host."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What the processes of one sandbox may use; None: no limit of that kind."""

    memory_bytes: int | None
    processes: int | None
    cpu_cores: float | None
    file_bytes: int | None

    def at_least(self, other: Budget) -> Budget:
        """Return the budget that allows what either does."""
        return Budget(*(_larger(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))


def _larger(one: Any, two: Any) -> Any:
    return None if one is None or two is None else max(one, two)


@dataclass(frozen=True, slots=True)
class Enforcement:
    """What this host enforces, found out by trying."""

    usable: dict[str, Hierarchy]
    sources: dict[str, str]
    """Limit -> ``cgroup-v2``, ``cgroup-v1``, ``rlimit`` or ``none``."""
    missing: dict[str, str]
    """Limit -> why the control group does not do it."""


def probe() -> Enforcement:
    """Try each controller once with a real offender; return what works."""
    usable, reasons = hierarchies()
    sources = {"memory": "rlimit", "processes": "rlimit", "cpu": "none", "file": "rlimit"}
    missing: dict[str, str] = {}
    for limit, controller, trial in (
        ("memory", "memory", _memory_bites),
        ("processes", "pids", _pids_bite),
        ("cpu", "cpu", _cpu_is_kept),
    ):
        if controller not in usable:
            missing[limit] = reasons[controller]
            continue
        group = make_group({controller: usable[controller]}, "probe")
        assert group is not None
        try:
            bites = trial(group)
        except OSError as error:
            bites, reasons[controller] = False, f"the {controller} controller cannot be set: {why(error)}"
        finally:
            group.remove()
        if bites:
            sources[limit] = f"cgroup-v{usable[controller].version}"
        else:
            missing[limit] = reasons.get(controller, f"a limit set by the {controller} controller does not take effect")
            del usable[controller]
    return Enforcement(usable, sources, missing)


def _offend(group: Group, offence: Callable[[], None]) -> int:
    """Run ``offence`` in a child inside ``group``; return the child's exit status (negative: signal)."""

    def offend() -> int:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        group.take(0)
        try:
            offence()
        except BlockingIOError:
            return _REFUSED
        return 0

    return finish(fork(offend))


def _memory_bites(group: Group) -> bool:
    group.set_memory(_TRIAL_MEMORY)

    def take_too_much() -> None:
        block = bytearray(4 * _TRIAL_MEMORY)
        block[:: resource.getpagesize()] = b"x" * len(block[:: resource.getpagesize()])

    return _offend(group, take_too_much) == -signal.SIGKILL


def _pids_bite(group: Group) -> bool:
    group.set_processes(_TRIAL_PROCESSES)

    def fork_too_often() -> None:
        children: list[int] = []
        try:
            for _ in range(2 * _TRIAL_PROCESSES):
                children += [fork(_wait)]
        finally:
            for pid in children:
                finish(pid, 0.0)

    return _offend(group, fork_too_often) == _REFUSED


def _wait() -> int:
    signal.pause()
    return 0


def _cpu_is_kept(group: Group) -> bool:
    """A quota can only be seen to bite by spending its period; that the kernel kept the value has to do."""
    group.set_cpu(0.5)
    directory = group.directories["cpu"]
    if group.versions["cpu"] == 2:
        return (directory / "cpu.max").read_text().split() == ["50000", "100000"]
    return (directory / "cpu.cfs_quota_us").read_text().strip() == "50000"


def apply(group: Group | None, budget: Budget) -> None:
    """Set the control group's limits.

    Raises:
        LimitNotEnforced: the kernel kept another value.
    """
    if group is None:
        return
    if "memory" in group.directories:
        group.set_memory(budget.memory_bytes)
        _verify_memory(group, budget.memory_bytes)
    if "pids" in group.directories:
        group.set_processes(budget.processes)
        kept = (group.directories["pids"] / "pids.max").read_text().strip()
        if kept != ("max" if budget.processes is None else str(budget.processes)):
            raise LimitNotEnforced(f"pids.max is {kept!r} after asking for {budget.processes!r}")
    if "cpu" in group.directories:
        group.set_cpu(budget.cpu_cores)


def _verify_memory(group: Group, wanted: int | None) -> None:
    if wanted is None:
        return
    name = "memory.max" if group.versions["memory"] == 2 else "memory.limit_in_bytes"
    kept = int((group.directories["memory"] / name).read_text())
    if abs(kept - wanted) >= resource.getpagesize():
        raise LimitNotEnforced(f"{name} is {kept} after asking for {wanted} bytes")


def rlimits(budget: Budget, sources: dict[str, str], *, shared_user: bool) -> dict[str, int]:
    """Return the rlimits that belong to a budget, by their names in prlimit(1)."""
    wanted = {"core": 0, "nofile": 4096}
    if budget.file_bytes is not None:
        wanted["fsize"] = budget.file_bytes
    if budget.memory_bytes is not None and sources["memory"] == "rlimit":
        wanted["data"] = budget.memory_bytes
    if budget.processes is not None:
        by_group = sources["processes"] != "rlimit"
        wanted["nproc"] = _SHARED_FENCE if shared_user and by_group else budget.processes
    return {name: _at_most(_RLIMITS[name], value) for name, value in wanted.items()}


def _at_most(which: int, value: int) -> int:
    _, hard = resource.getrlimit(which)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def set_rlimits(wanted: dict[str, int], pid: int = 0) -> None:
    """Set rlimits of a process of the same user; 0 is the calling one."""
    for name, value in wanted.items():
        resource.prlimit(pid, _RLIMITS[name], (value, value))


def rlimit_launcher(wanted: dict[str, int]) -> list[str]:
    """Return the argv that starts a program under rlimits."""
    return ["prlimit", *(f"--{name}={value}:{value}" for name, value in wanted.items()), "--"]


def verify_member(group: Group | None, pid: int, budget: Budget) -> None:
    """Check that a started process is really under its limits, before the agent can type.

    Raises:
        LimitNotEnforced: it is not.
    """
    if group is not None:
        groups = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        for controller, directory in group.directories.items():
            if not any(line.endswith(f"/{directory.name}") for line in groups if _concerns(line, controller)):
                raise LimitNotEnforced(f"process {pid} is not in its {controller} control group {directory.name}")
    if budget.processes is not None and "unlimited" in _line(pid, "Max processes"):
        raise LimitNotEnforced(f"process {pid} has no RLIMIT_NPROC")


def _concerns(line: str, controller: str) -> bool:
    """Return whether a line of /proc/PID/cgroup is about a controller; version 2 names none."""
    names = line.split(":", 2)[1]
    return not names or controller in names.split(",")


def _line(pid: int, name: str) -> str:
    """Return a line of /proc/PID/limits; prlimit(2) would ask for a capability that root may lack."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    return next(line for line in lines if line.startswith(name))
