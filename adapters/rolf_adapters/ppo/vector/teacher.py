"""Teacher: who says, for every row, what it would do; for a warm start that imitates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.ppo.vector.naming import object_of

KEY = "training.imitation.teacher"


class Teacher(Protocol):
    """Says what it would do in each row of a vector environment.

    It may know what the learner is not shown; what is learned from it then rests on such knowledge, and whoever reports
    the result has to say so.
    """

    def begin(self, envs: Any, rows: NDArray[np.bool_]) -> None:
        """Get ready for the episodes that have just begun in some rows of ``envs``."""

    def act(self, observations: NDArray[np.float32], infos: Mapping[str, Any]) -> NDArray[np.int64]:
        """Return an action for each row: (rows,), or (rows, parts) where actions have parts.

        Args:
            observations: (rows, size) as the environment gave them.
            infos: All that it told beside, the truth included.
        """


def teacher(text: str) -> Teacher:
    """Return the teacher that ``module:object`` makes, such as ``linegym.teaching:oracle_diagnosis``.

    Raises:
        ValueError: there is none; says why.
    """
    made: Teacher = object_of(KEY, text)
    for name in ("begin", "act"):
        if not callable(getattr(made, name, None)):
            raise ValueError(f"{KEY} {text!r} is {made!r:.80}, which has no {name}; it needs begin and act")
    return made
