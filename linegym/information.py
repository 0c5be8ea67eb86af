"""Information: what ``info`` tells of a line, the same of one row as of thousands.

Of thousands every entry is one array, with ``_entry`` beside it that says which rows it speaks of, as Gymnasium's own
vector environments have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linegym.batch import Batch
from linegym.layout import FACTS
from linegym.plant import STATIONS
from linegym.variants import Variant

FLAGS = ("invalid_action", "success", "closed_right")
"""Facts that are yes or no."""
CUSTOM = -1
_RENAMED = {"episode": "episode_index", "invalid": "invalid_action"}
KEYS = tuple(_RENAMED.get(name, name) for name in FACTS)
"""Name of each column of ``Batch.facts`` in ``info``, where ``episode`` is the place of Gymnasium's statistics."""

Infos = dict[str, Any]


class Card(NamedTuple):
    """What ``info`` says of a variant."""

    variant_id: str
    template_id: str
    intensities: NDArray[np.int8]
    """(3,) of the sensor, network and load perturbations; ``CUSTOM`` for parameters of one's own"""
    station_mask: NDArray[np.int8]
    """(24,) 1 for the places that a station of this line has"""


def card(variant: Variant) -> Card:
    """Return what ``info`` says of a variant."""
    present = np.zeros(STATIONS, np.int8)
    present[: len(variant.template.plant().stations)] = 1
    intensities = np.array([level if isinstance(level, int) else CUSTOM for level in variant.levels], np.int8)
    return Card(variant.id, variant.template.name, intensities, present)


class RowInfo:
    """Tells of one row of a batch. A step is so short that looking up its arrays anew would show.

    Args:
        batch: The batch.
        masks: Whether possible actions are told.
        row: Which row.
    """

    def __init__(self, batch: Batch, masks: bool, row: int = 0) -> None:
        self._batch = batch
        self._row = row
        self._facts = batch.facts[row]
        self._mask = batch.masks[row].view(np.int8) if masks else None

    def told(self, said: Card, seed: int) -> Infos:
        """Return the information, in arrays of its own."""
        info: Infos = dict(zip(KEYS, self._facts.tolist(), strict=True))
        for name in FLAGS:
            info[name] = info[name] == 1
        info["variant_id"], info["template_id"], info["seed"] = said.variant_id, said.template_id, seed
        info["intensities"], info["station_mask"] = said.intensities.copy(), said.station_mask.copy()
        info["true_faults"] = self._batch.faults()[self._row]
        if self._mask is not None:
            info["action_mask"] = self._mask.copy()
        return info


class Roster:
    """What ``info`` says of the variants of all rows, kept as arrays."""

    def __init__(self, variants: Sequence[Variant]) -> None:
        rows = len(variants)
        self._ids = np.full(rows, None, dtype=object)
        self._templates = np.full(rows, None, dtype=object)
        self._intensities = np.zeros((rows, 3), np.int8)
        self._station_masks = np.zeros((rows, STATIONS), np.int8)
        for row, variant in enumerate(variants):
            self.note(row, variant)

    def note(self, row: int, variant: Variant) -> None:
        """Write down the variant of a row."""
        said = card(variant)
        self._ids[row], self._templates[row] = said.variant_id, said.template_id
        self._intensities[row], self._station_masks[row] = said.intensities, said.station_mask

    def infos(self, batch: Batch, seeds: NDArray[np.int64], masks: bool) -> Infos:
        """Return the information of every row, as arrays of their own."""
        facts = batch.facts.T.astype(np.int64)
        infos: Infos = dict(zip(KEYS, facts, strict=True))
        for name in FLAGS:
            infos[name] = infos[name] == 1
        infos["variant_id"], infos["template_id"] = self._ids.copy(), self._templates.copy()
        infos["seed"] = seeds.copy()
        infos["intensities"], infos["station_mask"] = self._intensities.copy(), self._station_masks.copy()
        infos["true_faults"] = batch.faults()
        if masks:
            infos["action_mask"] = batch.masks.astype(np.int8)
        return infos


def with_presence(infos: Infos, rows: NDArray[np.bool_]) -> Infos:
    """Return the information with a mask beside every entry of the rows that it speaks of."""
    return {**infos, **{f"_{name}": rows.copy() for name in infos}}


def of_rows(infos: Infos, rows: NDArray[np.bool_]) -> Infos:
    """Return the information of some rows, with nothing in the others, and the masks."""
    told: Infos = {}
    for name, values in infos.items():
        told[name] = np.full_like(values, None) if values.dtype == object else np.zeros_like(values)
        told[name][rows] = values[rows]
    return with_presence(told, rows)
