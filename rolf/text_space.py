"""Text that may hold any character, as a Gymnasium space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, overload

import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import flatten, unflatten
from gymnasium.vector.utils import batch_differing_spaces, read_from_shared_memory
from numpy.typing import NDArray

CODE_POINTS = 0x110000  # Unicode 15.0, section 2.4: code points run from 0 to 10FFFF
SAMPLE_LENGTH = 64
"""Longest string that ``sample`` draws [characters]."""


class AllCharacters(Sequence[str], Set[str]):
    """Every code point in order, without holding them: the character list, set and index of Unicode text."""

    __slots__ = ()

    def __len__(self) -> int:
        return CODE_POINTS

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> str: ...
    def __getitem__(self, index: int | slice) -> str:
        if isinstance(index, slice):
            return "".join(map(chr, range(*index.indices(CODE_POINTS))))
        return chr(range(CODE_POINTS)[index])

    def __contains__(self, item: object) -> bool:
        return isinstance(item, str) and len(item) == 1

    def __iter__(self) -> Iterator[str]:
        return map(chr, range(CODE_POINTS))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AllCharacters)

    def __hash__(self) -> int:
        return hash(AllCharacters)

    def __reduce__(self) -> tuple[type[AllCharacters], tuple[()]]:
        return AllCharacters, ()


ALL_CHARACTERS = AllCharacters()


class UnicodeText(spaces.Text):
    """Text of any characters up to a length: Gymnasium's ``Text`` without a character set to keep to.

    Gymnasium's own ``Text`` refuses what is outside its set, and a set of all Unicode would take 100 MB. Samples are
    short and printable; flattening gives code points, padded with 0x110000.

    Example:
        >>> space = UnicodeText(100)
        >>> space
        UnicodeText(0, 100)
        >>> space.contains("naïve ☕ \\x00"), space.contains("x" * 101), space.contains(b"bytes")
        (True, False, False)
    """

    def __init__(self, max_length: int, *, min_length: int = 0, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=min_length, charset=" ", seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a short printable string.

        Raises:
            ValueError: a mask was given; there is no finite character set to mask.
        """
        if mask is not None or probability is not None:
            raise ValueError(f"UnicodeText has no character set to mask, got {mask=!r}, {probability=!r}")
        longest = max(self.min_length, min(self.max_length, SAMPLE_LENGTH))
        length = int(self.np_random.integers(self.min_length, longest + 1))
        return self.np_random.integers(0x20, 0x7F, size=length, dtype=np.uint8).tobytes().decode("ascii")

    def contains(self, x: Any) -> bool:
        """Return whether ``x`` is a string within the length bounds."""
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length

    @property
    def character_set(self) -> Any:
        """All of Unicode."""
        return ALL_CHARACTERS

    @property
    def character_list(self) -> Any:
        """All of Unicode, in order of code points."""
        return ALL_CHARACTERS

    @property
    def characters(self) -> str:
        """The character that pads an empty array; the whole set would not fit a string worth having."""
        return " "

    def character_index(self, char: str) -> np.int32:
        """Return the code point."""
        return np.int32(ord(char))

    def __repr__(self) -> str:
        return f"UnicodeText({self.min_length}, {self.max_length})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, UnicodeText)
            and self.min_length == other.min_length
            and self.max_length == other.max_length
        )

    __hash__ = None  # type: ignore[assignment]  # spaces are compared by value and change with their seed


def _flatten(space: UnicodeText, x: str) -> NDArray[np.int32]:
    padded = np.full(space.max_length, CODE_POINTS, dtype=np.int32)
    padded[: len(x)] = np.frombuffer(x.encode("utf-32-le", "surrogatepass"), dtype="<i4")
    return padded


def _unflatten(_: UnicodeText, x: NDArray[np.int32]) -> str:
    return _text(np.asarray(x))


class SharedTexts(Sequence[str]):
    """The texts that worker processes have written into shared memory, as they are now; a copy is a tuple of them.

    Gymnasium's AsyncVectorEnv reads the memory once, when it is made, and hands out copies of what it got: right for
    arrays, which are views; a tuple of text would stay what it was at first.
    """

    def __init__(self, rows: NDArray[np.int32]) -> None:
        self._rows = rows  # (environments, max_length)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return tuple(_text(row) for row in self._rows[index])
        return _text(self._rows[index])

    def __deepcopy__(self, _: Any) -> tuple[str, ...]:
        return tuple(self)


def _read(space: UnicodeText, shared_memory: Any, n: int = 1) -> Any:
    return SharedTexts(np.frombuffer(shared_memory.get_obj(), dtype=np.int32).reshape((n, space.max_length)))


def _batch_differing(differing: Sequence[UnicodeText]) -> Any:
    return spaces.Tuple([UnicodeText(space.max_length, min_length=space.min_length) for space in differing])


def _text(row: NDArray[np.int32]) -> str:
    return row[row < CODE_POINTS].astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")


# Gymnasium's generic versions would look at every padded character one by one; the last of these dispatches on the
# exact class.
flatten.register(UnicodeText, _flatten)
unflatten.register(UnicodeText, _unflatten)
read_from_shared_memory.register(UnicodeText, _read)
batch_differing_spaces.register(UnicodeText, _batch_differing)
