"""Evaluation: what ``rolf eval`` and ``rolf board`` ask of the terminal: its splits, and what an ending is worth.

A variant pins a task's world, ``family/cause@seed``, so every attempt at it meets the same files and programs: attempts
differ by what the policy draws. The clusters of a split are causes: ten worlds of one cause resemble each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from termgym import splits as sets
from termgym.errors import UnknownTask

if TYPE_CHECKING:
    from rolf.evaluation.episode import Ending, Measured
    from rolf.evaluation.evaluable import SplitEntry
    from rolf.variant import Labels, Split, Variant

ENV_ID = "termgym:TermEnv-v1"
PREFIX = f"{sets.VERSION}/"
ATTEMPTS = 5
"""Fewer say nothing of how reliable a policy is; one that is deterministic needs one."""
INTERFACE = "unseen-interface"
"""The tasks of ``unseen-world``, one for one, through an interface that no training has shown."""
PRIVATE = 1 << 40
"""First world of private splits: beyond those of every public set, and below what JSON readers round."""
_PURPOSES = {
    "train": "for training",
    "validation": "training's causes in worlds of their own, for the choice of models",
    "unseen-family": "held out: symptoms that no training shows",
    "unseen-cause": "held out: known symptoms, causes that no training shows",
    "unseen-world": "held out: known causes, other names, numbers and clutter",
    INTERFACE: "held out: the tasks of unseen-world, asked and answered in unseen ways",
}


def splits() -> Sequence[SplitEntry]:
    """See ``rolf.evaluation.evaluable.Evaluable.splits``."""
    from rolf.evaluation.evaluable import SplitEntry

    def count(name: str) -> int:
        return len(sets.named(_tasks_of(name)))

    return [
        SplitEntry(f"{PREFIX}{name}", count(name), ATTEMPTS, about, training=name == "train")
        for name, about in _PURPOSES.items()
    ]


def split(name: str) -> Split:
    """See ``rolf.evaluation.evaluable.Evaluable.split``.

    Raises:
        UnknownTask: there is none of that name; the message suggests the nearest.
    """
    from rolf.variant import Split

    short = name.removeprefix(PREFIX)
    if short not in _PURPOSES:
        near = get_close_matches(short, _PURPOSES, n=1)
        hint = f"; did you mean {PREFIX + near[0]!r}?" if near else ""
        known = ", ".join(f"{PREFIX}{each}" for each in _PURPOSES)
        raise UnknownTask(f"no split is named {name!r}{hint}; splits are {known}")
    tasks = sets.named(_tasks_of(short))
    content = sets.digest(_tasks_of(short))
    if short != INTERFACE:
        return Split(PREFIX + short, *_plain(tasks), ATTEMPTS, limits(), content, pinned=True)
    from termgym.unseen import interface_digest, through_unseen

    variants, labels = through_unseen(*_plain(tasks))
    content = hashlib.sha256(f"{content}\n{interface_digest()}".encode()).hexdigest()
    return Split(PREFIX + short, variants, labels, ATTEMPTS, limits(), content, pinned=True)


def _tasks_of(name: str) -> str:
    return "unseen-world" if name == INTERFACE else name


def _plain(tasks: Sequence[str]) -> tuple[tuple[Variant, ...], tuple[Labels, ...]]:
    """Return tasks as variants with their labels."""
    from rolf.variant import Labels, Variant

    variants = tuple(Variant(ENV_ID, {"task": task}, name=task) for task in tasks)
    causes = [task.partition("@")[0] for task in tasks]
    return variants, tuple(Labels(cause, cause.partition("/")[0]) for cause in causes)


def limits() -> Mapping[str, Any]:
    """Return what an episode may use unless its task says otherwise; what a task says is in the content's digest."""
    from termgym.options import Options
    from termgym.tasks.task import Limits, Task

    defaults = {each.name: each.default for each in fields(Task)}
    options = {name: getattr(Options(), name) for name in ("check_goal", "output_limit", "network", "clock", "reward")}
    task = {each.name: getattr(Limits(), each.name) for each in fields(Limits)}
    return {"max_steps": defaults["max_steps"], **options, **task}


def measure(variant: Variant, ending: Ending) -> Measured:  # noqa: ARG001 - the task is in the info
    """See ``rolf.evaluation.evaluable.Evaluable.measure``: success, or what a verifier grants."""
    from rolf.evaluation.episode import Measured

    info = ending.info
    counts = {"changed": float(len(info.get("diff", ()))), "drift": float(len(info.get("drift", ())))}
    if info.get("failure_kind") is not None:
        return Measured(False, 0.0, counts, fault=str(info["failure_kind"]))
    success = bool(info.get("success", False))
    granted = info.get("verifier", {}).get("reward")
    return Measured(success, float(success) if granted is None else float(granted), counts)


def bounds(variant: Variant) -> tuple[float, float] | None:
    """See ``rolf.evaluation.evaluable.Bounded.bounds``: solved or not; but a folder's verifier grants what it likes."""
    from termgym.tasks import families

    family = str(variant.kwargs.get("task")).partition("@")[0].partition("/")[0]
    return (0.0, 1.0) if family in families() else None


def reseeded(variant: Variant, seed: int) -> Variant:
    """See ``rolf.evaluation.evaluable.Evaluable.reseeded``: the same cause in another world."""
    from dataclasses import replace

    cause = str(variant.kwargs["task"]).partition("@")[0]
    task = f"{cause}@{PRIVATE + seed % PRIVATE}"
    return replace(variant, kwargs={**variant.kwargs, "task": task}, name=task)
