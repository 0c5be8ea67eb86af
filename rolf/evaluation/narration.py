"""Narration: what happened in an episode, in words and charts, told by the environment that knows what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from rolf.exhibit import Block
from rolf.variant import Variant


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done in one step."""

    lane: str
    """What kind of thing it was (``inspect``); empty: nothing was done."""
    words: str
    """All of it: ``inspect channel 0 of station 3``."""


@dataclass(frozen=True, slots=True)
class Narration:
    """An episode told through."""

    deeds: tuple[Deed, ...]
    """One a step."""
    blocks: tuple[Block, ...] = ()
    """What came of it, in the order in which it is best read."""


@runtime_checkable
class Narrator(Protocol):
    """What an environment offers besides that can tell an episode of which little more than the actions is known."""

    def narrate(self, variant: Variant, seed: int, actions: Sequence[Any]) -> Narration:
        """Return what happened.

        Args:
            variant: What was played.
            seed: What ``reset`` was given.
            actions: One a step, as plain data, the environment's own.

        Raises:
            ValueError: these are no actions of an episode of it.
        """
