"""Evaluable: what the module behind an entry point offers besides, for ``rolf eval`` and ``rolf board``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from rolf.evaluation.episode import Ending, Measured, Run
from rolf.evaluation.policy import PolicyEntry
from rolf.variant import Split, Variant


@dataclass(frozen=True, slots=True)
class SplitEntry:
    """One split that an environment offers."""

    name: str
    """``line-v1/iid``."""
    count: int
    """Variants in it."""
    attempts: int
    summary: str
    training: bool | None = None
    """Whether it is there to be trained on; None: nobody says."""


@runtime_checkable
class Evaluable(Protocol):
    """What an environment offers besides that policies can be compared on."""

    HIDDEN: Sequence[str]
    """Keys of ``info`` that only privileged policies are shown."""

    def splits(self) -> Sequence[SplitEntry]:
        """Return the splits, in the order in which they are best listed."""

    def split(self, name: str) -> Split:
        """Return the split of that name.

        Raises:
            LookupError: there is none; the message suggests the nearest.
        """

    def policies(self) -> Mapping[str, PolicyEntry]:
        """Return the policies that come with it, by name, from the worst to the best."""

    def measure(self, variant: Variant, ending: Ending) -> Measured:
        """Return what an ending is worth: a pure function, for anybody can apply it to a trajectory."""

    def reseeded(self, variant: Variant, seed: int) -> Variant:
        """Return the same problem with other random numbers: how private splits are made of public ones."""


@runtime_checkable
class Batched(Protocol):
    """What an environment offers besides that plays many episodes at once."""

    BLOCK: int
    """Episodes that are best played together."""

    def plays(self, player: object) -> bool:
        """Return whether it is a policy that acts for many rows at once."""

    def play(self, player: Any, variants: Sequence[Variant], seeds: Sequence[int]) -> Sequence[Run]:
        """Play an episode of each variant; seeds are what ``reset`` would be given.

        Raises:
            PolicyError: the policy is to blame; see ``rolf.evaluation.blame``.
        """


@runtime_checkable
class Bounded(Protocol):
    """What an environment offers besides whose scores cannot lie just anywhere."""

    def bounds(self, variant: Variant) -> tuple[float, float] | None:
        """Return the least and the greatest score that there can be of a variant; None: there is no telling."""


@runtime_checkable
class Choosable(Protocol):
    """What an environment offers besides in which strangers may choose what is played, as clients of a server do."""

    CHOICES: Mapping[str, Callable[[Any], bool]]
    """Arguments that only say which problem is played, and nothing of the machine that it is played on; of each,
    whether a value is such a one."""


@runtime_checkable
class Attributable(Protocol):
    """What an environment offers besides that can tell what a failure came from."""

    def attributed(
        self, player: Any, variants: Sequence[Variant], seeds: Sequence[int]
    ) -> Iterator[Mapping[str, float]]:
        """Yield what each family of disturbances cost of each episode's score; 0 where it cost nothing."""
