"""EpisodePool: plays lists of episodes in Ray's actors, and survives their death."""

from __future__ import annotations

import copy
import math
import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import ray
from ray.exceptions import RayActorError, RayTaskError

from rolf.evaluation.policy import Policy
from rolf.variant import Variant
from rolf_adapters.ray_pool.episode import Cause, Episode, Lost
from rolf_adapters.ray_pool.errors import PoolError, said
from rolf_adapters.ray_pool.local import room
from rolf_adapters.ray_pool.player import Player

STILLBORN = 3
"""How many actors in a row may die before they have played anything, until something must be wrong with all of them."""
LEAVE = 10.0
"""How long actors may take to close their environments [s]; then they are killed."""
PATIENCE = 300.0
"""How long no actor at all may get ready [s]; then there must be no room for them."""
HELP = "its module must be installed, or lie in the folder where the program was started or in PYTHONPATH"


@dataclass(slots=True)
class _Work:
    """What an actor is at."""

    actor: Any
    index: int | None
    """None: it is getting ready."""
    begun: float


@dataclass(slots=True)
class _Round:
    """One call of ``play``."""

    policy: Any
    """Reference to it in Ray's store."""
    variants: Sequence[Variant]
    attempt: int
    retries: int
    waiting: deque[int]
    results: dict[int, Episode | Lost] = field(default_factory=dict)
    tries: dict[int, int] = field(default_factory=dict)
    working: dict[Any, _Work] = field(default_factory=dict)
    """By the reference to what will be the answer."""
    stillborn: int = 0


