"""Trial: what a check was asked for, and the environments that it makes for it."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from rolf.checks.acting import Actions
from rolf.checks.errors import CheckFailed, NotApplicable, Place
from rolf.checks.player import Player
from rolf.checks.reproduction import Reproduction
from rolf.checks.subject import EnvLike, Subject
from rolf.checks.tape import parting

SEEDS = (0, 1)
STEPS = 30


@dataclass(frozen=True)
class Trial:
    """A check at work on one environment."""

    check: str
    """Name of the check."""
    subject: Subject
    actions: Actions
    seeds: tuple[int, ...]
    steps: int
    """Most steps of an episode."""
    volatile: tuple[str, ...]
    """Fields that are not compared, beside those that the environment declares."""

    @classmethod
    def of(
        cls, check: str, env: EnvLike, actions: Actions, seeds: Sequence[int], steps: int, volatile: Sequence[str]
    ) -> Trial:
        """Return the trial that a check was asked for.

        Raises:
            TypeError: what was asked for is of the wrong type.
            ValueError: there are no seeds, no steps, or no actions.
        """
        if isinstance(seeds, int) or not seeds or any(not isinstance(seed, int) or seed < 0 for seed in seeds):
            raise ValueError(f"seeds={seeds!r} is not allowed; give one or more whole numbers from 0")
        if not isinstance(steps, int) or steps < 1:
            raise ValueError(f"steps={steps!r} is not allowed; give a whole number from 1")
        if not (actions is None or callable(actions) or (isinstance(actions, Sequence) and len(actions))):
            raise ValueError(f"actions={actions!r:.80} is not allowed; give a function, some actions, or None")
        if isinstance(actions, str) or isinstance(volatile, str):
            raise TypeError("got a string where several are wanted; put it into a list")
        return cls(check, Subject.of(env), actions, tuple(seeds), steps, tuple(volatile))

    @contextlib.contextmanager
    def player(self, **settings: Any) -> Iterator[Player]:
        """Make a fresh environment, hand it over to be played, and close it."""
        player = Player(self, self.subject.make(), **settings)
        try:
            yield player
        finally:
            player.env.close()

    def single(self, player: Player) -> None:
        """Refuse a vector environment.

        Raises:
            NotApplicable: it is one.
        """
        if isinstance(player.env, VectorEnv):
            raise NotApplicable("it is a vector environment; check the single one that its rows are like")

    def failed(
        self,
        problem: str,
        place: Place | None = None,
        values: dict[str, str] | None = None,
        reproduction: Reproduction | None = None,
    ) -> CheckFailed:
        """Return the error of a fault that was found."""
        return CheckFailed(self.check, problem, place, values, "" if reproduction is None else reproduction.text())

    def compare(
        self, problem: str, left: Player, right: Player, names: tuple[str, str], begin: tuple[int, int] = (0, 0)
    ) -> None:
        """Compare what two environments answered, or one at two times.

        Args:
            problem: What it means if they differ.
            left: Who played one.
            right: Who played the other, which was asked the same; the same player for two parts of what it played.
            names: What the two are called.
            begin: Which answer of each is the first to be compared.

        Raises:
            CheckFailed: they differ.
        """
        parted = parting(left.tape[begin[0] :], right.tape[begin[1] :], left.volatile)
        if parted is not None:
            values = dict(zip(names, parted.found[1:], strict=True))
            calls = (parted.left.calls, parted.right.calls)
            shown = Reproduction.of_two(self.subject.code, left, right, calls, parted.name)
            raise self.failed(problem, parted.place, values, shown)


@contextlib.contextmanager
def generators_restored() -> Iterator[None]:
    """Put Python's and NumPy's global generators back to what they were."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
