"""Tasks by name: ``family``, ``family/cause`` or ``family/cause@seed``."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import lru_cache

from termgym.errors import UnknownTask
from termgym.tasks.families import FAMILIES
from termgym.tasks.family import Family
from termgym.tasks.task import Task
from termgym.tasks.world import generator

_BY_NAME: Mapping[str, Family] = {family.name: family for family in FAMILIES}


def families() -> tuple[str, ...]:
    """Return the names of all families, sorted."""
    return tuple(sorted(_BY_NAME))


def causes(family: str) -> tuple[str, ...]:
    """Return the causes of a family, in the order of its file.

    Raises:
        UnknownTask: there is no such family.
    """
    return tuple(_family(family).causes)


def summary(family: str) -> str:
    """Return a family's symptom in one line.

    Raises:
        UnknownTask: there is no such family.
    """
    return _family(family).summary


def blank() -> Task:
    """Return the task without a goal: a free shell in an empty home."""
    return Task(id="blank", instruction="", family="blank")


def make_task(name: str, seed: int = 0) -> Task:
    """Return the task of this name; equal arguments give an equal task, on any machine.

    Args:
        name: ``family`` (the seed chooses the cause), ``family/cause``, or ``family/cause@seed`` (then ``seed`` is
            not looked at), or ``blank``.
        seed: the world seed: names, contents, numbers, clutter. Zero or more.

    Raises:
        UnknownTask: there is no such family or cause; says which are near.
        ValueError: the seed is not a whole number of zero or more.
    """
    base, at, written = name.partition("@")
    seed = _seed(written if at else seed, name)
    if base == "blank":
        return blank()
    family_name, slash, cause = base.partition("/")
    family = _family(family_name)
    if not slash:
        cause = generator("cause", family.name, seed).choice(list(family.causes))
    elif cause not in family.causes:
        raise UnknownTask(
            f"no cause {cause!r} in task family {family.name!r}. {_nearest(cause, family.causes)}"
            f"It has {', '.join(family.causes)}; leave '/{cause}' out to let the seed choose"
        )
    return _made(family.name, cause, seed)


@lru_cache(maxsize=64)
def _made(name: str, cause: str, seed: int) -> Task:
    """Return the task; kept, because a training run that stays in one world asks for it at each reset."""
    return _BY_NAME[name].make(cause, seed)


def _family(name: str) -> Family:
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UnknownTask(
            f"no task family {name!r}. {_nearest(name, _BY_NAME)}There are {', '.join(families())}, and blank; "
            "list them with termgym.tasks.families() or `rolf list`"
        ) from None


def _nearest(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name, list(known), n=2)
    return f"Did you mean {' or '.join(repr(word) for word in near)}? " if near else ""


def _seed(seed: object, name: str) -> int:
    if isinstance(seed, str) and seed.isascii() and seed.isdigit():
        return int(seed)
    if isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0:
        return seed
    raise ValueError(
        f"seed {seed!r} of task {name!r} is not a whole number of zero or more; write 'family/cause@7' or seed=7"
    )
