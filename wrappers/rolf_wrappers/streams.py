"""Random numbers of an effect: its own generators, one a mechanism, that no other effect can disturb."""

from __future__ import annotations

import hashlib
from typing import Any

import gymnasium as gym
from numpy.random import PCG64, Generator, SeedSequence


class Streams:
    """The generators of one wrapper, by mechanism.

    A generator is a function of the seed, the number of the episode since that seed, the wrapper's name, the part of
    the observation that it works on, and the mechanism. So the environment's own generator is never touched; a
    mechanism that is switched off changes nothing for the others; and an episode does not depend on how long the
    ones before it were. Gaussian draws and sines go through the mathematics library, whose last
    bits may differ between processors.

    Args:
        wrapper: The wrapper, with its ``env`` set.
        part: The part of the observation that it works on; tells two wrappers of one kind apart. Of two that work on
            the same part, the inner one counts as the first.
        mechanisms: Their names.
    """

    def __init__(self, wrapper: gym.Wrapper[Any, Any, Any, Any], part: str, mechanisms: tuple[str, ...]) -> None:
        kind = type(wrapper).__name__
        self.name = f"{kind}/{part}"
        earlier = 0
        inner: Any = wrapper.env
        while isinstance(inner, gym.Wrapper):
            streams = getattr(inner, "streams", None)
            earlier += isinstance(streams, Streams) and streams.name == self.name
            inner = inner.env
        self._words = {mechanism: _words(f"{self.name}/{earlier}/{mechanism}") for mechanism in mechanisms}
        self._generators: dict[str, Generator] = {}
        self._entropy: int | None = None
        self._episode = 0

    def restart(self, env: gym.Env[Any, Any], seed: int | None) -> None:
        """Begin an episode.

        Args:
            env: The environment, just reset. Where nobody ever gave a seed, the one that it drew for itself is taken,
                so that this one number brings back everything.
            seed: What ``reset`` was given.
        """
        if seed is not None:
            self._entropy, self._episode = int(seed), 0
        elif self._entropy is None:
            drawn = env.unwrapped.np_random_seed
            # Gymnasium answers -1 where the environment's generator was set by hand: its seed is unknown.
            self._entropy = drawn if drawn >= 0 else int(SeedSequence().generate_state(1)[0])
        else:
            self._episode += 1
        for mechanism, words in self._words.items():
            key = SeedSequence(self._entropy, spawn_key=(*words, self._episode))
            self._generators[mechanism] = Generator(PCG64(key))

    def __getitem__(self, mechanism: str) -> Generator:
        """Return a mechanism's generator in this episode.

        Raises:
            gymnasium.error.ResetNeeded: none has begun; a wrapper may draw before the environment could say so.
        """
        if not self._generators:
            raise gym.error.ResetNeeded("no episode has begun; call reset() before step()")
        return self._generators[mechanism]


def _words(name: str) -> tuple[int, ...]:
    """Return a name as two 32-bit words."""
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")
