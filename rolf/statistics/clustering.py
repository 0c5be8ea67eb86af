"""Clustering: how much variants of one cluster resemble each other, and what they are therefore worth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rolf.statistics.intervals import Labels
from rolf.statistics.kernels import row_means
from rolf.statistics.scores import Counts, Floats, checked, grouped


class Effective(NamedTuple):
    """What clustered variants are worth."""

    correlation: float
    """Of two variants of one cluster; 0: they resemble each other no more than any two."""
    design_effect: float
    """1 + (m - 1) * correlation, m the size of a cluster: how many times the variance of as many unrelated variants."""
    variants: float
    """As many unrelated ones would tell as much."""


def intraclass_correlation(scores: ArrayLike, clusters: Labels = None) -> float:
    """Return the correlation of two scores from one group, by analysis of variance.

    Without clusters it is that of two attempts at one variant: 1 where every attempt at a variant scores the same. With
    clusters it is that of the means of two variants of one cluster. By chance it may come out below 0.

    Args:
        scores: (variants, attempts), NaN where the machine failed.
        clusters: One label a variant.

    Raises:
        ValueError: there is a single group, no group has two members, or it is no such table.
    """
    table = checked(scores)
    if clusters is None:
        finite = np.isfinite(table)
        return _correlation(table[finite], np.nonzero(finite)[0])
    return _correlation(row_means(table), grouped(clusters, len(table)))


def effective_variants(scores: ArrayLike, clusters: Labels) -> Effective:
    """Return what clustered variants are worth, beside as many unrelated ones.

    Args:
        scores: (variants, attempts), NaN where the machine failed.
        clusters: One label a variant.

    Raises:
        ValueError: there is a single cluster, no cluster has two variants, or it is no such table.
    """
    table = checked(scores)
    owner = grouped(clusters, len(table))
    correlation = _correlation(row_means(table), owner)
    sizes = np.bincount(owner)
    size = float((sizes**2).sum() / sizes.sum())
    effect = max(1.0, 1.0 + (size - 1.0) * correlation)
    return Effective(correlation, effect, len(table) / effect)


def _correlation(values: Floats, owner: Counts) -> float:
    """Return the correlation within groups: values (n,), the group of each (n,), numbered from 0.

    One-way analysis of variance for groups of unequal size: Donner, "A review of inference procedures for the
    intraclass correlation coefficient in the one-way random effects model", 1986.
    """
    sizes = np.bincount(owner)
    groups, count = len(sizes), len(values)
    if groups < 2 or count == groups:
        raise ValueError(
            f"{count} scores in {groups} groups; a correlation takes two groups, one of them with two members"
        )
    means = np.bincount(owner, weights=values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum()) / (groups - 1)
    within = float(((values - means[owner]) ** 2).sum()) / (count - groups)
    typical = (count - float((sizes**2).sum()) / count) / (groups - 1)
    total = between + (typical - 1.0) * within
    return 0.0 if total == 0.0 else (between - within) / total
