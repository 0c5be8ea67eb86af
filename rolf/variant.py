"""Variant and Split: an episode as plain data, and named lists of them, each with a digest.

A variant says which environment, made how, and what it is seeded with: whoever has it can play the same episode. A
split is a list of variants under a name such as ``line-v1/iid``. Its digest goes into every result, so that nobody
compares what was not played on the same.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from rolf.registration import registered

if TYPE_CHECKING:
    import gymnasium

SEEDS = 1 << 62
"""Seeds of attempts lie below this: what every environment here takes, and JSON readers keep exactly enough of."""


def canonical(value: Any) -> bytes:
    """Return plain data as the one sequence of bytes that digests are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def digest(value: Any) -> str:
    """Return the SHA-256 of plain data, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


@dataclass(frozen=True)
class Variant:
    """One problem: all of an episode but which attempt at it this is."""

    env_id: str
    """Gymnasium id with its module: ``termgym:TermEnv-v1``."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """What ``gymnasium.make`` is given; plain data."""
    seed: int = 0
    """What the seeds of its attempts are derived from."""
    wrappers: tuple[Mapping[str, Any], ...] = ()
    """Wrappers that are a part of the problem, inside first: ``name``, ``entry_point``, ``kwargs`` of each."""
    name: str = ""
    """What tables call it; no part of the digest."""

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        plain: dict[str, Any] = {"env_id": self.env_id, "kwargs": dict(self.kwargs), "seed": self.seed}
        if self.wrappers:
            plain["wrappers"] = [dict(wrapper) for wrapper in self.wrappers]
        return plain | ({"name": self.name} if self.name else {})

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """Return the variant that `as_json` wrote.

        Raises:
            ValueError: it is none.
        """
        known = {"env_id", "kwargs", "seed", "wrappers", "name"}
        if not isinstance(plain, Mapping) or not {"env_id", "kwargs", "seed"} <= plain.keys() <= known:
            raise ValueError(f"{plain!r:.200} is no variant; it has env_id, kwargs, seed, and maybe wrappers and name")
        return cls(
            plain["env_id"],
            dict(plain["kwargs"]),
            plain["seed"],
            tuple(dict(wrapper) for wrapper in plain.get("wrappers", ())),
            plain.get("name", ""),
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what is played; what it is called does not count."""
        return digest(replace(self, name="").as_json())

    def attempt_seed(self, attempt: int) -> int:
        """Return what ``reset`` is given in an attempt: below 2**62, and the same for every policy."""
        raw = hashlib.sha256(f"{self.digest}/{attempt}".encode()).digest()
        return int.from_bytes(raw[:8], "big") % SEEDS

    def make(self, **settings: Any) -> gymnasium.Env[Any, Any]:
        """Return its environment, wrappers included.

        Args:
            settings: For ``gymnasium.make`` besides, such as ``render_mode``.

        Raises:
            gymnasium.error.Error: the environment is not known here.
            ModuleNotFoundError: its package is not installed.
        """
        import gymnasium
        from gymnasium.envs.registration import WrapperSpec

        spec = copy.deepcopy(registered(self.env_id))
        spec.additional_wrappers = tuple(WrapperSpec(**wrapper) for wrapper in self.wrappers)
        return gymnasium.make(spec, **{**copy.deepcopy(dict(self.kwargs)), **settings})


@dataclass(frozen=True)
class Labels:
    """What is known of a variant beforehand, for tables and intervals; policies never see it."""

    cluster: str
    """Variants of one cluster resemble each other and are resampled together: a template, a cause."""
    family: str = ""
    """What disturbs it (``sensor``), or what kind of task it is (``git-dirty-pull``)."""
    level: int | None = None
    """How much, where that is graded."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Physical parameters with their units: ``{"network round trip [ms]": 200.0}``."""
    style: str = ""
    """The style of the interface that it is played through, where that is a part of it."""


@dataclass(frozen=True)
class Split:
    """Variants under a name."""

    name: str
    """``line-v1/iid``; a part of one: ``line-v1/iid[:20]``."""
    variants: tuple[Variant, ...]
    labels: tuple[Labels, ...]
    """One a variant."""
    attempts: int
    """How often a leaderboard wants each variant played."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """What an episode may use: steps, time, memory. Other limits are another benchmark."""
    content: str = ""
    """Digest of what the variants' names stand for, where that could change."""
    pinned: bool = False
    """Whether all attempts at a variant meet the same world: then one attempt of a deterministic policy tells all."""

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.variants):
            raise ValueError(f"{self.name}: {len(self.variants)} variants and {len(self.labels)} labels; give each one")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that is played, in order, and under which limits."""
        return digest(
            {
                "variants": [variant.digest for variant in self.variants],
                "limits": dict(self.limits),
                "content": self.content,
            }
        )

    def first(self, count: int) -> Split:
        """Return its first variants as a split of its own; all of them if there are not more.

        Raises:
            ValueError: there would be none.
        """
        if count < 1:
            raise ValueError(f"the first {count} of {self.name} are none; give a whole number from 1")
        if count >= len(self.variants):
            return self
        name = f"{self.name}[:{count}]"
        return replace(self, name=name, variants=self.variants[:count], labels=self.labels[:count])

    def __len__(self) -> int:
        return len(self.variants)


def policy_seed(seed: int) -> int:
    """Return the seed of a policy's own random numbers in the episode whose world has this one.

    It is the same whether the episode is played alone or among others, and says nothing of what the world will do.
    """
    return int.from_bytes(hashlib.sha256(f"policy/{seed}".encode()).digest()[:8], "big") % SEEDS


def shortened(name: str) -> tuple[str, int | None]:
    """Return the name of a split and how many of its first variants are meant: ``"line-v1/iid[:20]"`` -> 20.

    Raises:
        ValueError: what stands in the brackets is no number from 1.
    """
    whole, bracket, rest = name.partition("[:")
    if not bracket:
        return name, None
    number = rest.removesuffix("]")
    if not rest.endswith("]") or not re.fullmatch("[1-9][0-9]{0,8}", number):
        raise ValueError(f"split {name!r}: what follows the name must be [:N] with a whole number N from 1")
    return whole, int(number)


def names(variants: Sequence[Variant]) -> list[str]:
    """Return what tables call variants."""
    return [variant.name or variant.digest[:12] for variant in variants]
