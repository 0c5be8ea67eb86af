"""Episode: what was played, as it travels; and Lost, what stands in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode from its reset to its end."""

    index: int
    """Its place among the variants that were asked for."""
    seed: int
    """What ``reset`` was given."""
    observations: Any  # (steps + 1, ...)
    """From the one after ``reset`` to the last: one array where all are arrays of one shape and type, else a tuple."""
    actions: Any  # (steps, ...)
    """As the policy gave them: an array or a tuple, as with observations."""
    rewards: NDArray[np.float64]  # (steps,)
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]
    """What the last step told, all of it."""
    kept: Any = None
    """What the policy's ``kept()`` returned at the end, where it has one: log-probabilities, values."""

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return len(self.rewards)


class Cause(StrEnum):
    """Why an episode was lost; the policy is to blame for none of them."""

    DIED = "died"
    """The process that played it is gone."""
    LATE = "late"
    """It took longer than the deadline; its process was killed."""
    FAULT = "fault"
    """The environment's machine failed."""


@dataclass(frozen=True, slots=True)
class Lost:
    """An episode that did not come back. Leave it out: a reward of 0 would be a lie."""

    index: int
    """Its place among the variants that were asked for."""
    seed: int
    """What ``reset`` was given."""
    cause: Cause
    reason: str
    """In words."""
    tries: int = 1
    """How often it was tried."""


def stacked(values: Sequence[Any]) -> Any:
    """Return values as one array, which travels without being copied, or as a tuple where they are no such."""
    first = values[0] if values else None
    if isinstance(first, int | float | np.number) and all(type(each) is type(first) for each in values):
        return np.array(values)
    if not isinstance(first, np.ndarray) or first.dtype == object:
        return tuple(values)
    alike = all(
        isinstance(each, np.ndarray) and (each.shape, each.dtype) == (first.shape, first.dtype) for each in values
    )
    return np.stack(values) if alike else tuple(values)