class EpisodePool:
    """Plays episodes in other processes: whole ones, so that no step waits for a call.

    The result is a function of the policy and the variants alone: neither the number of actors nor their speed, nor
    what they played before, has a part in it. An actor that dies (``kill -9``, out of memory) takes the one episode
    that it was playing with it; another takes its place.

    Without a running Ray the pool starts one, on this machine and its loopback address alone, and stops it in `close`.
    To use a cluster, call ``ray.init(address=…)`` first.

    Args:
        actors: How many processes play.
        deadline: Longest that an episode may take [s]; None: as long as it likes.
        cpus: What Ray reserves for each actor [processors].

    Raises:
        ValueError: there would be no actor, or no time, or Ray has fewer processors than that. No Ray is left running.
    """

    def __init__(self, actors: int = 2, *, deadline: float | None = None, cpus: float = 1.0) -> None:
        _check(actors, deadline, cpus)
        self._count, self._deadline = actors, deadline
        with ExitStack() as own:
            own.enter_context(room(actors, cpus))
            self._make = ray.remote(num_cpus=cpus, max_restarts=0, max_task_retries=0)(Player)
            self._own = own.pop_all()  # from here on it is the pool's to stop Ray
        self._actors: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self._closed = False

    def __enter__(self) -> Self:
        """Return the pool itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close it."""
        self.close()

    @property
    def processes(self) -> tuple[int, ...]:
        """The numbers of the processes that have played so far and are thought to live."""
        return tuple(self._numbers[actor] for actor in self._actors if actor in self._numbers)

    def play(
        self, policy: Policy, variants: Sequence[Variant], *, attempt: int = 0, retries: int = 0
    ) -> list[Episode | Lost]:
        """Play each variant once.

        Args:
            policy: Who plays; a copy in each actor. Is pickled once.
            variants: What is played.
            attempt: Which attempt at each; gives the seeds.
            retries: How often an episode that was lost is tried again.

        Returns:
            One for each variant, in their order: the episode, or `Lost` where it did not come back.

        Raises:
            PolicyError: the policy raised an error, or gave what is no action.
            PoolError: actors die before they have played anything.
            RuntimeError: the pool is closed.
        """
        if self._closed:
            raise RuntimeError("this pool is closed; make another")
        turn = _Round(ray.put(policy), variants, attempt, retries, deque(range(len(variants))))
        try:
            for actor in list(self._actors):
                self._ready(actor, turn)
            while turn.waiting or any(work.index is not None for work in turn.working.values()):
                while len(self._actors) < min(self._count, len(variants)):
                    self._actors.append(self._make.remote())
                    self._ready(self._actors[-1], turn)
                self._wake(turn)
                self._attend(turn)
        finally:
            for work in turn.working.values():  # something was raised; who is getting ready may go on
                if work.index is not None:
                    self._dismiss(work.actor)
        return [turn.results[index] for index in range(len(variants))]

    def close(self) -> None:
        """End the actors, and Ray where the pool has started it; calling it twice is allowed."""
        self._closed = True
        if self._actors and ray.is_initialized():
            ray.wait([actor.close.remote() for actor in self._actors], num_returns=len(self._actors), timeout=LEAVE)
            for actor in list(self._actors):
                self._dismiss(actor)
        self._actors = []
        self._own.close()

    def _ready(self, actor: Any, turn: _Round) -> None:
        """Let an actor have the policy."""
        turn.working[actor.take.remote(turn.policy)] = _Work(actor, None, time.monotonic())

    def _wake(self, turn: _Round) -> None:
        """Let actors that had nothing left to do play what another one has lost."""
        at_work = {work.actor for work in turn.working.values()}
        for actor in self._actors:
            if actor not in at_work:
                self._idle(actor, turn)

    def _attend(self, turn: _Round) -> None:
        """Wait for an answer, or for a deadline."""
        done, _ = ray.wait(list(turn.working), num_returns=1, timeout=self._patience(turn))
        for answer in done:
            self._answered(answer, turn)
        for answer, work in [] if done else list(turn.working.items()):
            if work.index is None:
                if self._left(work) > 0 or any(other.index is not None for other in turn.working.values()):
                    continue
                raise PoolError(f"no actor got ready in {PATIENCE:g} s; free in Ray: {ray.available_resources()}")
            if self._left(work) <= 0:
                del turn.working[answer]
                self._dismiss(work.actor)
                self._lose(work, turn, Cause.LATE, f"it took longer than {self._deadline:g} s")

    def _answered(self, answer: Any, turn: _Round) -> None:
        """Take an answer in, and give its actor something to do."""
        work = turn.working.pop(answer)
        try:
            result = ray.get(answer)
        except RayTaskError as error:
            if work.index is None:
                raise PoolError(f"no actor can take the policy: {said(error.cause)}; {HELP}") from error
            raise error.cause from error
        except RayActorError as error:
            self._dismiss(work.actor)
            self._died(work, turn, said(error))
            return
        if work.index is None:
            self._numbers[work.actor] = result
        elif isinstance(result, Lost):
            self._lose(work, turn, result.cause, result.reason)
        else:
            turn.stillborn = 0
            turn.results[work.index] = copy.deepcopy(result)  # what lies in Ray's store is read-only, and stays there
        self._idle(work.actor, turn)

    def _idle(self, actor: Any, turn: _Round) -> None:
        """Let an actor play what is next, if anything is."""
        if turn.waiting:
            index = turn.waiting.popleft()
            turn.tries[index] = turn.tries.get(index, 0) + 1
            answer = actor.play.remote(index, turn.variants[index], turn.attempt)
            turn.working[answer] = _Work(actor, index, time.monotonic())

    def _died(self, work: _Work, turn: _Round, reason: str) -> None:
        """Take in that an actor is gone."""
        if work.index is not None:
            self._lose(work, turn, Cause.DIED, reason)
            return
        turn.stillborn += 1
        if turn.stillborn >= STILLBORN:
            raise PoolError(
                f"{turn.stillborn} actors in a row died before they had played anything; the last: {reason}"
            )

    def _lose(self, work: _Work, turn: _Round, cause: Cause, reason: str) -> None:
        """Try an episode again, or give it up."""
        index = work.index
        assert index is not None
        if turn.tries[index] <= turn.retries:
            turn.waiting.appendleft(index)
            return
        seed = turn.variants[index].attempt_seed(turn.attempt)
        turn.results[index] = Lost(index, seed, cause, reason, turn.tries[index])

    def _left(self, work: _Work) -> float:
        """Return how long an actor may go on [s]."""
        limit = PATIENCE if work.index is None else self._deadline
        return float("inf") if limit is None else work.begun + limit - time.monotonic()

    def _patience(self, turn: _Round) -> float | None:
        """Return how long to wait at most [s]; who is not ready yet does not matter while others play."""
        playing = [work for work in turn.working.values() if work.index is not None]
        left = min(self._left(work) for work in playing or turn.working.values())
        return None if left == float("inf") else max(left, 0.0)

    def _dismiss(self, actor: Any) -> None:
        """Kill an actor and forget it."""
        ray.kill(actor)
        self._numbers.pop(actor, None)
        if actor in self._actors:
            self._actors.remove(actor)


def _check(actors: int, deadline: float | None, cpus: float) -> None:
    """Raise ValueError for what no pool can have, before any Ray is started for it."""
    if isinstance(actors, bool) or not isinstance(actors, int) or actors < 1:
        raise ValueError(f"actors={actors!r}; give a whole number, at least one")
    if deadline is not None and not deadline > 0:
        raise ValueError(f"deadline={deadline} [s]; give a positive time, or None")
    if not 0 <= cpus < math.inf:
        raise ValueError(f"cpus={cpus!r} for each actor; give a share of a processor or several, 0 to reserve none")
