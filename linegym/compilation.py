"""Compile the kernel at a time of your choice: ``linegym.warmup()``, ``python -m linegym warmup``."""

from __future__ import annotations

import numpy as np

from linegym.batch import PARALLEL_FROM, Batch
from linegym.errors import ArgumentError
from linegym.templates import TEMPLATES
from linegym.variants import Variant


def warmup(threads: int = 1) -> None:
    """Compile the production line and keep it, so that no step has to wait for that; quick if that is done already.

    The first step on a machine would do it anyway, for half a minute. Where to keep it: ``NUMBA_CACHE_DIR`` names a
    directory, else it is the package's own, or the user's cache where nobody may write there.

    Args:
        threads: More than 1: what steps lines on several threads as well.

    Raises:
        ArgumentError: not a whole number of threads from 1 on.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ArgumentError(f"threads is {threads!r}; it must be a whole number from 1 on")
    for rows, used in ((1, 1), (PARALLEL_FROM, threads)) if threads > 1 else ((1, 1),):
        batch = Batch([Variant(TEMPLATES[0])] * rows, horizon=1, threads=used)
        batch.reset(np.zeros(rows, np.uint64))
        batch.step(np.zeros((rows, 1, 3), np.int32))
        batch.restore(0, batch.save(0))
