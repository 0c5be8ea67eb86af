"""Actors: an iteration's episodes are shared among actors of Ray's, each of which has a copy of the policy.

Who plays an episode has no part in it: its answers are drawn with numbers of its own. Which share an actor plays is
fixed by its number, never by who is faster, for what is answered together has a part in the last bits of floats. So
a share that is played again, because its actor died, comes to the same bits, and so does a training that is resumed.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Event
from typing import Any, NamedTuple

import numpy as np

try:
    import ray
    from ray.exceptions import RayActorError, RayTaskError
except ImportError as error:
    raise ImportError(f"rollout.actors needs ray ({error}): pip install 'rolf[ray]'") from error

from rolf_adapters.ppo.language import keeping
from rolf_adapters.ppo.language.collector import Abandoned, Collected
from rolf_adapters.ppo.language.player import Made, Player, Share, parameters_of, unpacked
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.problems import Problem
from rolf_adapters.ppo.language.settings import Settings
from rolf_adapters.ppo.learner import Halted
from rolf_adapters.ray_pool.errors import said
from rolf_adapters.ray_pool.local import OBJECT_STORE, room

TRIES = 3
"""How often a share is played, until something must be wrong with it."""
PAUSE = 0.2
"""Between two looks at whether anybody still wants the episodes [s]."""
PATIENCE = 300.0
"""How long Ray may take to find a place for an actor [s]; then somebody else must have all its processors."""
LEAVE = 10.0
"""How long actors may take to close their environments [s]; then they are killed."""
COPIES = 3
"""Of the parameters that Ray's store has room for: of this iteration and the last one, and as much again for episodes.
"""
_LOG = logging.getLogger(__name__)


class ActorsLost(Halted):
    """Actors die before they have played what they were given."""


class _Starting(NamedTuple):
    """An actor of which it is not known yet that it can play."""

    there: Any
    """Reference to what it says as soon as it has a process."""
    begun: Any
    """Reference to what `Player.begin` returns."""
    since: float


@dataclass(slots=True)
class _Round:
    """One call of ``play``."""

    parameters: Any
    """Reference to them in Ray's store."""
    shares: Sequence[Share]
    working: dict[Any, int] = field(default_factory=dict)
    """The number of the share, by the reference to what will come of it."""
    tries: dict[int, int] = field(default_factory=dict)
    found: dict[int, Collected] = field(default_factory=dict)


