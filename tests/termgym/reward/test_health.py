"""The Terminal Health Score by hand, limits from a real directory tree, and slowness to change its mind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termgym.options import Options
from termgym.reward.health import (
    ALARM,
    COOLING,
    REFRESH,
    RELIEF,
    HealthWatch,
    Readings,
    gpu_temperature,
    health_score,
    hottest,
    read_machine,
)
from termgym.reward.judge import Judge


def test_the_score_of_a_half_used_machine() -> None:
    """0.4 (1 - 8/16) + 0.3 (1 - 45/90) + 0.2 (1 - 38/95) + 0.1 (1 - 25/100) = 0.2 + 0.15 + 0.12 + 0.075."""
    readings = Readings(load=8, cores=16, gpu_celsius=45, disk_percent=38, ssh_ms=25)
    assert health_score(readings) == pytest.approx(0.545)


def test_an_idle_machine_scores_one_and_an_overrun_one_nothing() -> None:
    assert health_score(Readings(0, 4, 0, 0, 0)) == pytest.approx(1.0)
    assert health_score(Readings(64, 4, 200, 100, 5000)) == 0.0


def test_what_is_missing_leaves_its_weight_to_the_others() -> None:
    """(0.4 x 0.5 + 0.2 x 0.6) / 0.6: a machine without a GPU is not ill for want of one."""
    assert health_score(Readings(load=2, cores=4, disk_percent=38)) == pytest.approx(0.32 / 0.6)
    assert health_score(Readings(ssh_ms=50)) == pytest.approx(0.5)
    assert health_score(Readings()) is None


figures = st.one_of(st.none(), st.floats(-100, 1e6))


@given(figures, st.integers(0, 256), figures, figures, figures)
def test_the_score_is_from_nothing_to_one(
    load: float | None, cores: int, gpu: float | None, disk: float | None, ssh: float | None
) -> None:
    score = health_score(Readings(load, cores, gpu, disk, ssh))
    assert score is None or 0.0 <= score <= 1.0


def test_reads_this_machine() -> None:
    readings = read_machine(ssh_ms=3.0)
    assert readings.load is not None
    assert readings.load >= 0
    assert readings.cores == len(os.sched_getaffinity(0))
    assert readings.disk_percent is not None
    assert 0 < readings.disk_percent <= 100
    assert readings.ssh_ms == 3.0
    score = health_score(readings)
    assert score is not None
    assert 0.0 <= score <= 1.0


def tool(folder: Path, script: str) -> None:
    """Put an nvidia-smi into a folder."""
    path = folder / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_reads_gpu_temperatures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean over the cards, as the driver's own tool prints them; one that knows no temperature is left out."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    tool(tmp_path, "printf '60\\n70\\n[N/A]\\n'")
    assert gpu_temperature() == 65.0


def test_a_machine_without_a_working_driver_has_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_temperature() is None
    tool(tmp_path, "echo 'NVIDIA-SMI has failed'; exit 9")
    assert gpu_temperature() is None


def zone(root: Path, number: int, celsius: float | str, **trips: float) -> Path:
    """Write a thermal zone as the kernel shows it."""
    folder = root / f"thermal_zone{number}"
    folder.mkdir(exist_ok=True)
    (folder / "temp").write_text(celsius if isinstance(celsius, str) else f"{int(celsius * 1000)}\n")
    for index, (kind, limit) in enumerate(trips.items()):
        (folder / f"trip_point_{index}_type").write_text(f"{kind}\n")
        (folder / f"trip_point_{index}_temp").write_text(f"{int(limit * 1000)}\n")
    return folder


def test_the_hottest_zone_against_its_lowest_limit(tmp_path: Path) -> None:
    zone(tmp_path, 0, 50, critical=100, passive=85)
    zone(tmp_path, 1, 70, critical=95, hot=80, active=40)
    zone(tmp_path, 2, 99)
    assert hottest(tmp_path) == -10.0


def test_sensors_that_tell_nothing_are_left_out(tmp_path: Path) -> None:
    zone(tmp_path, 0, "", critical=100)
    zone(tmp_path, 1, 90, critical=-274, hot=0)
    assert hottest(tmp_path) is None
    assert hottest(tmp_path / "missing") is None
    (tmp_path / "thermal_zone0" / "temp").unlink()
    assert hottest(tmp_path) is None


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now

    def tick(self) -> None:
        self.now += REFRESH


def test_over_a_thermal_limit_is_unhealthy_until_it_has_cooled(tmp_path: Path) -> None:
    clock = Clock()
    zone(tmp_path, 0, 89.9, passive=90)
    watch = HealthWatch(thermal=tmp_path, clock=clock)
    seen = []
    for celsius in (89.9, 90, 89.9, 90 - COOLING, 90 - COOLING - 0.1, 89.9):
        zone(tmp_path, 0, celsius)
        seen.append(watch.unhealthy())
        clock.tick()
    assert seen == [False, True, True, True, False, False]


def test_load_does_not_count_unless_asked(tmp_path: Path) -> None:
    """It is not the agent's doing, and another machine would give another reward."""
    overrun = Readings(load=1000, cores=1, disk_percent=100)
    assert not HealthWatch(thermal=tmp_path, readings=lambda: overrun).unhealthy()
    watch = HealthWatch(full_score=True, thermal=tmp_path, readings=lambda: overrun)
    assert watch.unhealthy()
    assert watch.score == 0.0


def test_the_score_can_be_asked_for(tmp_path: Path) -> None:
    """A term that nobody can turn on is no term: the option reaches the watch, and all environments share one."""
    for chosen, counts in (("heat", False), ("score", True)):
        watch = Judge(Options(health=chosen))._health
        assert watch is Judge(Options(health=chosen))._health
        watch.unhealthy()
        assert (watch.score is not None) is counts
    with pytest.raises(ValueError, match="health='cold' is not known; allowed are 'heat', 'score'"):
        Options(health="cold")


def test_the_score_must_rise_above_the_alarm_to_be_healthy_again(tmp_path: Path) -> None:
    clock = Clock()
    scores = iter([0.61, ALARM - 0.01, 0.62, RELIEF, 0.62])
    watch = HealthWatch(
        full_score=True, thermal=tmp_path, readings=lambda: Readings(ssh_ms=100 * (1 - next(scores))), clock=clock
    )
    seen = []
    for _ in range(5):
        seen.append(watch.unhealthy())
        clock.tick()
    assert seen == [False, True, True, False, False]


def test_a_reading_counts_for_a_while(tmp_path: Path) -> None:
    """A step takes microseconds and must not read sensors every time."""
    clock = Clock()
    taken = []

    def readings() -> Readings:
        taken.append(clock.now)
        return Readings(load=0)

    watch = HealthWatch(full_score=True, thermal=tmp_path, readings=readings, clock=clock)
    for now in (0.0, 1.0, REFRESH - 0.1, REFRESH, REFRESH + 1):
        clock.now = now
        watch.unhealthy()
    assert taken == [0.0, REFRESH]
