"""Features: what a network is shown of each row, step by step: the observation, what was of late, and when it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.ppo.vector.layout import Layout
from rolf_adapters.ppo.vector.senses import Senses, senses

Reals = NDArray[np.float32]
Rows = NDArray[np.bool_]


class Features:
    """Remembers of some rows what their observations were of late, and what senses worked out of them.

    Args:
        rows: How many.
        size: Numbers of an observation.
        layout: What is traced and worked out, and which words are known; None: nothing.
    """

    def __init__(self, rows: int, size: int, layout: Layout | None) -> None:
        self.layout = layout
        self.size = size + (layout.trace_size if layout is not None else 0)
        """Numbers of a row's features: observation, then traces and senses of each entity."""
        self.words: Reals = np.zeros((rows, len(layout.vocabulary) if layout is not None else 0), np.float32)
        """(rows, words) 1 where a word is said of a row"""
        self.time = np.zeros(rows, np.float32)
        """(rows,) steps since the row's episode began"""
        self._rows = rows
        gains = layout.gains if layout is not None else ()
        self._gains = np.array(gains, np.float32)[:, None]
        shape = (rows, layout.entities, len(gains), len(layout.traced)) if layout is not None else (rows, 0)
        self._traces: Reals = np.zeros(shape, np.float32)
        self._senses: Senses | None = senses(layout) if layout is not None and layout.senses else None
        self._sensed: Reals = np.zeros(
            (rows, *((layout.entities, layout.senses_size) if layout else (0, 0))), np.float32
        )

    def begin(self, observations: Reals, rows: Rows, infos: Mapping[str, Any]) -> Reals:
        """Return the features of all rows, of which some have just begun an episode.

        Args:
            observations: (rows, size)
            rows: (rows,) which have begun.
            infos: What the reset told.
        """
        self.time[rows] = 0
        if self.layout is not None:
            if self.layout.words:
                self._read(infos, rows)
            self._traces[rows] = self._traced(observations, self.layout)[rows]
        if self._senses is not None:
            self._senses.begin(infos, rows)
            self._sensed[rows] = 0  # told from the first step on: looking twice at the others would be a step too many
        return self._joined(observations)

    def see(self, observations: Reals) -> Reals:  # (rows, size)
        """Return the features of all rows after a step."""
        self.take_in(observations)
        self.time += 1
        return self._joined(observations)

    def take_in(self, observations: Reals) -> None:
        """Remember what is seen of all rows in a step after which nothing is decided."""
        if self.layout is not None and self.layout.gains:
            self._traces += self._gains * (self._traced(observations, self.layout) - self._traces)
        if self._senses is not None:
            self._sensed[:] = self._senses.look(observations)

    def _joined(self, observations: Reals) -> Reals:
        if self.layout is None:
            return observations.copy()
        traces = self._traces.reshape(self._rows, self.layout.entities, -1)
        added = np.concatenate([traces, self._sensed], axis=2)
        return np.concatenate([observations, added.reshape(self._rows, -1)], axis=1, dtype=np.float32)

    def _traced(self, observations: Reals, layout: Layout) -> Reals:  # (rows, entities, 1, traced)
        """Return what is traced, as it is now."""
        last = layout.first + layout.entities * layout.size
        seen = observations[:, layout.first : last].reshape(self._rows, layout.entities, layout.size)
        found = np.empty((self._rows, layout.entities, 1, len(layout.traced)), np.float32)
        steps = dict(layout.levels)
        for place, (number, level) in enumerate(layout.traced):
            column = seen[:, :, number]
            found[:, :, 0, place] = column if level < 0 else np.rint(column * (steps[number] - 1)) == level
        return found

    def _read(self, infos: Mapping[str, Any], rows: Rows) -> None:
        assert self.layout is not None
        if self.layout.words not in infos:
            raise ValueError(
                f"the environment's info has no {self.layout.words!r}, which the layout reads words from; "
                f"it has {', '.join(sorted(map(str, infos))[:20])}"
            )
        for row in np.flatnonzero(rows):
            said = str(np.asarray(infos[self.layout.words], dtype=object).reshape(-1)[row]).split("/")
            self.words[row] = [word in said for word in self.layout.vocabulary]
