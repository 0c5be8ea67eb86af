"""What linegym offers to the command line: ``rolf.environments.Environment`` as a module (see pyproject.toml)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linegym.checkup import checkup
from rolf.environments import TaskEntry, Verdict
from rolf.exhibit import Progress, Section

if TYPE_CHECKING:
    from rolf.evaluation.episode import Ending, Measured, Run
    from rolf.evaluation.evaluable import SplitEntry
    from rolf.evaluation.narration import Narration
    from rolf.evaluation.policy import PolicyEntry
    from rolf.variant import Split, Variant

__all__ = [
    "BLOCK",
    "CHOICES",
    "EXAMPLE",
    "HEADINGS",
    "HIDDEN",
    "SUMMARY",
    "attributed",
    "checkup",
    "demonstrate",
    "measure",
    "narrate",
    "play",
    "plays",
    "policies",
    "recognises",
    "reseeded",
    "split",
    "splits",
    "tasks",
    "validate",
]

SUMMARY = "a production line that wears out and fails"
HEADINGS = "set", "variants", "disturbed by"
EXAMPLE = 'gymnasium.make_vec("linegym:LineEnv-v1", num_envs=64, variants="train")  # make takes one, variant=ID'
"""How to make some of what ``tasks`` lists."""

HIDDEN = (
    "closed",
    "closed_due",
    "closed_right",
    "faults",
    "faults_due",
    "identify",
    "intensities",
    "late",
    "seed",
    "success",
    "true_faults",
    "variant_id",
    "wrong",
)
"""What ``info`` tells that nobody on the floor could know: what is true, how far it was met, and by which seed and
perturbations it can be looked up. The template, the masks, output and orders stay."""
BLOCK = 250
"""Episodes that are played together: enough to share the cost of a call; a thousand are work for four processes."""
CHOICES: Mapping[str, Callable[[object], bool]] = {
    "variant": lambda value: isinstance(value, str),
    "evaluation": lambda value: isinstance(value, bool),
}
"""See ``rolf.evaluation.evaluable.Choosable``."""
NAMES = 4
"""Names in an id before its families."""

PURPOSES = {
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
"""What each set is for."""


def tasks() -> Sequence[TaskEntry]:
    """Return the sets of variants, sorted by name; what may lie behind a symptom is a fault or one of the families."""
    from linegym.splits import SETS
    from linegym.variants import FAMILIES, split

    return [
        TaskEntry(name, FAMILIES if name != "clean" else (), f"{len(split(name)):,} variants: {PURPOSES[name]}")
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


# ---- evaluation: rolf.evaluation.evaluable, behind imports that take a second


def splits() -> Sequence[SplitEntry]:
    """See ``rolf.evaluation.evaluable.Evaluable.splits``."""
    from linegym import evaluation

    return evaluation.splits()


def split(name: str) -> Split:
    """See ``rolf.evaluation.evaluable.Evaluable.split``."""
    from linegym import evaluation

    return evaluation.split(name)


def policies() -> Mapping[str, PolicyEntry]:
    """See ``rolf.evaluation.evaluable.Evaluable.policies``."""
    from linegym import evaluation

    return evaluation.policies()


def measure(variant: Variant, ending: Ending) -> Measured:
    """See ``rolf.evaluation.evaluable.Evaluable.measure``, and ``linegym.evaluation.measure`` for what is measured."""
    from linegym import evaluation

    return evaluation.measure(variant, ending)


def reseeded(variant: Variant, seed: int) -> Variant:
    """See ``rolf.evaluation.evaluable.Evaluable.reseeded``."""
    from linegym import evaluation

    return evaluation.reseeded(variant, seed)


def plays(player: object) -> bool:
    """See ``rolf.evaluation.evaluable.Batched.plays``: those do that say, as ``linegym.policies`` do, if they are
    ``truthful``."""
    return all(hasattr(player, name) for name in ("begin", "act", "truthful"))


def play(player: Any, variants: Sequence[Variant], seeds: Sequence[int]) -> Sequence[Run]:
    """See ``rolf.evaluation.evaluable.Batched.play``."""
    from linegym import evaluation

    return evaluation.play(player, variants, seeds)


def attributed(player: Any, variants: Sequence[Variant], seeds: Sequence[int]) -> Iterator[Mapping[str, float]]:
    """See ``rolf.evaluation.evaluable.Attributable.attributed``."""
    from linegym import evaluation

    yield from evaluation.attributed(player, variants, seeds)


def narrate(variant: Variant, seed: int, actions: Sequence[Any]) -> Narration:
    """See ``rolf.evaluation.narration.Narrator``."""
    from linegym import narration

    return narration.narrate(variant, seed, actions)
