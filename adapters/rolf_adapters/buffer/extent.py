"""Extent: which episodes a buffer holds, and where the next will lie."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Self

from rolf_adapters.buffer.errors import Damaged

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Extent:
    """Which episodes there are, and where writing goes on."""

    first: int = 0
    """Number of the oldest that has not been dropped."""
    next: int = 0
    """Number of the one that comes next."""
    segment: int = 0
    offset: int = 0
    """Where it will lie; 0: in a segment that is not begun."""
    kept: int = 0
    """Number of the oldest that is still on the disk, for a state that is to be gone back to."""
    generation: int = 0
    """How often it was gone back: readers look anew."""
    retained: tuple[tuple[int, int], ...] = field(default=())
    """``first`` and ``next`` of the states that can be gone back to, the oldest first."""

    def packed(self) -> bytes:
        """Return it as bytes."""
        return json.dumps({"format": FORMAT, **asdict(self)}).encode()

    @classmethod
    def unpacked(cls, data: bytes) -> Self:
        """Return the extent that was packed.

        Raises:
            Damaged: it is of another format, or none.
        """
        try:
            told = json.loads(data)
            version = told.pop("format")
            if version != FORMAT:
                raise Damaged(f"the buffer has format {version!r}; this version of rolf reads {FORMAT}")
            retained = tuple((first, following) for first, following in told.pop("retained"))
            return cls(**told, retained=retained)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Damaged(f"the index holds no extent of a buffer: {error}") from error
