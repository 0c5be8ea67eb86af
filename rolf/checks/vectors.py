"""Vectors: the vector form of an environment, by whichever way it is made."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import gymnasium
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv

from rolf.checks.errors import NotApplicable
from rolf.checks.subject import Code, Registered, Subject, arguments_code

MODES = ("native", "sync", "async")
"""The environment's own vector form; Gymnasium's in this process; Gymnasium's with a process a row."""


class Vector(NamedTuple):
    """A vector environment, and how it was made."""

    env: VectorEnv[Any, Any, Any]
    code: Code


def modes(subject: Subject, wanted: str | None) -> tuple[str, ...]:
    """Return the modes in which a subject may be compared, the one that says most first.

    Raises:
        ValueError: there is no such mode.
        NotApplicable: the subject has no vector form of its own, and that is wanted.
    """
    if wanted is not None and wanted not in MODES:
        raise ValueError(f"mode={wanted!r} is not known; allowed are {', '.join(map(repr, MODES))}, or None")
    make = subject.make
    native = isinstance(make, Registered) and make.spec.vector_entry_point is not None and not make.variant.wrappers
    if wanted == "native" and not native:
        raise NotApplicable("it has no vector form of its own (vector_entry_point), or is wrapped")
    if wanted is not None:
        return (wanted,)
    return ("native", "sync") if native else ("sync",)


def vector(
    subject: Subject, single: gymnasium.Env[Any, Any], rows: int, mode: str, settings: Mapping[str, Any] | None
) -> Vector:
    """Return the vector form of a subject.

    Args:
        subject: The environment.
        single: One of it.
        rows: How many.
        mode: One of `MODES`.
        settings: What ``make_vec`` is given; None: what the single environment says in ``vector_kwargs``, or what it
            was made with itself.

    Raises:
        NotApplicable: its own form does not take these arguments.
    """
    if mode != "native":
        kind = SyncVectorEnv if mode == "sync" else AsyncVectorEnv
        expression = f"{kind.__name__}([lambda: {subject.code.expression}] * {rows})"
        imports = (*subject.code.imports, f"from gymnasium.vector import {kind.__name__}")
        return Vector(kind([subject.make] * rows), Code(imports, expression))  # type: ignore[list-item]  # single ones
    assert isinstance(subject.make, Registered)
    variant = subject.make.variant
    if settings is None:
        settings = getattr(single.unwrapped, "vector_kwargs", variant.kwargs)
    told = arguments_code(settings)
    mode = "vector_entry_point"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is looked at here
            made = gymnasium.make_vec(variant.env_id, num_envs=rows, vectorization_mode=mode, **settings)
    except TypeError as error:
        raise NotApplicable(
            f"its vector form takes other arguments: {error}; give vector_kwargs, what make_vec takes for rows like it"
        ) from error
    expression = (
        f"gymnasium.make_vec({variant.env_id!r}, num_envs={rows}, vectorization_mode={mode!r}{told.expression})"
    )
    return Vector(made, Code(("import gymnasium", *told.imports), expression))
