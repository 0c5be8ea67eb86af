"""Player: plays shares of an iteration in another process; what an actor is made of. Knows nothing of Ray."""

from __future__ import annotations

import os
import pickle
import sys
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rolf_adapters.ppo.language import keeping
from rolf_adapters.ppo.language.collector import Collected, Collector
from rolf_adapters.ppo.language.loading import loaded
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.pool import Pool
from rolf_adapters.ppo.language.problems import Problem
from rolf_adapters.ppo.language.settings import Settings
from rolf_adapters.ppo.language.speaking import policy_of, speaker_of
from rolf_adapters.ppo.language.twin import put

Parameters = Mapping[str, NDArray[Any]]
"""Those that are trained, by name."""
LEVEL = 1
"""Of compression. Most of an episode are the masks of its grammar, which are nearly all ones or nearly all zeros."""


class Share(NamedTuple):
    """What a player plays of an iteration."""

    problems: Sequence[Problem]
    draws: Sequence[np.random.Generator | None]
    version: int
    """Of the policy."""


class Made(NamedTuple):
    """What a player has made of the settings, as it must be the same everywhere."""

    frozen: str
    """The SHA-256 of the weights that are never trained (`keeping.frozen`)."""
    words: str
    """Of the tokenizer and its chat template (`Template.digest`)."""


class Player:
    """Has a policy of its own, and environments of its own."""

    def __init__(self) -> None:
        self._policy: LanguagePolicy | None = None
        self._collector: Collector | None = None
        self._pool: Pool | None = None

    def there(self) -> int:
        """Return the number of this process, which shows that it has one."""
        return os.getpid()

    def begin(self, settings: str, seed: int, paths: Sequence[str]) -> Made:
        """Make the policy.

        Args:
            settings: Of the training, as JSON.
            seed: The training's.
            paths: Where modules are looked for besides: what can be imported there, where the training is, can be here.

        Returns:
            What must be the same as where it is learned.

        Raises:
            ValueError: there is no such model here.
        """
        # Others play beside it: a second thread would make all slower.
        torch.set_num_threads(1)
        sys.path += [path for path in paths if path not in sys.path]
        read = Settings.model_validate_json(settings)
        model, tokenizer = loaded(read.policy.model, seed)
        self._policy = policy_of(read, model, tokenizer, seed)
        self._pool = Pool(read.rollout.environments, read.rollout.threads)
        speaker = speaker_of(read, self._policy, tokenizer)
        self._collector = Collector(speaker, self._pool)
        return Made(keeping.frozen(self._policy), speaker.template.digest)

    def play(self, parameters: Parameters, share: Share) -> bytes:
        """Return what comes of a share, `packed`.

        Args:
            parameters: That the policy is to have.
            share: What is played.
        """
        assert self._policy is not None, "begin() comes before play()"
        assert self._collector is not None
        # Copies: what is shared between processes is read-only, and PyTorch knows no such arrays.
        put(self._policy, {name: torch.from_numpy(each.copy()) for name, each in parameters.items()})
        return packed(self._collector.play(share.problems, share.draws, version=share.version))

    def close(self) -> None:
        """Close the environments."""
        if self._pool is not None:
            self._pool.close()


def parameters_of(policy: LanguagePolicy) -> Parameters:
    """Return what `Player.play` is to be given of a policy; not copied."""
    return {name: each.detach().numpy() for name, each in policy.trained()}


def packed(collected: Collected) -> bytes:
    """Return episodes as few bytes: with their masks they take megabytes each."""
    return zlib.compress(pickle.dumps(collected, pickle.HIGHEST_PROTOCOL), LEVEL)


def unpacked(packet: bytes) -> Collected:
    """Return episodes as they were packed by an actor of this training."""
    found: Collected = pickle.loads(zlib.decompress(packet))
    return found
