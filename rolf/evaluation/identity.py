"""Identity: what makes two runs runs of the same evaluation, so that the second may go on where the first stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolf.evaluation.errors import FolderError
from rolf.evaluation.loading import Described, Spec
from rolf.variant import Split

FORMAT = "rolf-submission/1"
LONGEST_NAME, LONGEST_TEXT = 100, 2_000
"""What a board takes [characters]."""


@dataclass(frozen=True, slots=True)
class About:
    """What people say of a policy, for the board."""

    name: str = ""
    """What tables call it; empty: what it calls itself."""
    description: str = ""
    authors: str = ""
    url: str = ""

    def __post_init__(self) -> None:
        for called, text in (("name", self.name), ("description", self.description), ("authors", self.authors)):
            check_text(called, text)
        check_text("url", self.url)


@dataclass(frozen=True, slots=True)
class Identity:
    """What is evaluated."""

    split: Split
    attempts: int
    policy: Spec
    described: Described
    about: About
    lock: Mapping[str, Any]
    """What goes into lock.json."""

    def __post_init__(self) -> None:
        for called in ("name", "description"):
            check_text(called, getattr(self.described, called))

    def submission(self) -> dict[str, Any]:
        """Return what submission.json says of it."""
        about, described = self.about, self.described
        return {
            "format": FORMAT,
            "split": self.split.name,
            "split_digest": self.split.digest,
            "attempts": self.attempts,
            "policy": {
                "name": about.name or described.name,
                "spec": self.policy.text,
                "args": dict(self.policy.args),
                "description": about.description or described.description,
                "authors": about.authors,
                "url": about.url,
                "privileged": described.privileged,
                "deterministic": described.deterministic,
            },
        }

    def check(self, submission: Mapping[str, Any], lock: Mapping[str, Any], folder: Path) -> None:
        """See that a folder is an evaluation of the same, made with the same.

        Raises:
            FolderError: it is not; says what differs.
        """
        begun, mine = _flat(submission, lock), _flat(self.submission(), self.lock)
        differing = [key for key in mine if begun.get(key) != mine[key]]
        if differing:
            lines = [f"  {key}: {_told(begun.get(key))} there, {_told(mine[key])} now" for key in differing]
            wrong = f"{str(folder)!r} holds an evaluation that was begun with something else"
            raise FolderError(f"{wrong}; give another folder, or remove it\n" + "\n".join(lines))


def check_text(called: str, text: str) -> None:
    """See that a board takes what people say of a policy.

    Raises:
        ValueError: it is too long, or not to be shown in one line.
    """
    longest = LONGEST_NAME if called == "name" else LONGEST_TEXT
    if len(text) > longest or not text.isprintable():
        raise ValueError(f"{called} is {text!r:.60}; expected at most {longest} printable characters")


def _flat(submission: Mapping[str, Any], lock: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must be the same: not what people say of a policy, nor the machine."""
    policy = submission.get("policy")
    policy = policy if isinstance(policy, Mapping) else {}
    return {
        "split": submission.get("split"),
        "split's digest": submission.get("split_digest"),
        "attempts": submission.get("attempts"),
        "policy": policy.get("spec"),
        "policy's arguments": policy.get("args"),
        "policy is told the truth": policy.get("privileged"),
        "digest of the policy's file": lock.get("policy_sha256"),
        "attribution": lock.get("attributed"),
        "limits": lock.get("limits"),
        "versions": lock.get("packages"),
    }


def _told(value: Any) -> str:
    return "nothing" if value is None else f"{json.dumps(value):.200}"
