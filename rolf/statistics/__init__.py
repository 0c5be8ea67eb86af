"""Statistics of scores: what a figure means for new variants, and what a difference is worth. NumPy only.

Scores are tables of floats, (variants, attempts), NaN where the machine failed. Which figure is for what:
docs/explanation/statistics.md.
"""

from rolf.statistics.aggregates import iqm, mean, median, optimality_gap
from rolf.statistics.chances import pass_at_k, pass_hat_k
from rolf.statistics.clustering import Effective, effective_variants, intraclass_correlation
from rolf.statistics.improvement import improvement_interval, probability_of_improvement
from rolf.statistics.intervals import Interval, interval
from rolf.statistics.multiplicity import holm
from rolf.statistics.paired import Difference, paired_difference
from rolf.statistics.power import minimum_detectable_difference, variants_needed
from rolf.statistics.profiles import Band, performance_profile, profile_band
from rolf.statistics.scores import observed

__all__ = [
    "Band",
    "Difference",
    "Effective",
    "Interval",
    "effective_variants",
    "holm",
    "improvement_interval",
    "interval",
    "intraclass_correlation",
    "iqm",
    "mean",
    "median",
    "minimum_detectable_difference",
    "observed",
    "optimality_gap",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "performance_profile",
    "probability_of_improvement",
    "profile_band",
    "variants_needed",
]
