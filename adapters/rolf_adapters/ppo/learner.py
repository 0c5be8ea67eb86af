"""Learner: what the training loop asks of an agent in training."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from torch import Tensor


class State(NamedTuple):
    """All that a learner has become, at the end of an iteration: what a checkpoint holds of it."""

    tensors: dict[str, Tensor]
    """Parameters, moments of the optimiser, statistics: all on the processor."""
    values: dict[str, Any]
    """The rest as plain JSON: counters, states of random generators, histories."""


class Learner(Protocol):
    """One agent in training.

    What an iteration does is a function of the state before it, the configuration, the iteration's number and the rank
    and number of processes: nothing else, neither time nor what other iterations have drawn. So a run that was killed
    and resumed goes the same way, bit by bit.
    """

    def iterate(self, iteration: int) -> Mapping[str, float]:
        """Collect, learn from it, and return what is to be logged.

        Args:
            iteration: From 0.

        Returns:
            Numbers by names like ``rollout/return``; see `rolf_adapters.ppo.metrics`. The same on all processes.

        Raises:
            Diverged: the loss is no number; the parameters are those before the step that failed.
        """

    def evaluate(self, iteration: int) -> Mapping[str, float]:
        """Play what it is tested on, greedily; changes nothing that `state` returns."""

    def state(self) -> State:
        """Return all that the next iterations depend on, as copies."""

    def load(self, state: State) -> None:
        """Become what ``state`` says.

        Raises:
            ValueError: it is another kind of learner's, or one of another shape; nothing was changed.
        """

    def close(self) -> None:
        """Give back environments and processes; calling it twice is allowed."""


@runtime_checkable
class Measures(Protocol):
    """A learner that knows beforehand what it will measure, so that a slip in a gate is told before anything begins."""

    def measures(self) -> Collection[str]:
        """Return the names of all that iterations and evaluations of this training can tell, sooner or later.

        Returns:
            Names, as `Learner.iterate` and `Learner.evaluate` tell them; ``family/*`` stands for a whole group.
        """


@runtime_checkable
class KeepsFiles(Protocol):
    """A learner that keeps more than fits into a checkpoint, such as a trajectory buffer, in files of its own."""

    def keep_in(self, folder: Path, states: int) -> None:
        """Take the training's folder, in which each process makes one of its own; called before everything else.

        Args:
            folder: Of the training.
            states: How many of the latest states may be gone back to.

        Raises:
            OSError, ValueError: nothing can be kept there.
        """


@runtime_checkable
class GoesBack(Protocol):
    """A learner whose files may no longer hold all of an earlier state, and that can go back to what is left of it."""

    def go_back(self, state: State) -> str:
        """Become what a good state says, which may be older than those of `KeepsFiles.keep_in`; see `Learner.load`.

        Returns:
            What is gone for good, for people; empty: nothing.
        """


class Diverged(ArithmeticError):
    """A loss or gradient is no finite number; the loop goes back to the last good checkpoint."""


class Halted(RuntimeError):
    """A learner cannot go on, though nothing is wrong with what it has learned: machines fail, say. Says what to do."""

    resumes: ClassVar[bool] = True
    """Whether it may go on when it is resumed, with the same configuration."""
