"""What a step costs: CPU, memory and block I/O of all processes of a sandbox together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from termgym.sandbox.seen import Metrics

_TICK = os.sysconf("SC_CLK_TCK")
_TRIFLE = 500_000  # [ns]; starting the smallest program takes twice that
_FRESH = 2_000_000  # CPU time for which a peak stays true [ns]; to fill 10 MB takes longer
Pids = Callable[[], Sequence[int]]


class Meter(Protocol):
    """Measures between ``begin`` and ``read``."""

    def begin(self, pids: Pids) -> None:
        """Start measuring."""

    def read(self, pids: Pids) -> Metrics:
        """Return what was used since ``begin``."""

    def close(self) -> None:
        """Free descriptors."""


def open_meter(cgroup: Mapping[str, Any]) -> Meter:
    """Return the best meter for a control group as the supervisor describes it."""
    directories, versions = cgroup["directories"], cgroup["versions"]
    if {"memory", "cpuacct"} <= directories.keys() and versions["memory"] == versions["cpuacct"]:
        try:
            return GroupMeter(directories, versions["memory"])
        except OSError:  # the group's files cannot be read by this user: /proc can
            return ProcMeter()
    return ProcMeter()


class GroupMeter:
    """Reads a control group through descriptors that stay open: under two microseconds a figure."""

    def __init__(self, directories: Mapping[str, str], version: int) -> None:
        self._version = version
        self._fds: list[int] = []
        try:
            self._open(directories)
        except BaseException:
            self.close()
            raise

    def _open(self, directories: Mapping[str, str]) -> None:
        memory = directories["memory"]
        if self._version == 2:
            self._peak = self._keep(f"{memory}/memory.peak", os.O_RDWR)
            self._cpu = self._keep(f"{memory}/cpu.stat", os.O_RDONLY)
            self._oom = self._keep(f"{memory}/memory.events", os.O_RDONLY)
            self._io = self._keep(f"{memory}/io.stat", os.O_RDONLY)
        else:
            self._peak = self._keep(f"{memory}/memory.max_usage_in_bytes", os.O_RDWR)
            self._cpu = self._keep(f"{directories['cpuacct']}/cpuacct.usage", os.O_RDONLY)
            self._oom = self._keep(f"{memory}/memory.oom_control", os.O_RDONLY)
            self._io = self._keep(f"{directories.get('blkio', '')}/blkio.throttle.io_service_bytes", os.O_RDONLY)
        self._source = f"cgroup-v{self._version}"
        self._cpu_before = self._cpu_ns()
        self._peak_seen: int | None = None
        self._peak_until = 0
        self._io_before, self._oom_before = self._io_bytes(), self._oom_kills()

    def _keep(self, path: str, flags: int) -> int:
        try:
            fd = os.open(path, flags | os.O_CLOEXEC)
        except FileNotFoundError:
            return -1
        self._fds.append(fd)
        return fd

    def begin(self, pids: Pids) -> None:  # noqa: ARG002 - the group knows its processes
        """Note the CPU time; reset the peak, unless hardly anything ran since it was looked at after a small step."""
        self._cpu_before = self._cpu_ns()
        if self._peak >= 0 and self._cpu_before >= self._peak_until:
            os.pwrite(self._peak, b"0", 0)
            self._peak_seen = None

    def read(self, pids: Pids) -> Metrics:  # noqa: ARG002
        """Return the differences since ``begin``.

        The counters of I/O and of kills are only looked at after a step that took some CPU time: a program that
        reads a disk or is killed for memory takes more than that, and half of the cost of a builtin step is saved.
        The peak of small steps in a row is looked at now and then.
        """
        now = self._cpu_ns()
        cpu = now - self._cpu_before
        if cpu < _TRIFLE and self._peak_seen is not None and now < self._peak_until:
            return Metrics(cpu / 1e9, self._peak_seen, 0, 0, self._source)
        peak = int(os.pread(self._peak, 32, 0)) if self._peak >= 0 else None
        if cpu < _TRIFLE:
            self._peak_seen, self._peak_until = peak, now + _FRESH
            return Metrics(cpu / 1e9, peak, 0, 0, self._source)
        self._peak_seen, self._peak_until = None, 0
        io, oom = self._io_bytes(), self._oom_kills()
        result = Metrics(cpu / 1e9, peak, io - self._io_before, oom - self._oom_before, self._source)
        self._io_before, self._oom_before = io, oom
        return result

    def _cpu_ns(self) -> int:
        if self._version == 2:
            return _field(os.pread(self._cpu, 4096, 0), b"usage_usec") * 1000
        return int(os.pread(self._cpu, 32, 0))

    def _io_bytes(self) -> int:
        if self._io < 0:
            return 0
        text = os.pread(self._io, 65536, 0)
        return _sum_io(text) if self._version == 2 else _total(text)

    def _oom_kills(self) -> int:
        return _field(os.pread(self._oom, 4096, 0), b"oom_kill") if self._oom >= 0 else 0

    def close(self) -> None:
        """Close the descriptors."""
        for fd in self._fds:
            os.close(fd)
        self._fds.clear()


def _field(text: bytes, name: bytes) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(b" ")
        if key == name:
            return int(value)
    return 0


def _total(text: bytes) -> int:
    """Return the last line's figure of a version 1 blkio file (``Total N``)."""
    return int(text.rsplit(None, 1)[1]) if text.rstrip() else 0


def _sum_io(text: bytes) -> int:
    """Return rbytes + wbytes over all devices of a version 2 io.stat."""
    words = text.split()
    return sum(int(word.partition(b"=")[2]) for word in words if word.startswith((b"rbytes=", b"wbytes=")))


class ProcMeter:
    """Sums over /proc where there is no control group: the CPU of live and reaped processes, memory in use now."""

    def __init__(self) -> None:
        self._cpu_before = 0.0

    def begin(self, pids: Pids) -> None:
        """Note the CPU time so far."""
        self._cpu_before = _cpu_seconds(pids())

    def read(self, pids: Pids) -> Metrics:
        """Return the CPU since ``begin`` and the largest resident set seen at the end of the step."""
        alive = pids()
        return Metrics(max(0.0, _cpu_seconds(alive) - self._cpu_before), _high_water_bytes(alive), None, 0, "proc")

    def close(self) -> None:
        """Nothing to free."""


def _cpu_seconds(pids: Sequence[int]) -> float:
    ticks = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                words = file.read().rsplit(b")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        ticks += sum(int(word) for word in words[11:15])  # utime, stime, and those of reaped children
    return ticks / _TICK


def _high_water_bytes(pids: Sequence[int]) -> int:
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status", "rb") as file:
                total += _field(file.read().replace(b":\t", b" ").replace(b" kB", b""), b"VmHWM") * 1024
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total
