"""Senses: what is worked out of an entity's observations, step by step, from what is known of the plant.

A layout names them (`rolf_adapters.ppo.vector.layout.Layout.senses`); those of a production line are in
``linegym.senses``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.ppo.vector.layout import Layout
from rolf_adapters.ppo.vector.naming import object_of


class Senses(Protocol):
    """Follows the rows of a vector environment; a row does not depend on its neighbours."""

    size: int
    """Numbers of each entity."""

    def begin(self, infos: Mapping[str, Any], rows: NDArray[np.bool_]) -> None:
        """Get ready for the episodes that have just begun in these rows, at first in all.

        Args:
            infos: What the reset told; an array an entry, or of a single environment a value.
            rows: (rows,) which.
        """

    def look(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:  # (rows, entities, size)
        """Return what is worked out after a step of all rows; called once a step, with (rows, size) observations."""


def senses(layout: Layout) -> Senses:
    """Return the senses that a layout names.

    Raises:
        ValueError: there are none, or they work out as many numbers as the layout does not say.
    """
    found = cast(Senses, object_of("policy.layout.senses", layout.senses))
    if found.size != layout.senses_size:
        raise ValueError(
            f"senses {layout.senses!r} work out {found.size} numbers of each entity, and the layout says "
            f"senses_size={layout.senses_size!r}; give {found.size}"
        )
    return found
