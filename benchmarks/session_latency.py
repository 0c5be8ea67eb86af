"""How long a builtin step takes, beside pexpect in the same run, and how many steps one loop gets out of many shells.

Compare ratios, not milliseconds: they hold across machines and load.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import time
from collections.abc import Callable
from typing import Any

import pexpect

from termgym.session.host import host_session
from termgym.session.session import Session

COMMAND = "true"
SENTINEL = "__done__"


def session_times(steps: int) -> list[float]:
    """Return the time of each step of a Session [s]."""
    with host_session() as session:
        return _times(steps, lambda: session.step(COMMAND.encode(), timeout=10))


def pexpect_times(steps: int, delay: float | None) -> list[float]:
    """Return the time of each step of pexpect that waits for a sentinel with the exit status [s].

    Args:
        delay: pexpect's delaybeforesend, which is 50 ms unless one knows about it.
    """
    environment: Any = {**os.environ, "HISTFILE": ""}  # the stubs take os.environ only
    child = pexpect.spawn("bash", ["--norc", "--noprofile"], echo=False, encoding="utf-8", env=environment)
    child.delaybeforesend = delay
    try:

        def step() -> None:
            child.sendline(f"{COMMAND}; echo {SENTINEL}$?{SENTINEL}")
            child.expect(rf"{SENTINEL}(\d+){SENTINEL}", timeout=10)

        step()
        return _times(steps, step)
    finally:
        child.close(force=True)


def _times(steps: int, step: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return sorted(times)


def steps_per_second(shells: int, seconds: float, *, lockstep: bool) -> float:
    """Return the builtin steps a second of all shells together, driven by one epoll loop.

    Args:
        lockstep: start the next round when all shells have finished, as a vector environment does.
    """
    owners: dict[int, Session] = {}
    with contextlib.ExitStack() as opened:
        epoll = opened.enter_context(select.epoll())
        sessions = [opened.enter_context(host_session()) for _ in range(shells)]
        for session in sessions:
            for fd, mask in session.interests():
                epoll.register(fd, mask)
                owners[fd] = session
        return _drive(sessions, owners, epoll, seconds, lockstep=lockstep)


def _drive(
    sessions: list[Session], owners: dict[int, Session], epoll: select.epoll, seconds: float, *, lockstep: bool
) -> float:
    command = COMMAND.encode()
    done, start = 0, time.perf_counter()
    for session in sessions:
        session.begin(command, timeout=10)
    running = len(sessions)
    while time.perf_counter() - start < seconds:
        for fd, events in epoll.poll(1.0):
            session = owners[fd]
            before = session.result
            session.ready(fd, events)
            if before is None and session.result is not None:
                done += 1
                running -= 1
                if not lockstep:
                    session.begin(command, timeout=10)
                    running += 1
        if running == 0:
            for session in sessions:
                session.begin(command, timeout=10)
            running = len(sessions)
    return done / (time.perf_counter() - start)


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--shells", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3.0)
    arguments = parser.parse_args()
    session = session_times(arguments.steps)
    bare = pexpect_times(arguments.steps, None)
    default = pexpect_times(max(10, arguments.steps // 50), 0.05)
    middle = session[len(session) // 2]
    for name, times in (("session", session), ("pexpect, no delay", bare), ("pexpect, default", default)):
        p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
        print(f"{name:20} p50 {p50 * 1e3:8.3f} ms   p99 {p99 * 1e3:8.3f} ms   session/this {middle / p50:6.3f}")
    for lockstep in (True, False):
        rate = steps_per_second(arguments.shells, arguments.seconds, lockstep=lockstep)
        print(f"{arguments.shells} shells, {'lock-step' if lockstep else 'free':10} {rate:10.0f} steps/s")


if __name__ == "__main__":
    main()
