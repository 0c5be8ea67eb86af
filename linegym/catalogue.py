"""What linegym offers to the command line: ``rolf.environments.Environment`` as a module (see pyproject.toml)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from linegym.checkup import checkup
from rolf.environments import TaskEntry, Verdict
from rolf.exhibit import Progress, Section

__all__ = ["EXAMPLE", "HEADINGS", "SUMMARY", "checkup", "demonstrate", "recognises", "tasks", "validate"]

SUMMARY = "a production line that wears out and fails"
HEADINGS = "set", "variants", "disturbed by"
EXAMPLE = 'gymnasium.make_vec("linegym:LineEnv-v1", num_envs=64, variants="train")  # make takes one, variant=ID'
"""How to make some of what ``tasks`` lists."""

NAMES = 4
"""Names in an id before its families."""

_PURPOSES = {
    "all": "the whole benchmark",
    "clean": "every template, with no more than everyday disturbance",
    "combination": "two families at once, and all three",
    "extrapolation": "held out: worse than anything in training",
    "fit": "training without validation",
    "held-out": "unseen-template, extrapolation and iid together",
    "iid": "held out: more of the same",
    "sweep": "unseen templates, each family from 0 to 7, for curves",
    "train": "for training",
    "unseen-template": "held out: lines that no training meets",
    "validation": "part of train, for the choice of models",
}


def tasks() -> Sequence[TaskEntry]:
    """Return the sets of variants, sorted by name; what may lie behind a symptom is a fault or one of the families."""
    from linegym.splits import SETS
    from linegym.variants import FAMILIES, split

    return [
        TaskEntry(name, FAMILIES if name != "clean" else (), f"{len(split(name)):,} variants: {_PURPOSES[name]}")
        for name in sorted(SETS)
    ]


def validate(names: Sequence[str], seeds: int) -> Iterator[Verdict]:
    """See ``rolf.environments.Environment.validate``; a name is a set or a variant's id."""
    from linegym.validation import validate_all

    yield from validate_all(names, seeds)


def recognises(name: str) -> bool:
    """See ``rolf.environments.Environment.recognises``: a set, or an id, whose first part has four names."""
    from linegym.splits import SETS

    return name in SETS or name.count("/") == NAMES - 1


def demonstrate(count: int, seed: int, progress: Progress) -> Iterator[Section]:
    """See ``rolf.environments.Exhibitor.demonstrate``."""
    from linegym.demonstration import demonstrate

    yield from demonstrate(count, seed, progress)
