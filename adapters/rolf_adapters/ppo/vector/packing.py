"""Packing: what the network was shown of an episode as columns of the trajectory buffer, and back, bit by bit.

Truths become bits. Of the features only the columns are kept that are not 0 throughout: a line of 8 stations fills a
third of what there is room for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rolf_adapters.ppo.vector.network import Seen, Size


class Shown(NamedTuple):
    """What the network was shown, a row a step; see `rolf_adapters.ppo.vector.network.Seen`."""

    features: NDArray[np.float32]
    words: NDArray[np.bool_]
    time: NDArray[np.float32]
    previous: NDArray[np.int64]
    allowed: NDArray[np.bool_]

    def seen(self) -> Seen:
        """Return it as the network takes it."""
        return Seen(*map(torch.from_numpy, self))

    def taken(self, rows: NDArray[np.int64]) -> Shown:
        """Return some of the rows."""
        features, words, time, previous, allowed = self
        return Shown(features[rows], words[rows], time[rows], previous[rows], allowed[rows])

    @classmethod
    def joined(cls, parts: list[Shown]) -> Shown:
        """Return the rows of all parts, one after the other."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def packed(shown: Shown) -> dict[str, NDArray[Any]]:
    """Return columns for `rolf_adapters.buffer.Episode.states`."""
    # By their bits, for -0.0 is not nothing.
    there = (np.ascontiguousarray(shown.features).view(np.uint32) != 0).any(axis=0)
    columns = np.packbits(there)
    return {
        "columns": np.tile(columns, (len(shown.time), 1)),
        "features": np.ascontiguousarray(shown.features[:, there]),
        "words": np.packbits(shown.words, axis=1),
        "time": shown.time,
        "previous": shown.previous,
        "allowed": np.packbits(shown.allowed, axis=1),
    }


def unpacked(columns: Mapping[str, Any], size: Size) -> Shown:
    """Return what was packed.

    Args:
        columns: Of an episode.
        size: Of what the network is shown.

    Raises:
        ValueError: it was shown something of another size then.
    """
    steps, actions = len(columns["time"]), sum(size.parts)
    wanted = {"columns": -(-size.features // 8), "words": -(-size.words // 8), "allowed": -(-actions // 8)}
    got = {name: columns[name].shape[1] for name in wanted}
    if got != wanted:
        raise ValueError(f"a stored episode is of another network: {got} bytes a step, expected {wanted}; remove it")
    there = np.unpackbits(columns["columns"][0], count=size.features).astype(np.bool_)
    features = np.zeros((steps, size.features), np.float32)
    features[:, there] = columns["features"]
    return Shown(
        features,
        _bits(columns["words"], size.words),
        np.array(columns["time"]),
        np.array(columns["previous"]),
        _bits(columns["allowed"], actions),
    )


def _bits(packed: NDArray[np.uint8], count: int) -> NDArray[np.bool_]:
    return np.unpackbits(packed, axis=1, count=count).astype(np.bool_)
