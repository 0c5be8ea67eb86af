"""Stray: the part of a value that keeps it out of a space."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces


class Stray(NamedTuple):
    """What is not as its space says."""

    field: str
    """``observation.speed[2]``."""
    allowed: str
    got: str

    def __str__(self) -> str:
        return f"{self.field}: allowed is {self.allowed}, got {self.got}"


def stray(name: str, space: spaces.Space[Any], value: Any) -> Stray | None:
    """Return what keeps a value out of a space, or None if it is in it.

    Stricter than ``Space.contains`` in one thing: the dtype of an array is that of its space, not only one that could
    be cast to it.

    Example:
        >>> import numpy as np
        >>> from gymnasium.spaces import Box, Dict
        >>> space = Dict({"speed": Box(0, 1, (2,), np.float32)})
        >>> print(stray("seen", space, {"speed": np.array([0.5, 1.5], np.float32)}))
        seen.speed[1]: allowed is 0.0 to 1.0, got 1.5
        >>> print(stray("seen", space, {"speed": np.array([0.5, 0.5])}).got)
        dtype float64
    """
    if isinstance(space, spaces.Dict):
        return _of_dict(name, space, value)
    if isinstance(space, spaces.Tuple):
        if not isinstance(value, tuple) or len(value) != len(space.spaces):
            return Stray(name, f"a tuple of {len(space.spaces)}", _shown(value))
        parts = (stray(f"{name}[{index}]", each, value[index]) for index, each in enumerate(space.spaces))
        return next((found for found in parts if found is not None), None)
    if isinstance(space, (spaces.Box, spaces.MultiBinary, spaces.MultiDiscrete)):
        found = _of_array(name, space, value)
        if found is not None:
            return found
    return None if space.contains(value) else Stray(name, repr(space), _shown(value))


def _of_dict(name: str, space: spaces.Dict, value: Any) -> Stray | None:
    if not isinstance(value, dict):
        return Stray(name, "a dict", _shown(value))
    if value.keys() != space.spaces.keys():
        return Stray(name, f"the keys {sorted(space.spaces)}", f"{sorted(value, key=str)}")
    parts = (stray(f"{name}.{key}", each, value[key]) for key, each in space.spaces.items())
    return next((found for found in parts if found is not None), None)


def _of_array(name: str, space: Any, value: Any) -> Stray | None:
    if not isinstance(value, np.ndarray):
        return Stray(name, f"an array of dtype {space.dtype} and shape {space.shape}", _shown(value))
    if value.dtype != space.dtype:
        return Stray(name, f"dtype {space.dtype}", f"dtype {value.dtype}")
    if value.shape != space.shape:
        return Stray(name, f"shape {space.shape}", f"shape {value.shape}")
    if isinstance(space, spaces.Box):
        outside = np.argwhere(~((value >= space.low) & (value <= space.high)))
        if len(outside):
            place = tuple(outside[0])
            at = "".join(f"[{index}]" for index in outside[0].tolist())
            allowed = f"{space.low[place].item()} to {space.high[place].item()}"
            return Stray(f"{name}{at}", allowed, repr(value[place].item()))
    return None


def _shown(value: Any) -> str:
    return f"{value!r:.200} of type {type(value).__name__}"
