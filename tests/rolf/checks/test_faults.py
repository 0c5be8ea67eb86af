"""Each check catches the fault that it names, and no other check mistakes that for its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import broken_environments
import gymnasium as gym
import pytest
from broken_environments import FAULTS, LEAKS, SOUND, forgetful, untrue

from rolf.checks import CHECKS, CheckFailed, Report, State, check_all, check_determinism, check_no_leaks, check_spec

QUICK = sorted(set(FAULTS) - set(LEAKS))
"""Found in this process."""


def failed(report: Report) -> set[str]:
    return {result.check for result in report.results if result.state is State.FAILED}


def name(env_id: str) -> str:
    return env_id.partition(":")[2].removesuffix("-v0")


def run(program: str) -> None:
    """Run a program as a user would who pastes it into a script."""
    exec(compile(program, "reproduction", "exec"), {"__name__": "reproduction"})


def assert_reproduces(failure: CheckFailed, env_id: str) -> None:
    """A fault's program raises for the faulty environment, and does not for the sound one."""
    with pytest.raises(AssertionError if failure.__cause__ is None else type(failure.__cause__)):
        run(failure.reproduction)
    with contextlib.ExitStack() as stack:
        if failure.check in ("check_step_before_reset", "check_step_after_end"):
            stack.enter_context(contextlib.suppress(gym.error.ResetNeeded))  # so says the sound one
        run(failure.reproduction.replace(env_id, SOUND))


def test_a_sound_environment_passes_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fresh processes have no warnings either."""
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    report = check_all(SOUND)
    assert [result.check for result in report.results] == list(CHECKS)
    assert {result.state for result in report.results} == {State.PASSED}, str(report)
    report.require()


@pytest.mark.parametrize("env_id", QUICK, ids=name)
def test_a_fault_fails_its_check_and_no_other(env_id: str) -> None:
    """The checks that start processes are left out here; see the whole matrix."""
    report = check_all(env_id, processes=0, skip=["no_leaks"])
    assert failed(report) == set(FAULTS[env_id]), str(report)
    for failure in report.failures:
        if failure.reproduction:
            assert_reproduces(failure, env_id)
    shown = [failure for failure in report.failures if not failure.reproduction]
    assert not shown or env_id == "broken_environments:ModeUnknown-v0"


@pytest.mark.nightly
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("env_id", QUICK, ids=name)
def test_a_fault_fails_its_check_and_no_other_in_fresh_processes_too(env_id: str) -> None:
    expected = {*FAULTS[env_id], *(["determinism"] if name(env_id) == "HashOrder" else [])}
    report = check_all(env_id)
    assert failed(report) == expected, str(report)


@pytest.mark.parametrize("env_id", LEAKS, ids=name)
def test_what_leaks_passes_every_other_check(env_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    try:
        report = check_all(env_id, processes=0, skip=["no_leaks"])
    finally:
        broken_environments.release()
    assert failed(report) == set(), str(report)


@pytest.mark.parametrize(("make", "told"), [(forgetful, "raised ValueError"), (untrue, "is another one")])
def test_a_wrapper_that_does_not_tell_its_arguments_fails(make: Callable[[], Any], told: str) -> None:
    report = check_all(make, processes=0, skip=["no_leaks"])
    assert failed(report) == {"spec"}, str(report)
    with pytest.raises(CheckFailed, match=told) as caught:
        check_spec(make)
    with pytest.raises((AssertionError, ValueError)):
        run(caught.value.reproduction)


def test_the_order_of_sets_shows_in_fresh_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process nothing is wrong with it; the next run of the same script goes another way."""
    env_id = "broken_environments:HashOrder-v0"
    check_determinism(env_id, processes=0)
    with pytest.raises(CheckFailed, match="PYTHONHASHSEED") as caught:
        check_determinism(env_id, processes=3, seeds=[0], steps=3)
    assert "".join(caught.value.values).count("PYTHONHASHSEED") == 2
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    assert_reproduces(caught.value, env_id)


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("LeavesThreads", "threads are left of environments that were closed: 3 of 3"),
        ("LeavesFiles", "open files are left of environments that were closed: 6 of 3"),
        ("LeavesTemporaryFiles", "temporary files are left of environments that were closed: 3 of 3"),
        ("LeavesProcesses", "processes are left of environments that were closed: 3 of 3"),
        ("LeavesDaemons", "processes after the program are left of environments that were closed"),
        ("NeedsClose", "threads are left of environments that were dropped without close: 3 of 3"),
        ("NeedsCloseAndTime", "threads are left of environments that were dropped without close: 3 of 3"),
    ],
)
def test_what_is_left_is_named(kind: str, left: str) -> None:
    assert f"broken_environments:{kind}-v0" in LEAKS
    with pytest.raises(CheckFailed, match=left) as caught:
        check_no_leaks(f"broken_environments:{kind}-v0", patience=1.0)
    assert len(caught.value.values) == 3


@pytest.mark.root
def test_mounts_that_are_left_are_named() -> None:
    """It mounts in its own process alone, so no other check may run it here."""
    with pytest.raises(CheckFailed, match="mounts are left of environments that were closed: 3 of 3") as caught:
        check_no_leaks("broken_environments:LeavesMounts-v0", patience=0.2)
    assert all(value.startswith("/media (") for value in caught.value.values.values())


@pytest.mark.parametrize("kind", ["LeavesTemporaryFiles", "NeedsClose"])
def test_what_is_left_is_left_again(kind: str, tmp_path: Path) -> None:
    """The program runs elsewhere: it leaves something behind, after all."""
    env_id = f"broken_environments:{kind}-v0"
    with pytest.raises(CheckFailed) as caught:
        check_no_leaks(env_id, patience=0.2)
    for asked, code in ((env_id, 1), (SOUND, 0)):
        program = caught.value.reproduction.replace(env_id, asked)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
        command = [sys.executable, "-W", "error", "-c", program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr
        assert ("AssertionError" in done.stderr) is bool(code)


def test_every_check_has_a_fault_that_it_catches() -> None:
    """A check that cannot fail is none."""
    assert {check for checks in FAULTS.values() for check in checks} == set(CHECKS)
