"""On a busy machine a shell may have to wait for its turn: it is not killed for that, and what it says counts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from warden import children

from termgym.event import Event
from termgym.session.host import host_session

HOG = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
print("here", flush=True)
sys.stdin.readline()
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    pass
"""
ENDS = """
import os
from termgym.session.host import host_session
for _ in range(250):
    with host_session(env=dict(os.environ)) as session:
        result = session.step(b"set -euo pipefail; false | cat", timeout=20)
        print(result.event.name, result.exit_code)
"""
SECONDS = 0.7
"""What the kernel leaves to such a program in a second, less a margin (sched_rt_runtime_us)."""


@contextmanager
def hog(processor: int) -> Iterator[subprocess.Popen[str]]:
    """Yield a program that, told to, takes a processor for itself."""
    argv = [sys.executable, "-c", HOG, str(processor), str(SECONDS)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "here\n"
        yield program


@pytest.mark.root
@pytest.mark.parametrize("command", [b"read -s -p 'pw: ' x", b"cat"])
def test_a_shell_that_has_no_turn_leaves_what_it_was_at_later(command: bytes) -> None:
    """What waits for input is ended for the next command within a tenth of a second; this one gets to it much later."""
    mine, *_, other = (*sorted(os.sched_getaffinity(0)), max(os.sched_getaffinity(0)))  # the same where there is one
    with host_session(env=dict(os.environ)) as session, hog(other) as program:
        shell = int(session.step(b"kept=7; echo $$", timeout=5).stdout)
        assert session.step(command, timeout=5).event is Event.WAITING_INPUT
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {mine})
        try:
            for pid in (shell, *children(shell)):
                os.sched_setaffinity(pid, {other})
            assert program.stdin is not None
            print(file=program.stdin, flush=True)
            time.sleep(0.02)
            result = session.step(b"echo $kept", timeout=5)
        finally:
            os.sched_setaffinity(0, before)
        assert (result.event, result.stdout) == (Event.DONE, b"7\n")
        assert set(result.signals) <= {"^C", "SIGINT", "SIGTERM", "SIGKILL"}


@pytest.mark.slow
def test_how_a_shell_ends_is_told_however_long_its_end_takes() -> None:
    """Amid its end it has no descriptors any more, and is not taken for one that has closed them and lives."""
    several = [subprocess.Popen([sys.executable, "-c", ENDS], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    told = [each.communicate()[0].split() for each in several]
    assert told == [["SHELL_EXITED", "1"] * 250] * 4


def test_one_that_is_busy_and_will_not_leave_is_killed_as_before() -> None:
    with host_session(env=dict(os.environ)) as session:
        began = time.monotonic()
        result = session.step(b"trap '' INT; while :; do :; done", timeout=0.3)
        assert result.event is Event.KILLED
        assert result.signals[-1] == "SIGKILL shell"
        assert time.monotonic() - began < 10
