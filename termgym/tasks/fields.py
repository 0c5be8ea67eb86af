"""Fields: is each value of a task what it must be? A mistake fails where it is written down, not in a later episode."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from termgym.checks import Check, OutputContains
from termgym.errors import TaskError
from termgym.plan import ActionPlan
from termgym.reasons import shorten
from termgym.sandbox.environment import WRITABLE_ROOTS

KINDS = ("file", "dir", "symlink")
CHECKS: tuple[type, ...] = get_args(get_args(Check)[0])
ROOTS = tuple(f"/{root}/" for root in WRITABLE_ROOTS)
MEANT_OCTAL = frozenset({555, 600, 640, 644, 660, 664, 666, 700, 750, 755, 770, 775, 777})
"""Decimal numbers that are somebody's octal mode with the ``0o`` forgotten; nobody wants what they are as modes."""
_EXAMPLE = '{"type": "file_exists", "path": "/home/agent/x"}'


def fault(field: str, value: object, wrong: str, advice: str) -> TaskError:
    """Return the error that says which field is wrong, what it holds, why, and what to do."""
    return TaskError(f"{field}={shorten(value)} {wrong}; {advice}")


def check_text(field: str, value: object, *, empty: bool = True) -> None:
    """Refuse what is no text, or an empty one unless it may be."""
    if not isinstance(value, str):
        raise fault(field, value, f"is of type {type(value).__name__}", "give a str")
    if not empty and not value:
        raise fault(field, value, "is empty", "give it at least one character")


def check_number(field: str, value: object, least: float, most: float | None = None, *, whole: bool = True) -> None:
    """Refuse what is no number between ``least`` and ``most``."""
    kinds, kind = ((int,), "a whole number") if whole else ((int, float), "a number")
    above = isinstance(value, kinds) and not isinstance(value, bool) and value >= least
    if not above or (most is not None and value > most):  # type: ignore[operator]  # a number, or not above
        span = f"{kind} from {least}" + ("" if most is None else f" to {most}")
        raise fault(field, value, "is not allowed", f"give {span}")


def check_mode(field: str, value: object) -> None:
    """Refuse what is no permission bits."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 0o7777 and value not in MEANT_OCTAL:
        return
    if isinstance(value, int) and value in MEANT_OCTAL:
        raise fault(field, value, f"is the decimal number for 0o{value:o}", f"did you mean 0o{value}?")
    raise fault(field, value, "is no permission bits", "give an int from 0 to 0o7777, such as 0o644")


def check_inside(field: str, value: object) -> None:
    """Refuse what is no path of the initial state; the rule is that of who lays it out."""
    check_text(field, value)
    assert isinstance(value, str)
    if not value.startswith(ROOTS) or not os.path.normpath(value).startswith(ROOTS) or "\0" in value:
        wrong = "lies outside what a task may write" if "\0" not in value else "holds a NUL"
        raise fault(field, value, wrong, f"give an absolute path under {', '.join(r.rstrip('/') for r in ROOTS)}")


def check_absolute(field: str, value: object) -> None:
    """Refuse what is no absolute path."""
    check_text(field, value)
    assert isinstance(value, str)
    if not value.startswith("/"):
        raise fault(field, value, "is not an absolute path", "let it start with '/', such as '/home/agent/x'")


def directory(field: str, value: Any) -> str:
    """Return a directory of the host as an absolute path; another process is going to read it."""
    path: str = os.fspath(value) if isinstance(value, os.PathLike) else value
    check_text(field, path, empty=False)
    if not os.path.isdir(path):
        raise fault(field, path, "is no directory on this host", "give one that is there when the task is written down")
    return os.path.abspath(path)


def row(field: str, value: Any) -> tuple[Any, ...]:
    """Return a tuple or list as a tuple, and refuse anything else: a lone element without a comma above all."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, list):
        return tuple(value)
    raise fault(
        field,
        value,
        f"is of type {type(value).__name__}",
        "give a tuple or a list; a tuple of one element has a comma: (x,)",
    )


