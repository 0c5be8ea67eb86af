"""Where parts lie: between the stations, before the first, behind the last, and in the scrap bin."""

from __future__ import annotations

from linegym.plant import BUFFERS, SINK, SOURCE


class Buffer:
    """Room for a number of parts between stations.

    Args:
        capacity: Parts that it holds.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.parts = 0

    @property
    def has_part(self) -> bool:
        """Say whether there is something to take."""
        return self.parts > 0

    @property
    def has_room(self) -> bool:
        """Say whether another part fits."""
        return self.parts < self.capacity

    @property
    def fill(self) -> float:
        """Return how full it is, 0 to 1."""
        return self.parts / self.capacity

    def take(self) -> None:
        """Take a part out."""
        self.parts -= 1

    def put(self) -> None:
        """Put a part in."""
        self.parts += 1


class Source(Buffer):
    """Raw material: it never runs empty."""

    def __init__(self) -> None:
        super().__init__(capacity=1)
        self.parts = 1
        self.taken = 0
        """Parts taken since the start; no state of the plant, but what a book-keeper wants to know."""

    @property
    def fill(self) -> float:
        """Return 1: it is always full."""
        return 1.0

    def take(self) -> None:
        """Take a part; another one lies there at once."""
        self.taken += 1


class Sink(Buffer):
    """The end of the line: it never fills, and is emptied every tick."""

    def __init__(self) -> None:
        super().__init__(capacity=0)

    @property
    def has_room(self) -> bool:
        """Say yes: it never fills."""
        return True

    @property
    def fill(self) -> float:
        """Return 0: it never fills."""
        return 0.0

    def empty(self) -> int:
        """Take everything out and return how many parts that was."""
        parts, self.parts = self.parts, 0
        return parts


class Floor:
    """All the buffers of a line, and its scrap bin.

    Args:
        capacity: Of each buffer [parts]; those of source and sink mean nothing.
    """

    def __init__(self, capacity: tuple[int, ...]) -> None:
        self.source = Source()
        self.sink = Sink()
        self.buffers = [Buffer(parts) for parts in capacity]
        self.buffers[SOURCE], self.buffers[SINK] = self.source, self.sink
        assert len(self.buffers) == BUFFERS
        self.scrap = 0
        """Parts thrown away since the start of the episode."""

    def __getitem__(self, buffer: int) -> Buffer:
        return self.buffers[buffer]

    def throw_away(self) -> None:
        """Put a part into the scrap bin."""
        self.scrap += 1
