"""Layout: which numbers of an observation belong to the same kind of thing, and which actions are about which thing.

A line of 24 stations tells the same 24 numbers of each, and can be ordered the same 22 things at each. A network that
knows it learns from every station what holds for all of them.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from rolf_adapters.ppo.groups import Group


class Block(Group):
    """Actions of which each entity has as many."""

    first: int = Field(ge=0)
    """The first of them, in a flat action space."""
    size: int = Field(ge=1)
    """How many each entity has."""
    order: Literal["entity", "kind"] = "entity"
    """Whether those of an entity follow each other, or those of a kind."""


class Pointer(Group):
    """A number that says which entity something is about: ``entity = round(number * scale) - offset``."""

    column: int = Field(ge=0)
    """Of the observation."""
    scale: float = Field(gt=0)
    """What the entity's number was divided by."""
    offset: int = 0
    """What was added to it before."""


class Layout(Group):
    """What is known of a flat observation and a flat action space."""

    first: int = Field(default=0, ge=0)
    """Where the entities' numbers begin; those of an entity follow each other."""
    entities: int = Field(ge=1)
    """How many there can be."""
    size: int = Field(ge=1)
    """Numbers of each."""
    present: int = Field(ge=0)
    """Which of them is 0 exactly where there is no such entity."""
    levels: tuple[tuple[int, int], ...] = ()
    """Which of them take so many values, evenly from 0 to 1: (number, values)."""
    rest_levels: tuple[tuple[int, int], ...] = ()
    """The same of the observation's other numbers: (column, values)."""
    pointers: tuple[Pointer, ...] = ()
    """Numbers of the observation that name entities."""
    actions: tuple[Block, ...] = ()
    """Actions about an entity; the others are about the whole."""
    together: tuple[tuple[int, int], ...] = ()
    """Actions about the whole that are one decision and its details, such as which part to order: (first, count)."""
    traced: tuple[tuple[int, int], ...] = ()
    """Numbers of an entity that are also shown as they were of late: (number, -1), or (number, level): how often it was
    at that level."""
    gains: tuple[float, ...] = ()
    """Gains of the exponential means that show it, a step."""
    senses: str = ""
    """``module:object`` that makes what works out more of each entity, see `rolf_adapters.ppo.vector.senses`; empty:
    nothing."""
    senses_size: int = Field(default=0, ge=0)
    """Numbers of each entity that it works out."""
    words: str = ""
    """A text in ``info`` whose words, between slashes, say what is known of the plant; empty: none."""
    vocabulary: tuple[str, ...] = ()
    """The words; others are not seen."""

    @field_validator("present", "levels", "traced")
    @classmethod
    def _names_what_an_entity_has(cls, value: Any, known: ValidationInfo) -> Any:
        size = known.data.get("size", 0)  # what is wrong itself is told by itself
        for number in [value] if isinstance(value, int) else [each[0] for each in value]:
            if size and not 0 <= number < size:
                raise ValueError(f"{known.field_name} names number {number}; an entity has those from 0 to {size - 1}")
        return value

    @field_validator("levels", "rest_levels")
    @classmethod
    def _has_values(cls, value: tuple[tuple[int, int], ...], known: ValidationInfo) -> tuple[tuple[int, int], ...]:
        for number, count in value:
            if count < 1:
                raise ValueError(f"{known.field_name} says that number {number} takes {count} values; give 1 or more")
        return value

    @field_validator("traced")
    @classmethod
    def _names_levels(cls, value: tuple[tuple[int, int], ...], known: ValidationInfo) -> tuple[tuple[int, int], ...]:
        counts = dict(known.data.get("levels", ((number, level + 1) for number, level in value)))
        for number, level in value:
            if level >= counts.get(number, 0):
                there = f"0 to {counts[number] - 1}" if number in counts else "none"
                raise ValueError(
                    f"traced names level {level} of number {number}, of which levels has {there}; name another, or "
                    "trace the number itself: -1"
                )
        return value

    @property
    def trace_size(self) -> int:
        """Numbers that traces and senses add."""
        return self.entities * (len(self.traced) * len(self.gains) + self.senses_size)


def check_fits(layout: Layout, observation: int, features: int, actions: int) -> None:
    """See that a layout names nothing that there is not.

    Args:
        layout: Of observations and actions.
        observation: Numbers of an observation.
        features: Those, and the numbers that traces and senses add.
        actions: Actions of all parts.

    Raises:
        ValueError: it does.
    """
    last = layout.first + layout.entities * layout.size
    if last > observation:
        raise ValueError(
            f"the layout's entities={layout.entities!r} of size={layout.size!r} from first={layout.first!r} on take "
            f"{last} numbers, and observations have {observation}"
        )
    if features != observation + layout.trace_size:
        raise ValueError(
            f"the layout adds {layout.trace_size} numbers to the {observation} of an observation, by traced, gains and "
            f"senses_size, and there are {features} features; there must be {observation + layout.trace_size}"
        )
    columns = [("rest_levels", column) for column, _ in layout.rest_levels]
    for key, column in [*columns, *(("pointers", pointer.column) for pointer in layout.pointers)]:
        if not 0 <= column < observation:
            raise ValueError(f"the layout's {key} name column {column}; an observation has 0 to {observation - 1}")
    for first, count in layout.together:
        if not 0 <= first <= first + count <= actions:
            raise ValueError(
                f"the layout's together names {count} actions from {first} on; there are those from 0 to {actions - 1}"
            )
