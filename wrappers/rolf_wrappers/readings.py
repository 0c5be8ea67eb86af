"""The readings that a sensor effect works on: an observation, or one entry of it, or some numbers of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EPSILON = 2.0**-52


class Readings:
    """Numbers in an observation, and the way in and out.

    Args:
        space: The environment's observation space: a Box of floating-point numbers, or a Dict that holds one.
        key: Name of the entry, if it is a Dict.
        dims: Places of the numbers in the flattened Box; None for all.

    Raises:
        TypeError: the readings are not floating-point numbers.
        KeyError: the Dict has no such entry.
        ValueError: a place lies outside, or comes twice.
    """

    def __init__(self, space: gym.Space[Any], key: str | None, dims: Sequence[int] | None) -> None:
        self.key = key
        self._space = space
        self._box = _box(space, key)
        self.all = int(np.prod(self._box.shape))
        """How many numbers the Box has. Draws are made for all of them, so that the choice of ``dims`` moves none."""
        self.index: NDArray[np.intp] = np.arange(self.all) if dims is None else _places(dims, self.all)
        self.low: Floats = self._box.low.reshape(-1)[self.index].astype(np.float64)
        self.high: Floats = self._box.high.reshape(-1)[self.index].astype(np.float64)

    def get(self, observation: Any) -> Floats:
        """Return the readings, a copy of shape (dims,)."""
        box = observation if self.key is None else observation[self.key]
        return np.asarray(box, dtype=np.float64).reshape(-1)[self.index]

    def put(self, observation: Any, readings: Floats) -> Any:
        """Return a new observation with these readings in it; the one given stays what it is."""
        box = np.array(observation if self.key is None else observation[self.key], dtype=self._box.dtype)
        flat = box.reshape(-1)
        flat[self.index] = readings
        return box if self.key is None else {**observation, self.key: box}

    def space(self, low: Floats, high: Floats) -> gym.Space[Any]:
        """Return the observation space with these bounds of the readings, rounded outwards."""
        bounds = self._bound(self._box.low, low, -np.inf), self._bound(self._box.high, high, np.inf)
        dtype: Any = self._box.dtype
        box: gym.Space[Any] = gym.spaces.Box(*bounds, dtype=dtype)
        if isinstance(self._space, gym.spaces.Dict):
            box = gym.spaces.Dict({**self._space.spaces, str(self.key): box})
        return box

    def _bound(self, source: NDArray[Any], new: Floats, way: float) -> NDArray[Any]:
        """Return the Box's bound with those of the readings in it."""
        bound: NDArray[Any] = source.copy()
        flat = bound.reshape(-1)
        kept = new == flat[self.index]
        # A reading is computed by another formula than its bound, so the last bits differ, and is then rounded.
        largest = np.maximum(np.abs(new), np.abs(flat[self.index].astype(np.float64)))
        slack = np.where(np.isfinite(largest), 4 * EPSILON * largest, 0.0)
        with np.errstate(over="ignore"):  # beyond the largest number there is no bound
            outward = np.nextafter((new + np.copysign(slack, way)).astype(source.dtype), source.dtype.type(way))
        flat[self.index] = np.where(kept, flat[self.index], outward)
        return bound

    def scale(self, scale: float | Sequence[float]) -> Floats:
        """Return what one unit is for each reading, shape (dims,).

        Raises:
            ValueError: it is not one positive number, nor one a reading.
        """
        units = np.asarray(scale, dtype=np.float64)
        if units.shape not in {(), self.index.shape} or not (np.isfinite(units) & (units > 0)).all():
            raise ValueError(f"scale is {scale!r}; give a positive number, or {self.index.size} of them, one a reading")
        return np.broadcast_to(units, self.index.shape).copy()


def _box(space: gym.Space[Any], key: str | None) -> gym.spaces.Box:
    """Return the Box that is meant."""
    found: Any = space
    if isinstance(space, gym.spaces.Dict):
        names = ", ".join(map(repr, space.spaces))
        if key is None:
            raise TypeError(f"the observation is a Dict; name the entry that is meant: key= one of {names}")
        if key not in space.spaces:
            raise KeyError(f"key is {key!r}; the observation has {names}")
        found = space.spaces[key]
    elif key is not None:
        raise TypeError(f"key is {key!r}, but the observation is no Dict; leave key out: {space}")
    if not isinstance(found, gym.spaces.Box):
        raise TypeError(f"a sensor effect wants a Box of numbers, got {found}; flatten it: FlattenObservation")
    if not np.issubdtype(found.dtype, np.floating):
        raise TypeError(f"a sensor effect wants floating-point numbers, got {found.dtype}; use DtypeObservation first")
    return found


def _places(dims: Sequence[int], size: int) -> NDArray[np.intp]:
    """Return the chosen places."""
    places = list(dims)
    if not places or len(set(places)) < len(places) or not all(0 <= place < size for place in places):
        raise ValueError(f"dims is {dims!r}; give different places from 0 to {size - 1}, at least one")
    return np.array(places, dtype=np.intp)
