"""Assignment: which variant a row of a vector environment plays in which episode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from linegym.variants import Variant, split, variant

Sampler = Callable[[int, int], "Variant | str"]
"""(row, episode) -> variant"""
Variants = str | Variant | Sequence["Variant | str"] | Sampler
"""What ``LineVectorEnv`` takes."""


class Assignment:
    """Says which variant a row plays in an episode: a pure function of both, whatever happened before.

    Args:
        variants: The name of a set, or several ids or variants: dealt to the rows in order, and on over the episodes
            (the beginning of a set is a sample of it); one id or variant, for all rows; or a function of row and
            episode.
        rows: Rows of the batch.

    Raises:
        TypeError: it is nothing of that.
        ValueError: a name is unknown, or there are no variants.
    """

    def __init__(self, variants: Variants, rows: int) -> None:
        self._rows = rows
        self._sampler: Sampler | None = None
        self._pool: tuple[Variant, ...] = ()
        if isinstance(variants, (str, Variant)):
            self._pool = _named(variants)
        elif isinstance(variants, Sequence) and not isinstance(variants, bytes):
            self._pool = tuple(as_variant(each) for each in variants)
        elif callable(variants):
            self._sampler = variants
        else:
            raise TypeError(
                f"variants={variants!r} is of type {type(variants).__name__}; give the name of a set, an id, "
                "a Variant, a sequence of these, or a function of row and episode"
            )
        if self._sampler is None and not self._pool:
            raise ValueError(f"variants={variants!r} holds no variant; give one at least")

    @property
    def lasting(self) -> bool:
        """Whether each row plays the same variant for ever."""
        return self._sampler is None and self._rows % len(self._pool) == 0

    def of(self, row: int, episode: int) -> Variant:
        """Return the variant of a row's episode."""
        if self._sampler is not None:
            return as_variant(self._sampler(row, episode))
        return self._pool[(row + episode * self._rows) % len(self._pool)]


def as_variant(given: Variant | str) -> Variant:
    """Return a variant given as itself or by its id.

    Raises:
        TypeError: it is neither.
        VariantError: there is none of that id; the message suggests the nearest.
    """
    if isinstance(given, Variant):
        return given
    if isinstance(given, str):
        return variant(given)
    raise TypeError(
        f"variant={given!r} is of type {type(given).__name__}; give an id such as "
        "'serial/thermocouple/profinet/bearing+sensor:3', or a linegym.Variant"
    )


def _named(given: str | Variant) -> tuple[Variant, ...]:
    """Return the variants of a set, or the one variant of an id. Ids have slashes, sets have none."""
    if isinstance(given, str) and "/" not in given:
        return tuple(split(given))
    return (as_variant(given),)
