"""Collector: plays episodes with the model, in many environments at once, turn by turn together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol

import numpy as np

from rolf.evaluation.episode import Ending
from rolf.evaluation.origin import measure
from rolf_adapters.ppo.language.conversation import Conversation
from rolf_adapters.ppo.language.generation import Asked, answered, valued
from rolf_adapters.ppo.language.grammar import Grammar, Path
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.pool import Lost, Pool, Seen
from rolf_adapters.ppo.language.problems import Problem
from rolf_adapters.ppo.language.settings import Reward, Rollout
from rolf_adapters.ppo.language.template import Template
from rolf_adapters.ppo.language.turns import Episode, Said, Turn
from rolf_adapters.ppo.soundness import see_reward

TIMEOUT = "TIMEOUT"
"""What ``info["event"]`` is after a command that ran past its time-out (``termgym.Event``)."""


class Abandoned(RuntimeError):
    """Nobody wants the episodes any more that are being played."""


@dataclass(slots=True, eq=False)
class Collected:
    """What came of a number of problems."""

    episodes: list[Episode | None]
    """One a problem, in their order; None: nothing can be said of it, for its machine failed, or its first prompt was
    too long."""
    faults: list[str] = field(default_factory=list)
    """How machines failed."""
    too_long: list[int] = field(default_factory=list)
    """Lengths of first prompts that had no room in the window [tokens]."""
    environment: float = 0.0
    """Time spent in environments [s]."""
    generation: float = 0.0
    """Time spent in the model [s]."""
    replayed: int = 0
    """Episodes that were played again, because the process that had played them was gone."""

    @property
    def played(self) -> list[Episode]:
        """Those that were played to their end."""
        return [episode for episode in self.episodes if episode is not None]

    def take_in(self, share: Collected, places: slice) -> None:
        """Take in what came of some of the problems, which were played by others.

        Args:
            share: What they have found; its times are added to these.
            places: Which problems they are.
        """
        self.episodes[places] = share.episodes
        self.faults += share.faults
        self.too_long += share.too_long
        self.environment += share.environment
        self.generation += share.generation
        self.replayed += share.replayed


@dataclass(slots=True, eq=False)
class _Live:
    """An episode that is being played."""

    index: int
    problem: Problem
    draws: np.random.Generator | None
    talk: Conversation
    context: list[int]
    prompt: tuple[int, ...]
    label: str
    turns: list[Turn] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    """As the environment gave them."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who answers, and within which bounds."""

    policy: LanguagePolicy
    template: Template
    grammar: Grammar | None
    rollout: Rollout
    reward: Reward


class Plays(Protocol):
    """Whoever plays problems to their ends: a `Collector`, here or elsewhere."""

    def play(
        self,
        problems: Sequence[Problem],
        draws: Sequence[np.random.Generator | None],
        *,
        version: int,
        stop: Event | None = None,
    ) -> Collected:
        """See `Collector.play`."""


