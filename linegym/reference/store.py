"""The store of spare parts: what is there, and what was ordered and is on its way."""

from __future__ import annotations

from linegym.plant import NONE, ORDER_SIZES, PARTS
from linegym.reference.blueprint import Blueprint

_ROOM = 100
"""Most spare parts of a kind."""


class Shelf:
    """One kind of spare part.

    Args:
        stock: Parts at the start.
        lead: Time from order to arrival [ticks].
    """

    def __init__(self, stock: int, lead: int) -> None:
        self.stock = stock
        self.lead = lead
        self.coming = 0
        """Parts under way."""
        self.comes = NONE
        """Tick when they arrive, or -1."""

    @property
    def awaits(self) -> bool:
        """Say whether an order is under way."""
        return self.comes != NONE

    def order(self, t: int, size: int) -> int:
        """Order a small (0) or a large (1) lot at tick ``t``; return how many parts that is."""
        self.coming = ORDER_SIZES[size]
        self.comes = t + self.lead
        return self.coming

    def tick(self, t: int) -> None:
        """Put away what has arrived."""
        if self.awaits and self.comes <= t:
            self.stock = min(self.stock + self.coming, _ROOM)
            self.coming, self.comes = 0, NONE


class Store:
    """All kinds of spare parts; kind ``i`` mends fault class ``i + 1``."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.shelves = [Shelf(blueprint.stock[part], blueprint.lead[part]) for part in range(PARTS)]

    def tick(self, t: int) -> None:
        """Move on by one tick."""
        for shelf in self.shelves:
            shelf.tick(t)