class Actors:
    """So many processes that play.

    Without a running Ray one is started, on this machine and its loopback address alone, and stopped by `close`; make
    it in the main thread. Where a program has called ``ray.init(address=…)`` before, they play wherever that has room.

    Args:
        policy: Whose untrained weights those of the actors must be.
        settings: Of the training.
        words: Digest of the tokenizer and the chat template that theirs must be (`Template.digest`).
        seed: The training's.
        patience: How long Ray may take to find a place for an actor [s].

    Raises:
        ValueError: Ray has fewer processors than there are to be actors.
    """

    def __init__(
        self, policy: LanguagePolicy, settings: Settings, words: str, *, seed: int, patience: float = PATIENCE
    ) -> None:
        self._wanted = Made(keeping.frozen(policy), words)
        groups = set(Settings.model_fields)  # there may be others, of which an actor need not know
        self._given = (settings.model_dump_json(include=groups), seed, sys.path)
        size = sum(each.nbytes for each in parameters_of(policy).values())
        self._own = ExitStack()
        self._own.enter_context(room(settings.rollout.actors, 1, object_store=max(OBJECT_STORE, COPIES * size)))
        self._make = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Player)
        self._actors: list[Any] = [None] * settings.rollout.actors
        self._starting: dict[int, _Starting] = {}
        self._patience = patience

    def play(
        self,
        policy: LanguagePolicy,
        problems: Sequence[Problem],
        draws: Sequence[np.random.Generator | None],
        *,
        version: int,
        stop: Event | None = None,
    ) -> Collected:
        """Return an episode of each problem; see `Collector.play`.

        Args:
            policy: Whose trained parameters the actors play with.
            problems: What is played.
            draws: What each episode's answers are drawn with, as they are now; None: the likeliest are taken.
            version: Of the policy.
            stop: Set from another thread, it ends the playing at once.

        Raises:
            Abandoned: it was stopped.
            ActorsLost: a share has cost so many actors that one more would be no use, or Ray has no place for one.
            ValueError: an actor's model has other untrained weights, or its tokenizer or chat template is another one.
            Exception: whatever an actor raised.
        """
        count = min(len(self._actors), len(problems))
        shares = [Share(problems[place::count], draws[place::count], version) for place in range(count)]
        turn = _Round(ray.put(parameters_of(policy)), shares)
        try:
            for place in range(count):
                self._ask(place, turn)
            while turn.working:
                if stop is not None and stop.is_set():
                    raise Abandoned(f"stopped with {len(turn.working)} of {count} shares to be played")
                done, _ = ray.wait(list(turn.working), num_returns=1, timeout=PAUSE)
                for answer in done:
                    self._answered(answer, turn)
                self._wait_for_places()
        finally:
            for place in turn.working.values():  # something was raised, and nobody wants what they are at
                self._dismiss(place)
        return self._joined(turn, len(problems))

    def collector(self, policy: LanguagePolicy) -> ActorCollector:
        """Return who plays as a policy, as it is when it is played."""
        return ActorCollector(self, policy)

    def close(self) -> None:
        """End the actors, and Ray where it was started here; calling it twice is allowed."""
        living = [actor for actor in self._actors if actor is not None]
        if living and ray.is_initialized():
            ray.wait([actor.close.remote() for actor in living], num_returns=len(living), timeout=LEAVE)
            for place in range(len(self._actors)):
                self._dismiss(place)
        self._own.close()

    def _ask(self, place: int, turn: _Round) -> None:
        """Have an actor play its share; a new one, where there is none."""
        actor = self._actors[place]
        if actor is None:
            actor = self._actors[place] = self._make.remote()
            self._starting[place] = _Starting(actor.there.remote(), actor.begin.remote(*self._given), time.monotonic())
        turn.tries[place] = turn.tries.get(place, 0) + 1
        turn.working[actor.play.remote(turn.parameters, turn.shares[place])] = place

    def _answered(self, answer: Any, turn: _Round) -> None:
        """Take in what came of a share."""
        place = turn.working.pop(answer)
        try:
            if place in self._starting:  # before it played it has begun, so nothing is waited for
                self._look_at(place)
            turn.found[place] = unpacked(ray.get(answer))
        except RayTaskError as error:
            raise error.cause from error
        except RayActorError as error:
            self._dismiss(place)
            self._again(place, turn, said(error))

    def _look_at(self, place: int) -> None:
        """See that an actor has begun as it should."""
        try:
            made: Made = ray.get(self._starting[place].begun)
        except RayTaskError:
            self._dismiss(place)
            raise
        if made != self._wanted:
            self._dismiss(place)
            other = (
                "model whose untrained weights are others"
                if made.frozen != self._wanted.frozen
                else "tokenizer or a chat template that is another one"
            )
            raise ValueError(
                f"an actor has made a {other}; policy.model must name the same one wherever actors play, and be what "
                "is trained here"
            )
        del self._starting[place]

    def _wait_for_places(self) -> None:
        """See that Ray has found, or may still find, a place for each actor."""
        for each in self._starting.values():
            if time.monotonic() - each.since > self._patience and not ray.wait([each.there], timeout=0)[0]:
                raise ActorsLost(
                    f"Ray has found no place for an actor in {self._patience:g} s, each of which takes one processor; "
                    f"free in Ray: {ray.available_resources()}: give fewer rollout.actors, or end what has the others"
                )

    def _again(self, place: int, turn: _Round, reason: str) -> None:
        """Have a new actor play what another one has lost."""
        if turn.tries[place] >= TRIES:
            raise ActorsLost(
                f"{TRIES} actors in a row died over the same {len(turn.shares[place].problems)} episodes, of memory "
                f"that runs out, perhaps: give fewer rollout.actors or rollout.environments; the last one: {reason}"
            )
        count = len(turn.shares[place].problems)
        _LOG.warning("an actor has died, and its %d episodes are played again by a new one: %s", count, reason)
        self._ask(place, turn)

    @staticmethod
    def _joined(turn: _Round, count: int) -> Collected:
        """Return what came of all shares."""
        shares = len(turn.shares)
        done = Collected([None] * count)
        for place in range(shares):
            found = turn.found[place]
            found.replayed = (turn.tries[place] - 1) * len(found.episodes)
            done.take_in(found, slice(place, None, shares))
        # They played side by side: their mean is a share of the time that collecting took.
        done.environment /= max(shares, 1)
        done.generation /= max(shares, 1)
        return done

    def _dismiss(self, place: int) -> None:
        """Kill an actor and forget it."""
        actor, self._actors[place] = self._actors[place], None
        self._starting.pop(place, None)
        if actor is not None:
            ray.kill(actor)


@dataclass(frozen=True, slots=True)
class ActorCollector:
    """Has actors play as a policy; takes the place of a `Collector`.

    Args:
        actors: Who play.
        policy: As whom: as it is when it plays.
    """

    actors: Actors
    policy: LanguagePolicy

    def play(
        self,
        problems: Sequence[Problem],
        draws: Sequence[np.random.Generator | None],
        *,
        version: int,
        stop: Event | None = None,
    ) -> Collected:
        """See `Actors.play`."""
        return self.actors.play(self.policy, problems, draws, version=version, stop=stop)
