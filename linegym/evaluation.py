"""Evaluation: splits, measures and policies of the line, as ``rolf eval`` and ``rolf board`` want them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import fsum
from typing import TYPE_CHECKING

from linegym import splits as sets
from linegym import variants as lines
from linegym.catalogue import PURPOSES
from linegym.contestants import POLICIES
from linegym.errors import ArgumentError, did_you_mean
from linegym.labels import labels
from linegym.plant import HORIZON
from linegym.scores import BASELINES_SHA256, score
from linegym.tables import TABLES_SHA256
from linegym.tally import KEY
from rolf.evaluation.episode import Ending, Measured, Run
from rolf.evaluation.evaluable import SplitEntry
from rolf.evaluation.policy import PolicyEntry
from rolf.variant import Split, Variant, digest

if TYPE_CHECKING:
    from linegym.policies.policy import Policy

ENV_ID = "linegym:LineEnv-v1"
VERSION = "line-v1"
"""Of the benchmark; what the names of splits begin with."""
WRAPPERS = ({"name": "TellShift", "entry_point": "linegym.shift:TellShift", "kwargs": {}},)
"""Without which the last step would not tell what is measured."""
SPLITS = {
    "train": 7000,
    "validation": 350,
    "fit": 6650,
    "held-out": 3245,
    "unseen-template": 1245,
    "extrapolation": 1800,
    "iid": 200,
    "all": 10245,
    "combination": 2732,
    "clean": 683,
    "sweep": 1826,
}
"""Variants in each, so that to list them takes no time."""
TRAINING = ("train", "fit")
"""Splits that are there to be trained on."""
ATTEMPTS, MOST_EPISODES = 5, 3_500
"""Attempts a variant; one alone where five would be more episodes than this. More variants say more than attempts."""
FREE = ("action", "observation")
"""Arguments of the environment that change nothing of what a return is worth."""
COUNTS = ("output", "scrap", "faults", "faults_due", "closed", "closed_due", "wrong", "late")
"""What is measured by the plant itself; the rest is ``linegym.tally.COUNTED``."""


def splits() -> Sequence[SplitEntry]:
    """See ``rolf.evaluation.evaluable.Evaluable.splits``."""
    return [
        SplitEntry(f"{VERSION}/{name}", count, attempts(name), PURPOSES[name], training=name in TRAINING)
        for name, count in SPLITS.items()
    ]


@cache
def split(name: str) -> Split:
    """See ``rolf.evaluation.evaluable.Evaluable.split``."""
    version, _, short = name.partition("/")
    if version != VERSION or short not in SPLITS:
        known = [f"{VERSION}/{each}" for each in SPLITS]
        hint = did_you_mean(f"{VERSION}/{name.rpartition('/')[2]}", known)
        raise LookupError(f"no split is named {name!r}{hint}; splits are {', '.join(known)}")
    members = sets.named(short)
    return Split(
        name,
        tuple(entry(variant) for variant in members),
        tuple(labels(variant) for variant in members),
        attempts(short),
        {"horizon [ticks]": HORIZON, "ticks_per_step": 1, "action": "flat", "observation": "flat"},
        digest({"lines": [each.digest for each in members], "tables": TABLES_SHA256, "baselines": BASELINES_SHA256}),
    )


def attempts(name: str) -> int:
    """Return how often each variant of a set is wanted played."""
    return ATTEMPTS if ATTEMPTS * SPLITS[name] <= MOST_EPISODES else 1


def entry(variant: lines.Variant) -> Variant:
    """Return a line as anybody can make it."""
    return Variant(ENV_ID, {"variant": variant.id, "evaluation": True}, 0, WRAPPERS, variant.id)


def line(variant: Variant) -> lines.Variant:
    """Return the line that is meant.

    Raises:
        ArgumentError: it is none that can be judged.
        VariantError: there is no such line.
    """
    given = {name: value for name, value in variant.kwargs.items() if name not in FREE}
    name = given.pop("variant", None)
    if variant.env_id != ENV_ID or not isinstance(name, str) or given != {"evaluation": True}:
        raise ArgumentError(
            f"{variant.env_id} with {dict(variant.kwargs)!r} cannot be judged: baselines are known of whole shifts in "
            f"the evaluation namespace; give {ENV_ID} with a variant's id, 'evaluation': True, and at most "
            f"{' and '.join(FREE)} besides"
        )
    return lines.variant(name)


def policies() -> Mapping[str, PolicyEntry]:
    """See ``rolf.evaluation.evaluable.Evaluable.policies``."""
    return {
        name: PolicyEntry(name, f"linegym.contestants:{maker}", summary, privileged, deterministic=True)
        for name, maker, summary, privileged in POLICIES
    }


def measure(variant: Variant, ending: Ending) -> Measured:
    """See ``rolf.evaluation.evaluable.Evaluable.measure``.

    The score is ``linegym.scores.score`` of the return: 0 for acting at random, 1 for the oracle, both on the same
    variant; less and more are possible. Every measure is a number of the whole shift, so that shares are to be taken
    of sums over episodes: precision of the claims is ``claims_right / claims``, the mean of a phase its ticks by
    ``orders``, but of *identify*, which is known of orders closed rightly alone, by ``closed``.

    Raises:
        ArgumentError: the variant cannot be judged, or the shift has not ended.
    """
    if KEY not in ending.info:
        raise ArgumentError(
            f"{variant.name or variant.kwargs!r}: the last step tells no {KEY!r} after {len(ending.rewards)} steps; "
            f"a shift is judged at its end, after {HORIZON}, and with the wrapper {WRAPPERS[0]['entry_point']}"
        )
    counted = {name: ending.info[name] for name in COUNTS} | dict(ending.info[KEY])
    return Measured(
        success=bool(ending.info["success"]),
        score=score(line(variant), fsum(ending.rewards)),
        measures={name: float(value) for name, value in counted.items()},
    )


def reseeded(variant: Variant, seed: int) -> Variant:
    """See ``rolf.evaluation.evaluable.Evaluable.reseeded``: the line stays, its attempts get other seeds."""
    return replace(variant, seed=seed)


def play(player: Policy, variants: Sequence[Variant], seeds: Sequence[int]) -> Sequence[Run]:
    """See ``rolf.evaluation.evaluable.Batched.play``.

    Raises:
        ArgumentError: a variant cannot be played in a batch; the policy wants to know what it may not.
    """
    from linegym.contest import compete

    return list(compete(player, [_plain(variant) for variant in variants], seeds).runs())


def attributed(player: Policy, variants: Sequence[Variant], seeds: Sequence[int]) -> Iterator[Mapping[str, float]]:
    """See ``rolf.evaluation.evaluable.Attributable.attributed`` and ``linegym.harm``."""
    from linegym.harm import harms

    yield from harms(player, [_plain(variant) for variant in variants], seeds)


def _plain(variant: Variant) -> lines.Variant:
    """Return the line of a variant that is as the splits have them."""
    found = line(variant)
    if variant.wrappers != WRAPPERS or variant.kwargs.keys() & FREE:
        raise ArgumentError(
            f"{variant.name or found.id} is played through other spaces or wrappers than those of {VERSION}, so not in "
            "a batch; give a policy that plays alone: act(observation, info)"
        )
    return found
