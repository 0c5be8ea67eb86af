"""Finding: one thing that is wrong with a task folder, and the rules that find them.

Several rules are those of Harbor's own ``harbor lint`` (0.26, ``harbor/lint/models.py``) under other names; they are
told in the table of docs/reference/lint-rules.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    """The task is not fit to be counted."""
    WARNING = "warning"
    """It measures something else on some day or some machine."""
    NOTE = "note"
    """A habit that better tasks do not have."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a rule looks for and what to do about it."""

    severity: Severity
    summary: str
    """What is wrong, in one line."""
    advice: str
    """What to do about it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a rule is broken."""

    rule: str
    path: str
    """File, relative to the task folder; ``.``: the folder."""
    line: int | None
    message: str
    """What is there."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return RULES[self.rule].severity

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{where}: {self.message} [{self.rule}]; {RULES[self.rule].advice}"


_E, _W, _N = Severity
RULES: Mapping[str, Rule] = {
    "unreadable": Rule(_E, "the folder is no task as it stands", "nothing else of it can be played"),
    "unknown-field": Rule(_N, "a field that no schema knows", "remove it, or correct its name"),
    "tests-in-image": Rule(
        _E, "the image holds the tests", "copy what the agent needs by name, or add tests to .dockerignore"
    ),
    "solution-in-image": Rule(
        _E, "the image holds the solution", "copy what the agent needs by name, or add the solution to .dockerignore"
    ),
    "answer-in-image": Rule(
        _W, "the image holds a file with the same content as one of the tests or the solution",
        "make sure that it is an input and not the answer",
    ),
    "crlf-script": Rule(_E, "a script with CR LF or a byte-order mark, which no shell understands", "run dos2unix"),
    "no-shebang": Rule(_W, "a script without #!, so that who starts it decides what runs it", "begin with #!/bin/bash"),
    "no-reward": Rule(
        _W, "nothing among the tests names a reward file", "write a number to /logs/verifier/reward.txt"
    ),
    "reward-before-tests": Rule(
        _W, "success is written down before any test has run, and stays if they are killed",
        "write 0 first, and success after the tests",
    ),
    "reward-lost": Rule(
        _W, "set -e ends the script when a test fails, before the reward is written",
        "write 0 before the tests, or append || to their line",
    ),
    "verifier-network": Rule(
        _W, "the verifier fetches from the network at run time", "put it into the image, or pin it into the tests"
    ),
    "solution-network": Rule(
        _N, "the solution fetches from the network", "say so in the instruction, or put it into the image"
    ),
    "unpinned-image": Rule(_W, "the base image may be another one tomorrow", "name a tag that stays, or a digest"),
    "unpinned-python": Rule(
        _N, "Python packages without a version may be others tomorrow", "pin them with ==, or use a lock file"
    ),
    "unpinned-apt": Rule(
        _N, "Debian packages without a version may be others tomorrow", "pin them with =, or take a snapshot mirror"
    ),
    "no-time-limit": Rule(_W, "a time-out is left to the harness", "set it in the task's configuration"),
    "no-limits": Rule(_W, "memory or processors are left to the harness", "set them under [environment]"),
    "secret": Rule(_W, "something that looks like a key to somebody's account", "revoke it, and put a made-up one"),
    "missing-file": Rule(
        _W, "the instruction names a file that nothing in the folder makes, reads or checks",
        "correct the name, or add the file",
    ),
}  # fmt: skip
"""Every rule, by name."""
