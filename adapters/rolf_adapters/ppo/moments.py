"""Moments: mean and variance of what comes bit by bit, and a normalisation that is learned once and then stands still.

Parts are merged exactly (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
variances", 1979): squares are taken of distances from the mean and never of the values, so that a small spread round a
large mean is not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]
Gathered = Callable[[Any], list[Any]]
"""Returns what each process gave, by rank, as `rolf_adapters.ppo.parallel.gathered` does."""
LEAST = 1e-8
"""A spread below this share of the mean's size (or of 1) is of numbers that stand still."""


class Moments:
    """Count, mean and variance of samples of one shape.

    Args:
        shape: Of a sample; ``()``: numbers.
    """

    def __init__(self, shape: Sequence[int] = ()) -> None:
        self.count = 0
        """Samples so far."""
        self.mean: Numbers = np.zeros(tuple(shape))
        self._squares: Numbers = np.zeros(tuple(shape))
        """Sum of squared distances from the mean."""

    @property
    def variance(self) -> Numbers:
        """Of a population; 0 before the first sample."""
        return self._squares / max(self.count, 1)

    @property
    def deviation(self) -> Numbers:
        """The root of the variance."""
        return np.sqrt(self.variance)

    def update(self, samples: ArrayLike, mask: ArrayLike | None = None) -> None:
        """Take in samples.

        Args:
            samples: Shape (n, *shape).
            mask: Which of them count, shape (n,); the others may hold anything. None: all.

        Raises:
            ValueError: they have another shape, or one is no finite number; nothing was changed then.
        """
        given = np.asarray(samples, np.float64)
        if given.shape[1:] != self.mean.shape or not given.ndim:
            wanted = ", ".join(map(str, ("n", *self.mean.shape)))
            raise ValueError(f"samples have shape {given.shape}; give ({wanted})")
        if mask is not None:
            given = given[np.asarray(mask, np.bool_)]
        if not np.isfinite(given).all():
            raise ValueError(f"of {len(given)} samples, {int((~np.isfinite(given)).sum())} numbers are not finite")
        if len(given):
            mean = given.mean(axis=0)
            self._take(len(given), mean, np.square(given - mean).sum(axis=0))

    def merge(self, other: Moments) -> None:
        """Take in all that another has taken in.

        Raises:
            ValueError: it is of samples of another shape.
        """
        if other.mean.shape != self.mean.shape:
            raise ValueError(f"moments of shape {other.mean.shape} cannot be merged into {self.mean.shape}")
        if other.count:
            self._take(other.count, other.mean, other._squares)

    def state(self) -> dict[str, Any]:
        """Return all of it as plain JSON, every bit."""
        return {"count": self.count, "mean": self.mean.tolist(), "squares": self._squares.tolist()}

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Moments:
        """Return what `state` described.

        Raises:
            ValueError: it describes none.
        """
        try:
            made = cls(np.shape(state["mean"]))
            made.count = int(state["count"])
            made.mean, made._squares = np.array(state["mean"], float), np.array(state["squares"], float)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{state!r:.120} is no state of moments ({error})") from None
        if made.mean.shape != made._squares.shape or made.count < 0:
            raise ValueError(f"{state!r:.120} is no state of moments: mean and squares must be of one shape")
        return made

    def _take(self, count: int, mean: Numbers, squares: Numbers) -> None:
        """Take in so many samples of such a mean and such squared distances from it."""
        total = self.count + count
        apart = mean - self.mean
        self.mean = self.mean + apart * (count / total)
        self._squares = self._squares + squares + np.square(apart) * (self.count * count / total)
        self.count = total


class Normaliser:
    """Brings observations to mean 0 and deviation 1, by the first steps of every environment.

    What is observed takes effect with `settle`, once an iteration: within one the same observation is always shown as
    the same numbers, so a policy is compared with itself. After ``steps`` steps the normalisation stands still.

    Args:
        shape: Of an observation.
        steps: Steps of every environment that count.
        clip: Largest size of a normalised number.

    Raises:
        ValueError: ``steps`` or ``clip`` is not above 0.
    """

    def __init__(self, shape: Sequence[int], steps: int = 1000, clip: float = 10.0) -> None:
        for name, given in (("steps", steps), ("clip", clip)):
            if not given > 0:
                raise ValueError(f"{name}={given!r} must be above 0")
        self._steps, self._clip = steps, clip
        self._seen = 0
        self._used, self._new = Moments(shape), Moments(shape)

    @property
    def frozen(self) -> bool:
        """Whether it stands still from now on."""
        return self._seen >= self._steps

    @property
    def moments(self) -> Moments:
        """What it normalises by."""
        return self._used

    def observe(self, observations: ArrayLike, alive: ArrayLike | None = None) -> None:
        """Take in what all environments showed in one step; once frozen, nothing.

        Args:
            observations: Shape (N, *shape).
            alive: Which environments took a step, shape (N,); None: all.

        Raises:
            ValueError: the shape is another one, or a number is not finite.
        """
        if not self.frozen:
            self._new.update(observations, alive)
            self._seen += 1

    def settle(self, gathered: Gathered | None = None) -> None:
        """Let what was observed since the last time take effect.

        Args:
            gathered: How processes share what each has seen; all of them must call it, and be shown the same number of
                steps. None: there is one process.
        """
        states = [self._new.state()] if gathered is None else gathered(self._new.state())
        for state in states:
            self._used.merge(Moments.of(state))
        self._new = Moments(self._used.mean.shape)

    def __call__(self, observations: ArrayLike) -> NDArray[np.float32]:
        """Return observations as they are shown to a network; before the first `settle`, as they are but clipped.

        What has never moved stays where it is: it is only centred.
        """
        deviation = self._used.deviation
        still = deviation <= LEAST * np.maximum(np.abs(self._used.mean), 1.0)
        shown = (np.asarray(observations, np.float64) - self._used.mean) / np.where(still, 1.0, deviation)
        return shown.clip(-self._clip, self._clip).astype(np.float32)

    def state(self) -> dict[str, Any]:
        """Return all of it as plain JSON; call `settle` before, or what was observed since is not in it.

        Raises:
            RuntimeError: something observed has not been settled.
        """
        if self._new.count:
            raise RuntimeError(f"{self._new.count} observations have not taken effect; call settle() before state()")
        return {"seen": self._seen, "moments": self._used.state()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Become what `state` described.

        Raises:
            ValueError: it describes none, or one of another shape; nothing was changed then.
        """
        if not {"seen", "moments"} <= state.keys():
            raise ValueError(f"{state!r:.120} is no state of a normaliser")
        used = Moments.of(state["moments"])
        if used.mean.shape != self._used.mean.shape:
            raise ValueError(f"the state is of observations of shape {used.mean.shape}, not {self._used.mean.shape}")
        self._seen, self._used, self._new = int(state["seen"]), used, Moments(used.mean.shape)
