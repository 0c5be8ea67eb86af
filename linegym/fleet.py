"""Many lines for a whole shift each, played by one process a CPU, with word of how far it is and what it costs."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linegym.plant import HORIZON
from linegym.play import BLOCK, Played, play
from linegym.policies import Lineup, Policy, policy
from linegym.policies.policy import Infos, Rows
from linegym.variants import Variant

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

    Counter: TypeAlias = Synchronized[int]
else:
    from multiprocessing.sharedctypes import Synchronized as Counter  # which takes no argument where it runs

LEAST, MOST = 64, BLOCK
"""Lines that are played together in one process: enough to share the cost of a call, few enough to fit the caches."""
LOOK = 0.2
"""How often whoever waits is told [s]."""
ABANDONED = -1
"""Stands in the shared counter when nobody waits any longer."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What steps cost; one line for one tick is a step."""

    steps: int
    wall: float
    """From the first call to the last result, the start of the processes included [s]."""
    thinking: float
    """Processor time of the policy, of all processes together [s]."""
    stepping: float
    """Processor time of the lines [s]."""
    stepped: int
    """Steps that `stepping` was measured over."""
    processes: int

    @property
    def rate(self) -> float:
        """Steps a second, all processes together."""
        return self.steps / self.wall

    @property
    def rate_alone(self) -> float:
        """Steps that the lines alone would take in a second of processor time."""
        return self.stepped / self.stepping

    @property
    def rate_played(self) -> float:
        """Steps in a second of processor time, the policy included."""
        return 1 / (self.stepping / self.stepped + self.thinking / self.steps)


class Abandoned(Exception):
    """Nobody waits for these lines any longer."""


class Timed:
    """A policy that says how far it is, and how long it and the lines take.

    Args:
        inner: Who plays.
        counter: Counts the steps of all processes; ``ABANDONED`` ends the play.
    """

    def __init__(self, inner: Policy, counter: Counter) -> None:
        self._inner = inner
        self._counter = counter
        self._left: float | None = None
        self._warm = False
        self.name = inner.name
        self.truthful = inner.truthful
        self.thinking = self.stepping = 0.0
        self.stepped = 0

    def begin(self, lineup: Lineup, rows: Rows | None = None) -> None:
        """Get ready for an episode in each row, or in those named."""
        self._inner.begin(lineup, rows)
        self._left = None

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.bool_], infos: Infos, /) -> NDArray[np.int64]:
        """Return a flat action for each row: (n,)."""
        came = time.thread_time()
        if self._left is not None and self._warm:  # a shift's first step may load the compiled code, or compile it
            self.stepping += came - self._left
            self.stepped += len(observations)
        self._warm = self._left is not None
        actions = self._inner.act(observations, masks, infos)
        with self._counter.get_lock():
            if self._counter.value == ABANDONED:
                raise Abandoned
            self._counter.value += len(observations)
        self._left = time.thread_time()
        self.thinking += self._left - came
        return actions


def play_all(
    player: str,
    variants: Sequence[Variant],
    seeds: Sequence[int],
    told: Callable[[int, int], None],
    *,
    horizon: int = HORIZON,
) -> tuple[Played, Cost]:
    """Play a shift of each variant with a policy that comes with the line; return what came of it, and what it cost.

    Args:
        player: Name of the policy.
        variants: Of each line.
        seeds: Of each line.
        told: Called now and then with the steps done, and all that there are.
        horizon: Ticks of a shift.
    """
    began = time.perf_counter()
    parts = shared_out(len(variants), _cpus())
    processes = min(_cpus(), len(parts))
    total = len(variants) * horizon
    context = multiprocessing.get_context("spawn")  # a process that has used threads must not be forked
    counter: Counter = context.Value("q", 0)
    with ProcessPoolExecutor(processes, context, _prepare, (counter,)) as pool, _abandoning(counter):
        waiting = [pool.submit(_play, player, variants[part], seeds[part], horizon) for part in parts]
        _wait(waiting, lambda: told(counter.value, total))
        results = [future.result() for future in waiting]
    wall = time.perf_counter() - began
    played = Played.joined([result for result, _ in results])
    sums = np.array([costs for _, costs in results]).sum(axis=0)
    return played, Cost(total, wall, float(sums[0]), float(sums[1]), int(sums[2]), processes)


def shared_out(lines: int, processes: int) -> list[slice]:
    """Return parts of about one size, as many for each process, so that all end together."""
    rounds = math.ceil(lines / (processes * MOST))
    size = max(math.ceil(lines / (processes * rounds)), LEAST)
    return [slice(first, min(first + size, lines)) for first in range(0, lines, size)]


def _cpus() -> int:
    """Return the CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _wait(waiting: Sequence[Future[tuple[Played, tuple[float, float, int]]]], look: Callable[[], None]) -> None:
    """Look now and then until all is done, or something failed."""
    while True:
        done, others = wait(waiting, LOOK)
        look()
        if not others or any(future.exception() for future in done):
            return


@contextmanager
def _abandoning(counter: Counter) -> Iterator[None]:
    """Have the other processes end at once when the body is left by an error or by ^C."""
    try:
        yield
    except BaseException:
        with counter.get_lock():
            counter.value = ABANDONED
        raise


_counters: list[Counter] = []
"""In a process of the pool: the counter that it shares with the others."""


def _prepare(counter: Counter) -> None:
    """Get a process of the pool ready; ^C is for the one that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _counters.append(counter)


def _play(
    player: str, variants: Sequence[Variant], seeds: Sequence[int], horizon: int
) -> tuple[Played, tuple[float, float, int]]:
    """Play some of the lines, in a process of the pool."""
    timed = Timed(policy(player), _counters[0])
    played = play(timed, variants, seeds, horizon=horizon, evaluation=False)
    return played, (timed.thinking, timed.stepping, timed.stepped)
