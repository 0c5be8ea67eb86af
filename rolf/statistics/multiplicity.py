"""Multiplicity: who compares many times finds something by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rolf.statistics.scores import Floats


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values for all comparisons together: those below 0.05 hold at once, with a risk of 5 % for all.

    Holm, "A simple sequentially rejective multiple test procedure", 1979: valid however the comparisons depend on each
    other, and never weaker than Bonferroni's.

        >>> holm([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]

    Args:
        p_values: One a comparison.

    Raises:
        ValueError: they are no list of numbers from 0 to 1.
    """
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError(f"p-values {p_values!r:.80}: give a list of numbers from 0 to 1")
    order = np.argsort(values, kind="stable")
    raised = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
