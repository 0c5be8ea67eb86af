"""What is done to a production line, and what disturbs it: for ``LineEnv-v1`` and its variants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from hypothesis import strategies as st

FAMILIES = ("sensor", "network", "load")
"""What can be disturbed, in the order of a variant's id."""
LEVELS = range(8)
"""Intensities: 0 everyday, 1 to 5 the benchmark, 6 and 7 beyond."""
TEMPLATE = "serial/thermocouple/profinet/bearing"
LEGAL_IN_TEN = 9
"""Of ten actions, those that the mask allows."""


class _Verb(NamedTuple):
    """One kind of command; the table in LineEnv's docstring, Action Space."""

    first: int
    """Its first flat action."""
    stations: int
    arguments: int
    by_argument: bool
    """Whether the station runs fastest in the numbers."""


VERBS = (
    _Verb(0, 1, 1, False),  # do nothing
    _Verb(1, 24, 3, False),  # inspect a channel
    _Verb(73, 24, 10, False),  # diagnose
    _Verb(313, 1, 16, False),  # order a part
    _Verb(329, 24, 6, True),  # dispatch a technician
    _Verb(473, 24, 1, False),  # close a work order
    _Verb(497, 24, 2, False),  # resume, throttle
)
COUNT = 545


def line_actions(space: spaces.Space[Any] | None = None, mask: Any = None) -> st.SearchStrategy[Any]:
    """Return actions of ``LineEnv-v1``: each verb as often as another, nine in ten possible if a mask says what is.

    Drawn evenly from the 545, almost half would be diagnoses and not one in twenty would close a work order. It
    shrinks to 0, to do nothing.

    Args:
        space: The environment's action space: ``Discrete(545)`` (so it is if None) or ``MultiDiscrete([7, 24, 16])``.
        mask: ``info["action_mask"]``, which speaks of the 545.

    Raises:
        ValueError: the space is not that of ``LineEnv-v1``, or the mask not of 545.

    Example::

        @given(st.data())
        def test_output_never_shrinks(data):
            _, info = env.reset(seed=0)
            for _ in range(50):
                before = info["output"]
                *_, info = env.step(data.draw(line_actions(env.action_space, info["action_mask"])))
                assert info["output"] >= before
    """
    _must_be_the_line(space)
    flat = _flat_actions(_possible(mask))
    return flat.map(_command) if isinstance(space, spaces.MultiDiscrete) else flat


def _must_be_the_line(space: spaces.Space[Any] | None) -> None:
    match space:
        case None:
            return
        case spaces.Discrete() if int(space.n) == COUNT and int(space.start) == 0:
            return
        case spaces.MultiDiscrete() if list(space.nvec) == [len(VERBS), 24, 16]:
            return
    raise ValueError(
        f"{space} is not the action space of LineEnv-v1; give Discrete({COUNT}) or MultiDiscrete([7, 24, 16]), or use "
        "rolf.strategies.actions for any other"
    )


def _possible(mask: Any) -> np.ndarray[Any, Any]:
    """Return a flag for each of the 545."""
    if mask is None:
        return np.ones(COUNT, np.bool_)
    flags = np.asarray(mask)
    if flags.shape != (COUNT,):
        raise ValueError(
            f"a mask of shape {flags.shape} is not that of LineEnv-v1; give info['action_mask'], ({COUNT},)"
        )
    return flags.astype(np.bool_)


def _flat_actions(possible: np.ndarray[Any, Any]) -> st.SearchStrategy[int]:
    everything = [range(verb.first, verb.first + verb.stations * verb.arguments) for verb in VERBS]
    legal = [[number for number in numbers if possible[number]] for numbers in everything]
    groups: list[st.SearchStrategy[int]] = [st.sampled_from(numbers) for numbers in legal if numbers]
    anything = st.one_of([st.sampled_from(numbers) for numbers in everything])
    if not groups:
        return anything
    mostly = st.one_of(groups)
    return st.integers(0, 9).flatmap(lambda tenth: mostly if tenth < LEGAL_IN_TEN else anything)


def _command(flat: int) -> np.ndarray[Any, Any]:
    """Return a flat action as verb, station and argument."""
    number = max(index for index, verb in enumerate(VERBS) if verb.first <= flat)
    verb, offset = VERBS[number], flat - VERBS[number].first
    if verb.by_argument:
        argument, station = divmod(offset, verb.stations)
    else:
        station, argument = divmod(offset, verb.arguments)
    return np.array([number, station, argument], np.int64)


def perturbations(
    ranges: Mapping[str, Mapping[str, tuple[float, float]]] | None = None, *, levels: Sequence[int] = LEVELS
) -> st.SearchStrategy[dict[str, Any]]:
    """Return how much each family of disturbances does, as plain data.

    It shrinks to the first level, or to the lowest parameters.

    Args:
        ranges: Of each family that is drawn, its parameters with the least and the greatest value; None: intensities.
            Bounds that are both whole numbers give whole numbers.
        levels: The intensities, where those are drawn.

    Raises:
        ValueError: there are no levels, or the bounds of a parameter are the wrong way round.

    Example::

        perturbations()                                         # {"sensor": 3, "network": 0, "load": 5}
        perturbations({"sensor": {"noise": (0.0, 8.0)}})        # {"sensor": {"noise": 2.5}}
    """
    if ranges is None:
        return st.fixed_dictionaries(dict.fromkeys(FAMILIES, st.sampled_from(_levels(levels))))
    return st.fixed_dictionaries(
        {
            family: st.fixed_dictionaries({name: _within(f"{family}.{name}", *ends) for name, ends in each.items()})
            for family, each in ranges.items()
        }
    )


def _within(name: str, low: float, high: float) -> st.SearchStrategy[float]:
    if not low <= high:
        raise ValueError(f"{name} from {low!r} to {high!r} holds nothing; give (least, greatest)")
    if isinstance(low, int) and isinstance(high, int):
        return st.integers(low, high)
    return st.floats(low, high)


def _levels(levels: Iterable[int]) -> list[int]:
    given = list(levels)
    if not given or not set(given) <= set(LEVELS):
        raise ValueError(f"levels={levels!r} are no intensities; give some of {LEVELS.start} to {LEVELS.stop - 1}")
    return given


def line_variants(templates: Sequence[str] = (TEMPLATE,), *, levels: Sequence[int] = LEVELS) -> st.SearchStrategy[str]:
    """Return ids of variants of ``LineEnv-v1``: a template, with none to three families above the everyday level.

    It shrinks to the first template alone.

    Args:
        templates: Names of templates.
        levels: The intensities.

    Raises:
        ValueError: there are no templates, or no levels.

    Example::

        @given(line_variants(levels=range(1, 6)), seeds())
        def test_parts_do_not_vanish(variant, seed):
            env.reset(seed=seed, options={"variant": variant})
    """
    if not templates:
        raise ValueError("line_variants needs a template; leave the argument out, or give names of templates")

    def told(drawn: tuple[str, Mapping[str, int]]) -> str:
        # In the order of an id, whatever order they were drawn in.
        return "+".join([drawn[0], *(f"{family}:{drawn[1][family]}" for family in FAMILIES if drawn[1][family])])

    return st.tuples(st.sampled_from(list(templates)), perturbations(levels=levels)).map(told)
