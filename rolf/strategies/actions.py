"""Actions: elements of any action space, those that are possible now."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

MANY = 64
"""Boxes of more elements than this are drawn as a whole, not number by number."""
LONGEST_TEXT = 64
"""[characters]"""
WIDTHS = {"float16": 16, "float32": 32, "float64": 64}


def actions(env: gymnasium.Env[Any, Any] | spaces.Space[Any], mask: Any = None) -> st.SearchStrategy[Any]:
    """Return actions of an environment, or elements of a space.

    It shrinks to the first possible action, or to zeros.

    Args:
        env: An environment, or its action space.
        mask: What is possible now, in the form that the space's own ``sample(mask)`` takes: often
            ``info["action_mask"]``. None: everything is.

    Raises:
        ValueError: the mask does not fit the space.

    Example::

        @given(st.data())
        def test_no_action_is_too_much(data):
            observation, info = env.reset(seed=0)
            env.step(data.draw(actions(env, info.get("action_mask"))))
    """
    space = env if isinstance(env, spaces.Space) else env.action_space
    match space:
        case spaces.Discrete():
            return _numbers(space, mask)
        case spaces.MultiDiscrete():
            return _rows_of_numbers(space, mask)
        case spaces.MultiBinary():
            return _bits(space, mask)
        case spaces.Box() if mask is None:
            return _box(space)
        case spaces.Tuple():
            masks = (None,) * len(space.spaces) if mask is None else _fitting(mask, len(space.spaces), space)
            return st.tuples(*map(actions, space.spaces, masks))
        case spaces.Dict():
            parts = _parts(space, mask)
            return st.fixed_dictionaries({key: actions(part, parts.get(key)) for key, part in space.spaces.items()})
        case spaces.Text() if mask is None:
            return _text(space)
        case _:
            return _sampled(space, mask)


def _numbers(space: spaces.Discrete[Any], mask: Any) -> st.SearchStrategy[int]:
    first, count = int(space.start), int(space.n)
    if mask is None:
        return st.integers(first, first + count - 1)
    possible = np.flatnonzero(_flags(mask, count, space))
    # Gymnasium's own rule where nothing is possible: the first.
    return st.sampled_from([first + int(each) for each in possible] or [first])


def _flags(mask: Any, count: int, space: spaces.Space[Any]) -> np.ndarray[Any, Any]:
    flags = np.asarray(mask)
    if flags.shape != (count,) or flags.dtype.kind not in "iub":
        raise ValueError(
            f"a mask of shape {flags.shape} and type {flags.dtype} does not fit {space}; give what its own "
            f"sample(mask) takes, here {count} whole numbers, or None"
        )
    return flags


def _fitting(mask: Any, count: int, space: spaces.Space[Any]) -> Sequence[Any]:
    if not isinstance(mask, tuple) or len(mask) != count:
        raise ValueError(
            f"a mask of type {type(mask).__name__} does not fit {space}; give what its own sample(mask) takes, here a "
            f"tuple of {count} masks, or None"
        )
    return mask


def _parts(space: spaces.Dict, mask: Any) -> Mapping[str, Any]:
    if mask is None:
        return {}
    if not isinstance(mask, Mapping) or mask.keys() != space.spaces.keys():
        raise ValueError(
            f"a mask of type {type(mask).__name__} does not fit {space}; give a mapping with its keys "
            f"({', '.join(map(repr, space.spaces))}), or None"
        )
    return mask


def _rows_of_numbers(space: spaces.MultiDiscrete, mask: Any) -> st.SearchStrategy[Any]:
    counts, firsts = np.asarray(space.nvec), np.asarray(space.start)
    if mask is not None and counts.ndim != 1:
        return _sampled(space, mask)
    masks = (None,) * counts.size if mask is None else _fitting(mask, counts.size, space)
    members = [
        actions(spaces.Discrete(int(count), start=int(first)), each)
        for count, first, each in zip(counts.flat, firsts.flat, masks, strict=True)
    ]
    return st.tuples(*members).map(lambda drawn: np.array(drawn, space.dtype).reshape(counts.shape))


def _bits(space: spaces.MultiBinary, mask: Any) -> st.SearchStrategy[Any]:
    if mask is not None:
        return _sampled(space, mask)
    return arrays_of.arrays(space.dtype, space.shape, elements=st.integers(0, 1))


def _box(space: spaces.Box) -> st.SearchStrategy[Any]:
    low, high, kind = space.low, space.high, space.dtype
    assert kind is not None
    if space.low.size <= MANY:
        members = [_between(bottom, top, kind) for bottom, top in zip(low.flat, high.flat, strict=True)]
        return st.tuples(*members).map(lambda drawn: np.array(drawn, kind).reshape(low.shape))
    # Bounds that hold for every element; where there are none, the space's own sample.
    bottom, top = low.max(), high.min()
    if bottom > top:
        return _sampled(space, None)
    return arrays_of.arrays(kind, low.shape, elements=_between(bottom, top, kind), fill=st.just(bottom))


def _between(low: Any, high: Any, kind: np.dtype[Any]) -> st.SearchStrategy[Any]:
    if kind.kind in "iub":
        return st.integers(int(low), int(high))
    bounds = {"min_value": float(low), "max_value": float(high)}
    finite = {name: value for name, value in bounds.items() if np.isfinite(value)}
    return st.floats(allow_nan=False, allow_infinity=False, width=WIDTHS[kind.name], **finite)  # type: ignore[arg-type] # one of the three


def _text(space: spaces.Text) -> st.SearchStrategy[str]:
    longest = max(space.min_length, min(space.max_length, LONGEST_TEXT))
    if type(space) is spaces.Text:
        return st.text(space.characters, min_size=space.min_length, max_size=longest)
    # A space of somebody's own may hold characters that its list does not tell.
    return st.text(min_size=space.min_length, max_size=longest).filter(space.contains)


def _sampled(space: spaces.Space[Any], mask: Any) -> st.SearchStrategy[Any]:
    """Return what the space itself samples: right for every space, at the price of shrinking to nothing simple."""

    def sample(seed: int) -> Any:
        own = copy.deepcopy(space)
        own.seed(seed)
        return own.sample(mask) if mask is not None else own.sample()

    return st.integers(0, 2**32 - 1).map(sample)
