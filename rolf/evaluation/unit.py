"""Unit: what is played in one go, an episode or a block of them; the same whatever plays it and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from rolf.variant import Split

Place = tuple[int, int]
"""Index of the variant in its split, and attempt."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Episodes that are played in one go."""

    number: int
    """Of its kind, from 0."""
    places: tuple[Place, ...]
    batched: bool

    @property
    def trajectory(self) -> str:
        """File that it is written to."""
        if self.batched:
            return f"block-{self.number:05}.jsonl.gz"
        index, attempt = self.places[0]
        return f"{index:05}-{attempt}.jsonl.gz"


def units(split: Split, attempts: int, block: Callable[[str], int | None]) -> list[Unit]:
    """Return all that is to be played, in order.

    Args:
        split: What is played.
        attempts: At each variant.
        block: Episodes that are played together, by environment; None: it is played one by one.
    """
    found: list[Unit] = []
    blocks = 0
    for size, places in _alike(split, attempts, block):
        for first in range(0, len(places), size or 1):
            found.append(Unit(blocks if size else len(found), places[first : first + (size or 1)], size is not None))
            blocks += size is not None
    return found


def _alike(
    split: Split, attempts: int, block: Callable[[str], int | None]
) -> Iterator[tuple[int | None, tuple[Place, ...]]]:
    """Yield the episodes that are played in the same environment one after the other."""
    numbered = enumerate(split.variants)
    for env_id, variants in groupby(numbered, key=lambda each: each[1].env_id):
        yield block(env_id), tuple((index, attempt) for index, _ in variants for attempt in range(attempts))
