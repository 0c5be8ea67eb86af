"""Problems: which episodes are played, as data: an environment as it is made, and what it is seeded with."""

from __future__ import annotations

from typing import NamedTuple

from rolf.splitting import find_split
from rolf.variant import SEEDS, Labels, Variant
from rolf_adapters.ppo import seeds
from rolf_adapters.ppo.language.settings import Environment
from rolf_adapters.ppo.support import check_support


class Problem(NamedTuple):
    """One episode that is to be played."""

    variant: Variant
    seed: int
    """What ``reset`` is given."""
    family: str = ""
    """What kind of task it is, where that is known."""


class Problems:
    """The episodes of a training.

    Args:
        environment: Where it learns, and where it is tested.

    Raises:
        LookupError: there is no such split.
        ValueError: it is not there to be learned on.
    """

    def __init__(self, environment: Environment) -> None:
        if environment.split is None:
            assert environment.id is not None
            made = [environment.kwargs, {**environment.kwargs, **environment.evaluation}]
            variants = [Variant(environment.id, kwargs, wrappers=environment.wrappers) for kwargs in made]
            self._train, self._test = [(variants[0], _UNKNOWN)], [(variants[1], _UNKNOWN)]
            self._listed = False
            return
        names = (environment.split, environment.evaluation_split or environment.split)
        train, test = (find_split(name) for name in names)
        check_support(train.name, held_out=environment.held_out)
        self._train = list(zip(train.variants, train.labels, strict=True))
        self._test = list(zip(test.variants, test.labels, strict=True))
        self._listed = True

    @property
    def env_id(self) -> str:
        """Of the environment that is learned in."""
        return self._train[0][0].env_id

    def draw(self, count: int, *names: str | int, seed: int) -> list[Problem]:
        """Return episodes to learn from.

        Args:
            count: How many.
            names: What they are for: ``"rollout", iteration``.
            seed: The training's.
        """
        return [self._drawn(seed, *names, index) for index in range(count)]

    def held_out(self, count: int) -> list[Problem]:
        """Return the episodes of an evaluation: the same ones each time, whatever the training's seed."""
        if self._listed:
            tested = self._test[:count]
            return [Problem(variant, variant.attempt_seed(0), labels.family) for variant, labels in tested]
        ((variant, labels),) = self._test
        return [Problem(variant, variant.attempt_seed(index), labels.family) for index in range(count)]

    def _drawn(self, seed: int, *names: str | int) -> Problem:
        number = seeds.number(seed, "problem", *names)
        variant, labels = self._train[number % len(self._train)]
        return Problem(variant, seeds.number(seed, "world", *names) % SEEDS, labels.family)


_UNKNOWN = Labels("")
