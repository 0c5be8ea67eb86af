"""Player: plays an environment and writes down everything that it was asked and answered."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rolf.checks.acting import Actor
from rolf.checks.errors import Place
from rolf.checks.reproduction import Call, Reproduction
from rolf.checks.subject import AnyEnv
from rolf.checks.tape import Answer
from rolf.plain import plain

if TYPE_CHECKING:
    from rolf.checks.trial import Trial

STEP = ("observation", "reward", "terminated", "truncated", "info")
"""What ``step`` returns, in order."""
RESET = ("observation", "info")
"""What ``reset`` returns, in order."""


class Player:
    """Plays one environment.

    Global generators are put to the same state before each reset, and before each step of a number: that an environment
    draws from them is what `check_determinism` finds, and the others shall not find it again.

    Args:
        trial: What is asked for.
        env: A fresh environment.
        around: What to do around each call.
        pinned: Whether global generators are put to the same state.
    """

    def __init__(
        self,
        trial: Trial,
        env: AnyEnv,
        *,
        around: Callable[[], AbstractContextManager[None]] = nullcontext,
        pinned: bool = True,
    ) -> None:
        self.env = env
        self.trial = trial
        self.calls: list[Call] = []
        self.tape: list[Answer] = []
        self.over = True
        """Whether the episode has ended, or none has begun."""
        self.observation: Any = None
        """The latest, as it was returned."""
        self.info: Any = None
        self.returned: dict[str, Any] = {}
        """What the latest call returned, by name."""
        self._actor = Actor(env, trial.actions)
        self.around = around
        self._pinned = pinned
        self._episode = self._step = -1

    @property
    def volatile(self) -> tuple[str, ...]:
        """Fields that are not compared."""
        return (*self.env.metadata.get("volatile", ()), *self.trial.volatile)

    @property
    def place(self) -> Place:
        """Where the latest call was."""
        return Place(self._episode, self._step)

    # ---- calls

    def reset(self, seed: int | None = None) -> Answer:
        """Begin an episode."""
        self._episode, self._step = self._episode + 1, -1
        returned = self.asked(Call("reset", seed), self.env.reset, seed=seed)
        self.observation, self.info = self._parts(returned, RESET)
        self.over = False
        self._actor.begin((seed if seed is not None else 0, self._episode))
        return self._told(RESET, returned)

    def step(self, action: Any) -> Answer:
        """Take one step."""
        self._step += 1
        returned = self.asked(Call("step", copy.deepcopy(action)), self.env.step, action)
        self.observation, _, terminated, truncated, self.info = self._parts(returned, STEP)
        ends = self.env.metadata.get("autoreset_mode") is AutoresetMode.DISABLED or not hasattr(self.env, "num_envs")
        self.over = ends and bool(np.any(terminated) or np.any(truncated))
        return self._told(STEP, returned)

    def asked(self, call: Call, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return what a call of the environment returns.

        Raises:
            CheckFailed: it raised.
        """
        self.calls.append(call)
        if self._pinned:
            random.seed(self._step)
            np.random.seed(self._step + 1)
        with self.around():
            try:
                return function(*args, **kwargs)
            except Exception as error:
                shown = Reproduction.of_one(self.trial.subject.code, self)
                problem = f"{call.verb} raised {type(error).__name__}: {str(error)[:300]}"
                raise self.trial.failed(problem, self.place, reproduction=shown) from error

    def choose(self) -> Any:
        """Return the next action."""
        return self._actor.choose(self.observation, self.info)

    # ---- many calls

    def play(self, seed: int | None, steps: int | None = None) -> list[Any]:
        """Play an episode to its end, or for some steps; return the actions."""
        self.reset(seed)
        taken: list[Any] = []
        while not self.over and len(taken) < (self.trial.steps if steps is None else steps):
            taken.append(self.choose())
            self.step(taken[-1])
        return taken

    def replay(self, seed: int | None, actions: Sequence[Any]) -> None:
        """Play an episode with given actions, as far as it goes."""
        self.reset(seed)
        self.go_on(actions)

    def go_on(self, actions: Sequence[Any]) -> None:
        """Take given actions, until the episode ends."""
        for action in actions:
            if self.over:
                return
            self.step(copy.deepcopy(action))

    def back_to(self, place: Place) -> None:
        """Note that the environment has gone back to where it was in the same episode."""
        self._step, self.over = place.step, False

    # ---- what came of it

    def _parts(self, returned: Any, names: Sequence[str]) -> Sequence[Any]:
        if not isinstance(returned, tuple) or len(returned) != len(names):
            problem = f"{self.calls[-1].verb} must return ({', '.join(names)})"
            shown = Reproduction.of_one(self.trial.subject.code, self)
            raise self.trial.failed(problem, self.place, {"it returned": f"{returned!r:.200}"}, shown)
        return returned

    def _told(self, names: Sequence[str], returned: Sequence[Any]) -> Answer:
        self.returned = dict(zip(names, returned, strict=True))
        answer = Answer(self._episode, self._step, plain(self.returned), len(self.calls))
        self.tape.append(answer)
        return answer
