"""Resampling: what might have been drawn instead.

``cluster`` draws clusters, each with all its variants and their attempts: how the figure would vary over new variants.
``two-level`` draws clusters and then, in each variant, attempts: wider than it must be, for the attempts' chance is in
the spread between variants already. ``stratified`` keeps the variants and draws attempts only: how the figure would
vary if the same variants were played again, which is what rliable tells.

Random numbers come raw from Philox, keyed by the seed and what they are for, so that they are the same under every
version of NumPy and however the resamples are divided.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rolf.statistics.scores import Counts, Floats

METHODS = ("cluster", "two-level", "stratified")
ROOM = 1 << 20
"""Scores that are looked at together, about: it bounds the memory that resamples take."""
CLUSTERS, ATTEMPTS = 0, 1
"""What random numbers are for."""


class Uniforms:
    """Numbers from 0 to 1, the next ones every time."""

    def __init__(self, seed: int, purpose: int) -> None:
        self._philox = np.random.Philox(key=np.array([seed, purpose], dtype=np.uint64))

    def below(self, count: Counts | int, shape: tuple[int, ...]) -> Counts:
        """Return whole numbers from 0 to below a count, which may differ from place to place."""
        raw = self._philox.random_raw(int(np.prod(shape))).reshape(shape)
        uniform = (raw >> np.uint64(11)) * 2.0**-53
        return (uniform * count).astype(np.int64)

    def coins(self, shape: tuple[int, int]) -> NDArray[np.uint8]:
        """Return 0 or 1 everywhere; each row takes whole words of 64 of them."""
        words = self._philox.random_raw(shape[0] * -(-shape[1] // 64)).astype("<u8").reshape(shape[0], -1)
        return np.unpackbits(words.view(np.uint8), axis=1, count=shape[1], bitorder="little")


def resampled(
    table: Floats, owner: Counts, method: str, resamples: int, seed: int, room: int = ROOM
) -> Iterator[tuple[Floats, Counts]]:
    """Yield resamples, some at a time, as kernels take them: scores, and how often each variant counts.

    Args:
        table: (variants, attempts)
        owner: (variants,) cluster of each, from 0.
        method: One of ``METHODS``.
        resamples: How many in all.
        seed: Of all that is drawn.
        room: Scores that are looked at together, about; the resamples do not depend on it.
    """
    clusters, attempts = Uniforms(seed, CLUSTERS), Uniforms(seed, ATTEMPTS)
    members = _members(owner)
    packed = _packed(table)
    step = max(1, room // max(table.size, members.size * table.shape[1]))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        if method == "cluster":
            drawn = clusters.below(len(members), (size, len(members)))
            yield table, np.take(_counted(drawn, len(members)), owner, axis=1)
            continue
        if method == "two-level":
            drawn = clusters.below(len(members), (size, len(members)))
            rows = members[drawn].reshape(size, -1)
        else:
            rows = np.broadcast_to(np.arange(len(table)), (size, len(table)))
        yield _attempts(packed, rows, attempts), (rows >= 0).astype(np.int64)


def left_out(table: Floats, owner: Counts, room: int = ROOM) -> Iterator[tuple[Floats, Counts]]:
    """Yield what is there without each cluster in turn, some at a time, as kernels take it."""
    number = int(owner.max()) + 1
    step = max(1, room // table.size)
    for start in range(0, number, step):
        without = np.arange(start, min(start + step, number))
        yield table, (owner != without[:, None]).astype(np.int64)


def _counted(drawn: Counts, count: int) -> Counts:
    """Return how often each number was drawn: (resamples, draws) -> (resamples, count)."""
    places = drawn + count * np.arange(len(drawn))[:, None]
    return np.bincount(places.ravel(), minlength=count * len(drawn)).reshape(len(drawn), count)


def _members(owner: Counts) -> Counts:
    """Return the variants of each cluster, (clusters, most variants), the rest -1."""
    sizes = np.bincount(owner)
    members = np.full((len(sizes), sizes.max()), -1, dtype=np.int64)
    order = np.argsort(owner, kind="stable")
    place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    members[owner[order], place] = order
    return members


def _packed(table: Floats) -> Floats:
    """Return the attempts of each variant with those that count in front."""
    order = np.argsort(np.isnan(table), axis=1, kind="stable")
    return np.take_along_axis(table, order, 1)


def _attempts(packed: Floats, rows: Counts, uniforms: Uniforms) -> Floats:
    """Return as many attempts of each variant as counted, drawn from them: (resamples, variants, attempts)."""
    counted = np.isfinite(packed).sum(1)[rows][..., None]
    place = uniforms.below(counted, (*rows.shape, packed.shape[1]))
    drawn = packed[rows[..., None], place]
    drawn[np.arange(packed.shape[1]) >= counted] = np.nan
    return drawn