class Collector:
    """Plays problems to their ends.

    Args:
        speaker: Who answers.
        pool: Where.
    """

    def __init__(self, speaker: Speaker, pool: Pool) -> None:
        self._speaker, self._pool = speaker, pool

    def play(
        self,
        problems: Sequence[Problem],
        draws: Sequence[np.random.Generator | None],
        *,
        version: int,
        stop: Event | None = None,
    ) -> Collected:
        """Return an episode of each problem.

        Args:
            problems: What is played.
            draws: What each episode's answers are drawn with; None: the likeliest are taken.
            version: Of the policy; noted in each turn.
            stop: Set from another thread, it ends the playing before the next turn.

        Raises:
            Abandoned: it was stopped.
            Diverged: what the policy says is no number.
        """
        done = Collected([None] * len(problems))
        waiting = list(range(len(problems)))[::-1]
        live: dict[int, _Live] = {}
        while waiting or live:
            if stop is not None and stop.is_set():
                raise Abandoned(f"stopped with {len(waiting) + len(live)} of {len(problems)} episodes to be played")
            began = time.perf_counter()
            while waiting and len(live) < len(self._pool):
                free = [place for place in range(len(self._pool)) if place not in live]
                taken = {place: waiting.pop() for place in free[: len(waiting)]}
                seen = self._pool.resets({place: problems[index] for place, index in taken.items()})
                for place, index in taken.items():
                    self._begin(live, place, seen[place], (index, problems[index], draws[index]), done)
            done.environment += time.perf_counter() - began
            self._turn(live, version, done)
        return done

    def _begin(
        self,
        live: dict[int, _Live],
        place: int,
        seen: Seen | Lost,
        asked: tuple[int, Problem, np.random.Generator | None],
        done: Collected,
    ) -> None:
        """Have an episode take its place, if it has begun."""
        if isinstance(seen, Lost):
            done.faults.append(seen.reason)
            return
        index, problem, draws = asked
        talk = Conversation(self._pool.env(place), self._speaker.template, self._speaker.rollout.speech)
        label = problem.family or str(seen.info.get("task", "")).partition("/")[0]
        prompt = talk.begin(seen.observation, seen.info)
        if len(prompt) + self._speaker.rollout.tokens > self._speaker.rollout.window:
            done.too_long.append(len(prompt))
            return
        live[place] = _Live(index, problem, draws, talk, [], prompt, label)

    def _turn(self, live: dict[int, _Live], version: int, done: Collected) -> None:
        """Have every episode take a turn; those that end are put where they belong."""
        places = sorted(live)
        if not places:
            return
        began = time.perf_counter()
        said = self._answers([live[place] for place in places])
        asked = time.perf_counter()
        ended: list[tuple[_Live, Seen]] = []
        texts = {place: self._speaker.template.said(answer.ids) for place, answer in zip(places, said, strict=True)}
        came = self._pool.steps({place: live[place].talk.action(text) for place, text in texts.items()})
        for place, answer in zip(places, said, strict=True):
            each, seen = live[place], came[place]
            if isinstance(seen, Lost):
                done.faults.append(seen.reason)
                del live[place]
                continue
            if self._take(each, answer, seen, version):
                ended.append((each, seen))
                del live[place]
        stepped = time.perf_counter()
        self._end(ended, done)
        done.environment += stepped - asked
        done.generation += asked - began + time.perf_counter() - stepped

    def _answers(self, live: Sequence[_Live]) -> list[Said]:
        asked = []
        for each in live:
            each.context += each.prompt
            asked.append(Asked(each.context, each.draws, self._path(each)))
        rollout = self._speaker.rollout
        end = self._speaker.template.end
        return answered(self._speaker.policy, asked, end=end, most=rollout.tokens, rows=rollout.rows)

    def _path(self, each: _Live) -> Path | None:
        """Return what holds the next answer to calls, if anything does."""
        schema = each.talk.schema() if self._speaker.grammar is not None else None
        return None if self._speaker.grammar is None or schema is None else self._speaker.grammar.follow(schema)

    def _goes_on(self, each: _Live) -> list[int]:
        """Return what is read where the next answer's first token is chosen, which is where values are learned."""
        longest, path = self._speaker.policy.longest, self._path(each)
        forced = [] if path is None else path.forced(self._speaker.rollout.tokens)
        return [*each.context, *each.prompt, *forced][:longest]

    def _take(self, each: _Live, said: Said, seen: Seen, version: int) -> bool:
        """Note down a turn; return whether the episode has ended with it."""
        reward, rollout = self._speaker.reward, self._speaker.rollout
        fault = each.talk.malformed - sum(turn.malformed for turn in each.turns)
        each.context += said.ids
        each.rewards.append(seen.reward)
        see_reward(each.problem.variant.env_id, seen.reward, len(each.rewards))
        prompt: tuple[int, ...] = each.talk.follow(
            seen.observation, seen.info, ended=said.ids[-1] == self._speaker.template.end
        )
        full = len(each.context) + len(prompt) + rollout.tokens > rollout.window
        cut = seen.truncated or full or len(each.turns) + 1 == rollout.turns
        ends = seen.terminated or (cut and reward.limit_ends)
        paid = seen.reward + reward.per_turn + reward.malformed * fault
        late = seen.info.get("event") == TIMEOUT
        turn = Turn(each.prompt, said, paid, ends, cut and not ends, version, int(each.talk.segment), bool(fault), late)
        each.turns.append(turn)
        each.prompt = prompt
        return turn.terminated or turn.truncated

    def _end(self, ended: Sequence[tuple[_Live, Seen]], done: Collected) -> None:
        """Make episodes of those that have ended."""
        cut = [each for each, _ in ended if each.turns[-1].truncated]
        values = valued(self._speaker.policy, [self._goes_on(each) for each in cut], rows=self._speaker.rollout.rows)
        final = {each.index: value for each, value in zip(cut, values, strict=True)}
        for each, seen in ended:
            ending = Ending(each.rewards, seen.info, seen.terminated, seen.truncated)
            measured = measure(each.problem.variant, ending)
            done.episodes[each.index] = Episode(
                tuple(each.turns), final.get(each.index, 0.0), measured.success, measured.score, each.label
            )
