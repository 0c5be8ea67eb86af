"""Moments: mean and variance of what comes bit by bit.

Parts are merged exactly (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
variances", 1979): squares are taken of distances from the mean and never of the values, so that a small spread round a
large mean is not lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]


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
