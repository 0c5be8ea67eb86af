"""Chances: success in several attempts at one variant.

Both estimators are unbiased (Chen et al., "Evaluating large language models trained on code", 2021, eq. 1; Yao et al.,
"τ-bench", 2024): of n attempts, c of which succeeded, they count the ways to draw k. Powers of c/n are biased.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from rolf.statistics import kernels
from rolf.statistics.aggregates import once
from rolf.statistics.kernels import batched
from rolf.statistics.scores import successes


@batched(kernels.pass_at_k)
def pass_at_k(success: ArrayLike, k: int) -> float:
    """Return pass@k: the chance that at least one of k attempts at a variant succeeds, mean over variants.

        >>> round(pass_at_k([[1] * 7 + [0] * 3], k=3), 3)
        0.992

    Args:
        success: (variants, attempts) of 0 and 1, NaN where the machine failed.
        k: From 1 to the number of attempts.

    Raises:
        ValueError: a variant has fewer than k attempts that count, or it is no such table.
    """
    table = successes(success, k)
    return float(kernels.pass_at_k(table, once(table), k))


@batched(kernels.pass_hat_k)
def pass_hat_k(success: ArrayLike, k: int) -> float:
    """Return pass^k: the chance that all of k attempts at a variant succeed, mean over variants.

        >>> round(pass_hat_k([[1] * 7 + [0] * 3], k=3), 3)
        0.292

    Args:
        success: (variants, attempts) of 0 and 1, NaN where the machine failed.
        k: From 1 to the number of attempts.

    Raises:
        ValueError: a variant has fewer than k attempts that count, or it is no such table.
    """
    table = successes(success, k)
    return float(kernels.pass_hat_k(table, once(table), k))
