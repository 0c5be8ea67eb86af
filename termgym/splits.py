"""Splits: what of the terminal's tasks is for training, what is held out, and why.

All choices are by SHA-256 of names, so nobody could prefer anything, and every list comes in the order of such a hash:
its beginning is a sample of it.

* ``train``: all causes but those below, in worlds 0 to 19. Training may as well draw its worlds itself, all that
  ``reset`` draws: none of them is in another set.
* ``unseen-family``: a quarter of the families, with all their causes. Does it work on a symptom never seen?
* ``unseen-cause``: of each other family with three causes or more, one. Does it tell a cause from those that it knows?
* ``unseen-world``: the causes of ``train`` in worlds never seen. Does it work with other names, numbers and clutter?
* ``validation``: the same in yet other worlds, for the choice of models; the three above are looked at once.

Which cause is in which part stands in ``data/splits.csv``, with a digest of what the tasks are: a family that changes
afterwards is another benchmark, and a test says so.

    gym.make("termgym:TermEnv-v1", tasks=termgym.splits.causes("train"))         # any of their worlds
    gym.make("termgym:TermEnv-v1", tasks=termgym.splits.named("unseen-cause"))   # these tasks, drawn by the seed
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from termgym.errors import UnknownTask
from termgym.tasks.digest import combined, task_digest
from termgym.tasks.registry import make_task

VERSION = "term-v1"
UNSEEN_SHARE = 4
"""One family of so many is held out."""
LEFT = 2
"""Causes that a family keeps for training at least: there must be something to tell apart."""
HELD_OUT = 1 << 31
"""First world that ``reset`` never draws (``termgym.assignment.WORLD_SEEDS``)."""
WORLDS = 10
"""Worlds of each cause in a set that is held out."""
SETS: Mapping[str, tuple[str, range]] = {
    "train": ("train", range(20)),
    "validation": ("train", range(HELD_OUT + WORLDS, HELD_OUT + 2 * WORLDS)),
    "unseen-family": ("unseen-family", range(HELD_OUT, HELD_OUT + WORLDS)),
    "unseen-cause": ("unseen-cause", range(HELD_OUT, HELD_OUT + WORLDS)),
    "unseen-world": ("train", range(HELD_OUT, HELD_OUT + WORLDS)),
}
"""Each set: a part of the causes, and their worlds."""


class Row(NamedTuple):
    """One cause in the file."""

    family: str
    cause: str
    part: str
    """``train``, ``unseen-family`` or ``unseen-cause``"""
    digest: str
    """Of the tasks that the cause makes in the held-out worlds."""


def _order(purpose: str, name: str) -> int:
    """Return where ``name`` comes in the order of its hash."""
    return int.from_bytes(hashlib.sha256(f"{VERSION}/{purpose}/{name}".encode()).digest()[:8], "big")


def assigned(families: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], str]:
    """Return the part of each cause: the rule behind the file.

    Args:
        families: Name -> causes.

    Returns:
        (family, cause) -> part.
    """
    ranked = sorted(families, key=lambda family: _order("family", family))
    unseen = set(ranked[: len(ranked) // UNSEEN_SHARE])
    parts = {}
    for family, causes in families.items():
        left_out = min(causes, key=lambda cause: _order("cause", f"{family}/{cause}")) if len(causes) > LEFT else None
        for cause in causes:
            held = "unseen-family" if family in unseen else "unseen-cause" if cause == left_out else "train"
            parts[family, cause] = held
    return parts


def content_digest(family: str, cause: str) -> str:
    """Return the digest of what a cause makes in the held-out worlds."""
    return combined(task_digest(make_task(f"{family}/{cause}", seed)) for seed in range(HELD_OUT, HELD_OUT + WORLDS))


@cache
def rows() -> tuple[Row, ...]:
    """Return what the file says, a row a cause."""
    text = (files("termgym.data") / "splits.csv").read_text()
    return tuple(Row(**row) for row in csv.DictReader(text.splitlines()))


@cache
def named(name: str) -> tuple[str, ...]:
    """Return the tasks of the set of that name, each as ``family/cause@seed``.

    Raises:
        UnknownTask: no set has it.
    """
    if name not in SETS:
        near = get_close_matches(name, SETS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownTask(f"no set of tasks is named {name!r}{hint}; sets are {', '.join(SETS)}")
    part, worlds = SETS[name]
    names = [f"{row.family}/{row.cause}@{seed}" for row in rows() if row.part == part for seed in worlds]
    return tuple(sorted(names, key=lambda each: _order("list", each)))


def causes(part: str) -> tuple[str, ...]:
    """Return the causes of a part, each as ``family/cause``: with it the worlds are drawn by ``reset``.

    Raises:
        UnknownTask: there is no such part; parts are ``train``, ``unseen-family`` and ``unseen-cause``.
    """
    found = tuple(f"{row.family}/{row.cause}" for row in rows() if row.part == part)
    if not found:
        parts = ", ".join(sorted({row.part for row in rows()}))
        raise UnknownTask(f"no causes are in a part named {part!r}; parts are {parts}")
    return found


def digest(name: str) -> str:
    """Return the SHA-256 of a set: its names in order, and what the file says of their causes' content.

    Raises:
        UnknownTask: no set has the name.
    """
    part, _ = SETS[name] if name in SETS else ("", range(0))
    contents = [row.digest for row in rows() if row.part == part]
    return hashlib.sha256("\n".join((*named(name), *contents)).encode()).hexdigest()