def texts(field: str, value: Any) -> tuple[str, ...]:
    """Return texts as a tuple."""
    found = row(field, value)
    for index, each in enumerate(found):
        if type(each) is not str:
            check_text(f"{field}[{index}]", each)
    return found


def paths(field: str, value: Any) -> tuple[str, ...]:
    """Return paths of the initial state as a tuple."""
    found = texts(field, value)
    for index, each in enumerate(found):
        check_inside(f"{field}[{index}]", each)
    return found


def globs(field: str, value: Any) -> tuple[str, ...]:
    """Return globs as a tuple."""
    found = texts(field, value)
    for index, each in enumerate(found):
        if not each.startswith(("/", "**")):
            wrong = "can match no path, for all are absolute"
            raise fault(
                f"{field}[{index}]", each, wrong, f"write it in full, such as '/home/agent/{each.lstrip('~/')}'"
            )
    return found


def instances(field: str, value: Any, kind: type) -> tuple[Any, ...]:
    """Return elements of one type as a tuple."""
    found = row(field, value)
    for index, each in enumerate(found):
        if not isinstance(each, kind):
            raise fault(f"{field}[{index}]", each, f"is of type {type(each).__name__}", f"give a {kind.__name__}")
    return found


def check_kind(field: str, value: object, kind: type) -> None:
    """Refuse what is neither None nor of one type."""
    if value is not None and not isinstance(value, kind):
        raise fault(field, value, f"is of type {type(value).__name__}", f"give a {kind.__name__}, or None")


def checks(field: str, value: Any) -> tuple[Check, ...]:
    """Return checks, or mappings that say the same, as a tuple of checks."""
    found = row(field, value)
    for index, each in enumerate(found):
        if type(each) not in CHECKS:
            found = (*found[:index], _check(f"{field}[{index}]", each), *found[index + 1 :])
        if type(found[index]) is OutputContains:
            raise fault(
                f"{field}[{index}]", each, "looks at a step's output", "a goal has no step; check what is left behind"
            )
    return found


def plans(field: str, value: Any) -> tuple[ActionPlan, ...]:
    """Return plans, or texts and mappings that say the same, as a tuple of plans."""
    found = row(field, value)
    if all(type(each) is ActionPlan for each in found):
        return found
    return tuple(_plan(f"{field}[{index}]", each) for index, each in enumerate(found))


def variables(field: str, value: Any) -> dict[str, str]:
    """Return a mapping of texts as a dictionary of its own."""
    if not isinstance(value, Mapping):
        raise fault(field, value, f"is of type {type(value).__name__}", "give a mapping of name to value")
    for name, each in value.items():
        check_text(f"{field}: the name", name, empty=False)
        check_text(f"{field}[{name!r}]", each)
    return dict(value)


@cache
def _adapter() -> TypeAdapter[Check]:
    return TypeAdapter(Check)


def _check(field: str, value: object) -> Check:
    if isinstance(value, Mapping):
        try:
            return _adapter().validate_python(dict(value))
        except ValidationError as error:
            raise fault(field, value, f"is no check: {_said(error)}", f"write it like {_EXAMPLE}") from None
    names = ", ".join(kind.__name__ for kind in CHECKS if kind is not OutputContains)
    raise fault(field, value, "is no check", f"give one of termgym.checks ({names}), or a mapping like {_EXAMPLE}")


def _plan(field: str, value: object) -> ActionPlan:
    try:
        if isinstance(value, ActionPlan):
            return value
        if isinstance(value, str):
            return ActionPlan.model_validate_json(value)
        if isinstance(value, Mapping):
            return ActionPlan.model_validate(dict(value))
    except ValidationError as error:
        raise fault(field, value, f"is no plan: {_said(error)}", "write it with termgym.plan(command)") from None
    raise fault(field, value, "is no plan", "give an ActionPlan or what termgym.plan(command) returns")


def _said(error: ValidationError) -> str:
    faults: Sequence[Any] = error.errors(include_url=False)
    return "; ".join(": ".join([*(str(part) for part in each["loc"]), each["msg"]]) for each in faults[:3])
