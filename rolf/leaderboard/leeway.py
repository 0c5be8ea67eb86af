"""Leeway: what may differ when an episode is played again, and says nothing against it.

A line is arithmetic and comes out the same in every bit. A terminal is a real machine: it is later now, a directory's
listing says so, a random name is another. Never may a reward differ, nor whether and when the episode ended. Text may
differ in numbers and dates; anything else may where a further repetition differs there as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rolf.difference import shortened
from rolf.evaluation.recording import Recorded
from rolf.replay import again, as_trajectory, final_state, line_differences
from rolf.trajectory import ACTIONS, Line
from rolf.variant import Variant

EXACT = ("reward", "terminated", "truncated")
DATE = re.compile(
    r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?|(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?)\b"
)
NUMBER = re.compile(r"[0-9]+")
SPACE = re.compile(r"\s+")


class Place(NamedTuple):
    """One thing that differs."""

    line: int
    """Line of the file."""
    step: int
    """From 0."""
    field: str
    """``observation.stdout``"""
    recorded: Any
    got: Any

    def __str__(self) -> str:
        recorded, got = shortened(self.recorded, self.got)
        return f"step {self.step}: {self.field} differs: recorded {recorded}, got {got}"


@dataclass(frozen=True, slots=True)
class Repetition:
    """What came of an episode that was played again."""

    wrong: Place | None
    """The first thing that speaks against it."""
    passed: tuple[Place, ...] = ()
    """What differs and was let pass."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """Of the last step."""
    state_digest: str = ""


def repeated(variant: Variant, recorded: Recorded, row: int) -> Repetition:
    """Play an episode again in its variant's environment, and once more where something differs that may.

    Nothing of the recording's header is used: the environment, its arguments and wrappers are those of the variant.

    Args:
        variant: What was played.
        recorded: How it went.
        row: Line of its file, where that holds many.
    """
    first = _play(variant, recorded, row)
    if first.wrong is not None or not first.passed:
        return first
    unlike = [place for place in first.passed if not _alike(place.recorded, place.got)]
    if unlike:
        second = {(place.line, place.field): place.got for place in _play(variant, recorded, row).passed}
        for place in unlike:
            if second.get((place.line, place.field), place.recorded) == place.got:
                return Repetition(place)  # it came out the same twice here, and otherwise in the recording
    return first


def _play(variant: Variant, recorded: Recorded, row: int) -> Repetition:
    """Play it once; whatever is not exact passes here."""
    recipe = as_trajectory(recorded, row)
    sparse = recipe.header.get("format") == ACTIONS
    passed: list[Place] = []
    latest: dict[str, Any] = {}
    with closing(variant.make()) as env:
        volatile: Sequence[str] = list(env.metadata.get("volatile", ()))
        info: Mapping[str, Any] = {}
        for step, line in _numbered(recipe.lines):
            latest = again(env, line, latest)
            info = latest.get("info", info)
            for found in line_differences(line, latest, volatile, sparse=sparse):
                place = Place(line.number, step, *found)
                if sparse or place.field in EXACT:
                    return Repetition(place)
                passed.append(place)
        left = str(final_state(env, info).get("state_digest", ""))
    return Repetition(None, tuple(passed), info, left)


def _numbered(lines: Sequence[Line]) -> Iterator[tuple[int, Line]]:
    """Yield lines with the steps that were taken before."""
    step = 0
    for line in lines:
        yield step, line
        step += line.kind == "step"


def _alike(recorded: Any, got: Any) -> bool:
    """Return whether two texts differ in numbers and dates alone."""
    return isinstance(recorded, str) and isinstance(got, str) and masked(recorded) == masked(got)


def masked(text: str) -> str:
    """Return a text without its numbers, dates and widths of columns."""
    return SPACE.sub(" ", NUMBER.sub("0", DATE.sub("Jan", text)))
