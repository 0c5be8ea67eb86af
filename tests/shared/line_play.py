"""Actions for production lines in tests: mostly possible ones, often enough to open, mend and close work orders."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym.actions import COMMANDS
from linegym.plant import ACTIONS, Verb

SOMETHING = 0.3
"""How often something is done."""
_WANTED = ~np.isin(COMMANDS[:, 0], (Verb.THROTTLE, Verb.ORDER))
"""Not the commands that are always possible, or nothing else would ever be drawn."""


def action(mask: NDArray[np.int8], rng: np.random.Generator) -> int:
    """Return a drawn action: mostly nothing, now and then one that is possible, seldom any at all."""
    drawn = rng.random()
    if drawn < SOMETHING:
        return int(rng.choice(np.flatnonzero(mask.astype(bool) & _WANTED)))
    return int(rng.integers(ACTIONS)) if drawn > 0.97 else 0


def actions(masks: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return one drawn action a row."""
    return np.array([action(mask, rng) for mask in masks])
