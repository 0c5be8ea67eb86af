"""Policies that Ray's workers can import: some play, some kill, hang, or are wrong."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from rolf.evaluation.policy import Start

SLEEP = "86399"
"""Seconds that a shell of these tests sleeps, by which its process is known."""


class Chance:
    """Acts at random, and keeps what it drew."""

    def __init__(self, pickled: Path | None = None) -> None:
        self.pickled = pickled

    def __getstate__(self) -> dict[str, Any]:
        if self.pickled is not None:
            with self.pickled.open("a") as counted:
                counted.write("x")
        return self.__dict__

    def begin(self, start: Start) -> None:
        self.drawn: list[int] = []
        self.random = np.random.default_rng(start.seed)
        self.space = start.env.action_space

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        assert "true_faults" not in info
        self.drawn.append(int(self.random.integers(self.space.n)))  # type: ignore[attr-defined]
        return self.drawn[-1]

    def kept(self) -> list[int]:
        return self.drawn


class Killed(Chance):
    """Kills the process that it plays in, with -9, in the middle of one episode; as often as it is told to."""

    def __init__(self, folder: Path, seed: int, times: int = 1) -> None:
        super().__init__()
        self.folder, self.seed, self.times = folder, seed, times

    def begin(self, start: Start) -> None:
        super().begin(start)
        self.victim = start.variant.attempt_seed(start.attempt) == self.seed

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        deaths = len(list(self.folder.iterdir()))
        if self.victim and len(self.drawn) == 3 and deaths < self.times:
            (self.folder / str(deaths)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(observation, info)


class Slow(Chance):
    """Never comes to an end in the first episode."""

    def begin(self, start: Start) -> None:
        super().begin(start)
        if start.variant.seed == 0:
            time.sleep(600)


class Wrong(Chance):
    """Acts outside of the action space."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return -1


class Stillborn(Chance):
    """Kills whoever unpickles it."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Saboteur:
    """Starts a process in the shell, then kills something with -9: the sandbox's supervisor, or its own process."""

    def __init__(self, own: bool) -> None:
        self.own = own

    def begin(self, start: Start) -> None:
        self.step = 0

    def act(self, observation: Any, info: Mapping[str, Any]) -> str:
        self.step += 1
        if self.step == 2:
            (supervisor,) = psutil.Process().children()
            shells = supervisor.children(recursive=True)
            os.kill(os.getpid() if self.own else supervisor.pid, signal.SIGKILL)
            psutil.wait_procs(shells, timeout=20)
        return f'{{"command": "sleep {SLEEP} & echo $!"}}'
