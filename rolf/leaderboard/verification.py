"""Verification: the badge that a maintainer gives after he has done it again.

Badges lie in the board's own folder, by the digest of all files of a submission: whoever changes one byte of it loses
the badge, and no submission can bring one along.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rolf import __version__
from rolf.evaluation.atomic import write
from rolf.leaderboard import intake
from rolf.leaderboard.board import Verified
from rolf.leaderboard.submission import Sha256, Text

FILE = "verified.json"


class Badge(BaseModel):
    """Who has done a submission again, and how much of it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    name: Text
    """Folder of the submission when it was verified; for people."""
    by: Annotated[str, Field(min_length=1, max_length=100)]
    how: Literal["replayed", "evaluated"]
    """``replayed``: all recorded actions gave the same; ``evaluated``: the policy itself did it again as well."""
    episodes: Annotated[int, Field(ge=1)]
    """How many were replayed."""
    evaluated: Annotated[int, Field(ge=0)] = 0
    """How many the policy itself played again."""
    version: Text
    """Of rolf."""


class Badges(BaseModel):
    """`verified.json`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    format: Literal["rolf-verified/1"] = "rolf-verified/1"
    badges: dict[Sha256, Badge] = Field(default_factory=dict)
    """By the SHA-256 of the submission's files."""


def read(board: Path) -> Badges:
    """Return the badges of a board's folder.

    Raises:
        ValueError: its file holds something else.
    """
    if not (board / FILE).exists():
        return Badges()
    try:
        return Badges.model_validate(intake.document(board, FILE))
    except (intake.Refused, ValidationError, OSError) as error:
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_context=False)[0]
            said = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        else:
            said = str(error)
        wrong = f"{str(board / FILE)!r} holds no badges: {said:.300}"
        raise ValueError(f"{wrong}; mend it, or remove it and verify the submissions again") from error


def verified(board: Path) -> dict[str, Verified]:
    """Return the badges of a board's folder in the board's terms."""
    return {
        digest: Verified(badge.by, badge.how, badge.episodes, badge.evaluated, badge.version)
        for digest, badge in read(board).badges.items()
    }


def give(board: Path, digest: str, name: str, by: str, *, episodes: int, evaluated: int) -> Badge:
    """Write a badge down.

    Args:
        board: The board's folder.
        digest: Of the submission, as it was when it was looked at.
        name: Of its folder.
        by: Who has done it again.
        episodes: How many were replayed.
        evaluated: How many the policy itself played again.
    """
    how: Literal["replayed", "evaluated"] = "evaluated" if evaluated else "replayed"
    badge = Badge(name=name, by=by, how=how, episodes=episodes, evaluated=evaluated, version=__version__)
    known = read(board)
    badges = Badges(badges={**known.badges, digest: badge})
    write(board / FILE, badges.model_dump_json(indent=2).encode() + b"\n")
    return badge
