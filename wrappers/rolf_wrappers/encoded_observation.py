"""EncodedObservation: texts as arrays of a fixed size, for ordinary networks."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat, SupportsIndex

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

KINDS = ("bytes", "hashed")
_WORD = re.compile(rb"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
_UTF_8 = 4
"""Bytes that a character takes at most (RFC 3629, section 3)."""


class EncodedObservation(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Encode the texts of a ``Dict`` observation as arrays of a fixed size.

    ``kind="bytes"``: the UTF-8 bytes (uint8), padded with 0. Of a longer text the beginning and the end are kept, half
    of the places each. ``kind="hashed"``: how often each word or sign occurs (float32, log(1 + count)), at a place that
    is the CRC-32 of it modulo the places; words may share one. Either way ``NAME_length`` beside is the whole length
    [bytes] (int64). Other entries stay as they are; `FlatFloat` round it makes one vector of all.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> rest = ("instruction", "stdout", "stderr")
        >>> env = EncodedObservation(gym.make("termgym:TermEnv-v1"), {"cwd": 16}, drop=rest)
        >>> env.observation_space["cwd"]
        Box(0, 255, (16,), uint8)
        >>> observation, _ = env.reset(seed=7)
        >>> bytes(observation["cwd"]), observation["cwd_length"]
        (b'/home/agent\\x00\\x00\\x00\\x00\\x00', array([11]))
        >>> env.close()

    Args:
        env: The environment.
        sizes: How many places each text gets, by its entry's name; every text is here or in ``drop``.
        kind: ``"bytes"`` or ``"hashed"``.
        drop: Names of entries that are left out.

    Raises:
        TypeError: observations are no Dict, or an entry of ``sizes`` is no text.
        ValueError: a name is unknown or taken, a text is in neither, a size is not positive, or ``kind`` is none.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        sizes: Mapping[str, SupportsIndex],
        *,
        kind: str = "bytes",
        drop: Sequence[str] = (),
    ) -> None:
        self._sizes = {name: size.__index__() for name, size in sizes.items()}
        RecordConstructorArgs.__init__(self, sizes=self._sizes, kind=kind, drop=list(drop))
        gym.Wrapper.__init__(self, env)
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r}; give one of {', '.join(map(repr, KINDS))}")
        self._encode, self._drop = _in_bytes if kind == "bytes" else _hashed, frozenset(drop)
        space = env.observation_space
        if not isinstance(space, spaces.Dict):
            raise TypeError(f"observations are {space}; texts are encoded in a Dict of them")
        self._check(space)
        box = spaces.Box(0, 255, (1,), np.uint8) if kind == "bytes" else spaces.Box(0, np.inf, (1,), np.float32)
        made: dict[str, gym.Space[Any]] = {}
        for name, each in space.items():
            if name in self._sizes and isinstance(each, spaces.Text):
                low, high = box.low[0], box.high[0]
                made[name] = spaces.Box(low, high, (self._sizes[name],), box.dtype)
                made[f"{name}_length"] = spaces.Box(0, _UTF_8 * each.max_length, (1,), np.int64)
            elif name not in self._drop:
                made[name] = each
        self.observation_space = spaces.Dict(made)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the first observation is encoded already."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._encoded(observation), info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step, and encode what is seen."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._encoded(observation), reward, terminated, truncated, info

    def _encoded(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for name, value in observation.items():
            if name in self._sizes:
                # Half a surrogate pair has no UTF-8 proper, and may still stand in a text.
                raw = value.encode("utf-8", "surrogatepass")
                shown[name] = self._encode(raw, self._sizes[name])
                shown[f"{name}_length"] = np.array([len(raw)], np.int64)
            elif name not in self._drop:
                shown[name] = value
        return {name: shown[name] for name in self.observation_space.spaces}  # type: ignore[attr-defined]  # a Dict

    def _check(self, space: spaces.Dict) -> None:
        """Raise TypeError or ValueError where what was given does not fit the observations."""
        known = ", ".join(space)
        for name in (*self._sizes, *sorted(self._drop)):
            if name not in space.spaces:
                raise ValueError(f"observations have no entry {name!r}; they have {known}")
        for name, size in self._sizes.items():
            if not isinstance(space[name], spaces.Text):
                raise TypeError(f"sizes: {name!r} is {space[name]}, no text; leave it out")
            if size < 1:
                raise ValueError(f"sizes: {name!r} gets {size} places; give at least one")
            if name in self._drop:
                raise ValueError(f"{name!r} is in sizes and in drop; say which")
            if f"{name}_length" in space.spaces:
                raise ValueError(f"observations have an entry {name}_length already; rename it first")
        for name, each in space.items():
            if isinstance(each, spaces.Text) and name not in self._sizes and name not in self._drop:
                raise ValueError(f"{name!r} is a text; give it places in sizes, or leave it out by drop")


def _in_bytes(raw: bytes, size: int) -> NDArray[np.uint8]:
    """Return bytes in ``size`` places: (size,)."""
    if len(raw) > size:
        tail = size // 2
        raw = raw[: size - tail] + raw[len(raw) - tail :]
    return np.frombuffer(raw.ljust(size, b"\0"), np.uint8).copy()


def _hashed(raw: bytes, size: int) -> NDArray[np.float32]:
    """Return log(1 + count) of words and signs, each at the place of its hash: (size,)."""
    places = [zlib.crc32(word) % size for word in _WORD.findall(raw)]
    return np.log1p(np.bincount(places, minlength=size) if places else np.zeros(size)).astype(np.float32)
