"""Asynchronous collection: while a policy learns, an older version of it plays what is learned from next.

Which version plays what is fixed by a schedule, never by who is faster: with a staleness of k, the episodes of an
iteration are played by the policy as it was k iterations before (in the first k by the first). So a training stays a
function of its configuration. What is under way at a checkpoint is no part of it: the parameters that it is played with
are, and it is played again. They are as large as the policy whatever is played; half-played episodes could not be
kept at all, for a terminal cannot, and waiting for them would give up what is gained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Event

import numpy as np
import torch
from torch import Tensor

from rolf_adapters.ppo.language.collector import Collected, Collector, Plays, Speaker
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.pool import Pool
from rolf_adapters.ppo.language.problems import Problem
from rolf_adapters.ppo.language.twin import parameters_of, put, twin
from rolf_adapters.ppo.learner import State

PREFIX = "older/"
Share = Callable[[int], tuple[Sequence[Problem], Sequence[np.random.Generator]]]
"""Returns what this process plays in an iteration, and what answers are drawn with."""


class AsyncCollector:
    """Plays iterations ahead, one after another, in a thread of its own with environments of its own.

    Args:
        speaker: Who answers; a template and a grammar that nobody uses meanwhile. The policy may learn.
        share: What is played.
        iterations: Of the training; nothing is played ahead for later ones.
        elsewhere: Returns who plays as a policy in other processes, of which the thread only waits for the end; None:
            nobody does.
    """

    def __init__(
        self,
        speaker: Speaker,
        share: Share,
        *,
        iterations: int,
        elsewhere: Callable[[LanguagePolicy], Plays] | None = None,
    ) -> None:
        rollout = speaker.rollout
        self._policy = twin(speaker.policy)
        self._pool = Pool(rollout.environments, rollout.threads)
        here = Collector(replace(speaker, policy=self._policy), self._pool)
        self._collector: Plays = here if elsewhere is None else elsewhere(self._policy)
        self._share, self._staleness, self._iterations = share, rollout.staleness, iterations
        self._planned: dict[int, int] = {}  # the version that plays an iteration
        self._older: dict[int, dict[str, Tensor]] = {}  # parameters of the versions that are still to play
        self._running: dict[int, Future[Collected]] = {}
        self._thread: ThreadPoolExecutor | None = None
        self._stop = Event()

    def take(self, iteration: int, policy: LanguagePolicy, version: int) -> Collected:
        """Return the episodes of an iteration, and have those of later ones played meanwhile.

        Args:
            iteration: Whose episodes they are.
            policy: As it is now.
            version: Of it.

        Raises:
            Exception: whatever went wrong in the thread.
        """
        self._plan(iteration, policy, version)
        for each in self._planned:
            if each not in self._running and (each == iteration or each < self._iterations):
                self._begin(each)
        collected = self._running[iteration].result()
        del self._running[iteration], self._planned[iteration]
        self._older = {each: found for each, found in self._older.items() if each in self._planned.values()}
        return collected

    def _plan(self, iteration: int, policy: LanguagePolicy, version: int) -> None:
        """Have this version play what no older one is to play."""
        later = [each for each in range(iteration, iteration + self._staleness + 1) if each not in self._planned]
        if later:
            self._planned |= dict.fromkeys(later, version)
            self._older[version] = parameters_of(policy)

    def _begin(self, iteration: int) -> None:
        if self._thread is None:
            # Threads of PyTorch's are counted for each thread of Python's.
            self._thread = ThreadPoolExecutor(1, "collector", torch.set_num_threads, (torch.get_num_threads(),))
        version, (problems, draws) = self._planned[iteration], self._share(iteration)
        self._running[iteration] = self._thread.submit(
            self._play, self._older[version], version, problems, draws, self._stop
        )

    def _play(
        self,
        parameters: Mapping[str, Tensor],
        version: int,
        problems: Sequence[Problem],
        draws: Sequence[np.random.Generator],
        stop: Event,
    ) -> Collected:
        put(self._policy, parameters)
        return self._collector.play(problems, draws, version=version, stop=stop)

    # ---- keeping

    def state(self) -> State:
        """Return what is still to be played by which version, and the parameters of those versions."""
        tensors = {
            f"{PREFIX}{version}/{name}": each.clone()
            for version, parameters in self._older.items()
            for name, each in parameters.items()
        }
        return State(tensors, {"planned": [list(each) for each in sorted(self._planned.items())]})

    def check(self, state: State) -> None:
        """See that `load` can be done.

        Raises:
            ValueError: the state is of a training that collects otherwise, or of another model.
        """
        planned = state.values.get("planned")
        if planned is None or len(planned) not in (0, self._staleness):
            raise ValueError(
                f"the state has {'no' if planned is None else len(planned)} iterations that an older policy is to "
                f"play; expected {self._staleness}, or none at the beginning: give the rollout.staleness that it was "
                "made with"
            )
        wanted = {name: tuple(each.shape) for name, each in self._policy.trained()}
        for version in {version for _, version in planned}:
            given = {name: tuple(each.shape) for name, each in _parameters(state, version).items()}
            if given != wanted:
                raise ValueError(f"the state's parameters of version {version} are none of this model; give its own")

    def load(self, state: State) -> None:
        """Become what a state says; what is under way is given up."""
        self._give_up()
        self._planned = {int(iteration): int(version) for iteration, version in state.values["planned"]}
        self._older = {
            version: {name: each.clone() for name, each in _parameters(state, version).items()}
            for version in set(self._planned.values())
        }

    def close(self) -> None:
        """Stop playing and close the environments; calling it twice is allowed. A step under way is waited for."""
        self._give_up()
        if self._thread is None:
            self._pool.close()
            return
        # In the thread that made them: there are things that must not be closed in another one.
        self._thread.submit(self._pool.close).result()
        self._thread.shutdown()
        self._thread = None

    def _give_up(self) -> None:
        """Leave what is under way, and what waits for it."""
        self._stop.set()
        for each in self._running.values():
            each.cancel()
        wait(self._running.values())
        self._running, self._stop = {}, Event()


def _parameters(state: State, version: int) -> dict[str, Tensor]:
    prefix = f"{PREFIX}{version}/"
    return {name.removeprefix(prefix): each for name, each in state.tensors.items() if name.startswith(prefix)}
