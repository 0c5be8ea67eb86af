"""Terminal Health Score, and whether the machine is over a limit.

By default only heat counts: load, disk and network are not the agent's doing, and a reward that hangs on them is
another one on every machine. The whole score counts for those who ask for it (``health="score"``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LOAD_WEIGHT = 0.4  # mission, "Terminal Health Score"
GPU_WEIGHT = 0.3  # mission
DISK_WEIGHT = 0.2  # mission
SSH_WEIGHT = 0.1  # mission
GPU_LIMIT = 90.0
"""GPU temperature at which its term is nothing [°C] (mission)."""
DISK_LIMIT = 95.0
"""Share of the disk in use at which its term is nothing [%] (mission)."""
SSH_LIMIT = 100.0
"""Round trip at which its term is nothing [ms] (mission)."""
ALARM = 0.6
"""Score below which a machine is unhealthy (mission)."""
RELIEF = 0.65
"""Score from which it is healthy again (house: a little above the alarm, so that noise does not flip it)."""
COOLING = 5.0
"""How far below its limit a part must be to count as cool again [°C] (house)."""
REFRESH = 5.0
"""Time for which a reading counts as current [s] (termgym design, section 8)."""
THERMAL = Path("/sys/class/thermal")
TRIPS = frozenset({"passive", "hot", "critical"})
"""Trip points at which the kernel throttles or stops a machine (Documentation/driver-api/thermal/sysfs-api)."""


@dataclass(frozen=True, slots=True)
class Readings:
    """What the score is made of; None where the machine does not tell."""

    load: float | None = None
    """Processes that run or wait, mean over 15 minutes."""
    cores: int = 1
    """Cores that this process may use."""
    gpu_celsius: float | None = None
    """Mean temperature of the GPUs [°C]."""
    disk_percent: float | None = None
    """Share of the root file system in use [%]."""
    ssh_ms: float | None = None
    """Round trip to the sandbox's host [ms]; None for a local one."""


def health_score(readings: Readings) -> float | None:
    """Return the Terminal Health Score, from 0.0 to 1.0; None if nothing was read.

    THS = 0.4 (1 - load / cores) + 0.3 (1 - gpu / 90) + 0.2 (1 - disk / 95) + 0.1 (1 - ssh / 100). Each bracket is
    clipped to 0 … 1; where a reading is missing its weight is shared out among the others.
    """
    parts = (
        (LOAD_WEIGHT, readings.load, float(max(1, readings.cores))),
        (GPU_WEIGHT, readings.gpu_celsius, GPU_LIMIT),
        (DISK_WEIGHT, readings.disk_percent, DISK_LIMIT),
        (SSH_WEIGHT, readings.ssh_ms, SSH_LIMIT),
    )
    known = [(weight, min(1.0, max(0.0, 1.0 - value / limit))) for weight, value, limit in parts if value is not None]
    if not known:
        return None
    return sum(weight * term for weight, term in known) / sum(weight for weight, _ in known)


def read_machine(ssh_ms: float | None = None) -> Readings:
    """Return this machine's readings."""
    usage = shutil.disk_usage("/")
    return Readings(
        load=os.getloadavg()[2],
        cores=len(os.sched_getaffinity(0)),
        gpu_celsius=gpu_temperature(),
        # As df counts: what only root may fill is neither used nor free.
        disk_percent=100.0 * usage.used / (usage.used + usage.free),
        ssh_ms=ssh_ms,
    )


def gpu_temperature() -> float | None:
    """Return the mean temperature of the NVIDIA GPUs [°C]; None where there is none, or its driver does not answer."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    query = [tool, "--query-gpu=temperature.gpu", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=5, check=True).stdout
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None  # the tool without its driver, as in many containers: no GPU to speak of
    degrees = [float(line) for line in answer.splitlines() if line.strip().isdigit()]
    return sum(degrees) / len(degrees) if degrees else None


def hottest(thermal: Path = THERMAL) -> float | None:
    """Return how far the hottest zone is over its lowest trip point [°C], negative below it; None without any."""
    over: list[float] = []
    for zone in sorted(thermal.glob("thermal_zone*")):
        temperature = _millidegrees(zone / "temp")
        limits = [
            limit
            for kind in zone.glob("trip_point_*_type")
            if _text(kind) in TRIPS
            and (limit := _millidegrees(kind.with_name(kind.name[: -len("type")] + "temp"))) is not None
        ]
        limits = [limit for limit in limits if limit > 0]  # firmware says 0 or less for "none"
        if temperature is not None and limits:
            over.append(temperature - min(limits))
    return max(over, default=None)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:  # a sensor that is asleep answers EAGAIN or ENODATA: it tells nothing now
        return ""


def _millidegrees(path: Path) -> float | None:
    text = _text(path)
    return int(text) / 1000 if text.lstrip("-").isdigit() else None


class HealthWatch:
    """Tells whether the machine is over a limit; slow to change its mind, so that a value near one does not flicker.

    Args:
        full_score: Whether the Terminal Health Score counts too, not heat alone.
        thermal: Where the kernel lists its thermal zones.
        readings: What the score is made of.
        clock: Time [s].
    """

    def __init__(
        self,
        *,
        full_score: bool = False,
        thermal: Path = THERMAL,
        readings: Callable[[], Readings] = read_machine,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._full_score = full_score
        self._thermal = thermal
        self._readings = readings
        self._clock = clock
        self._due = -float("inf")
        self._hot = False
        self._low = False
        self.score: float | None = None
        """The latest score; None unless it counts."""

    def unhealthy(self) -> bool:
        """Return whether the machine is over a limit, at most `REFRESH` seconds ago."""
        now = self._clock()
        if now >= self._due:
            self._due = now + REFRESH
            over = hottest(self._thermal)
            self._hot = over is not None and over >= (-COOLING if self._hot else 0.0)
            if self._full_score:
                self.score = health_score(self._readings())
                self._low = self.score is not None and self.score < (RELIEF if self._low else ALARM)
        return self._hot or self._low


@cache
def machine_watch(full_score: bool) -> HealthWatch:
    """Return this process's watch over its machine: one for all environments, or each would read the same sensors."""
    return HealthWatch(full_score=full_score)
