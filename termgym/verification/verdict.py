"""Verdict: the rewards that a verifier gave, read as Harbor 0.26 reads them (harbor/verifier/verifier.py)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from termgym.errors import VerifierError
from termgym.reasons import shorten

JSON, TEXT = "reward.json", "reward.txt"
REWARD = "reward"
"""The name that Harbor gives a single reward, and that its thresholds look at."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verifier said."""

    rewards: Mapping[str, float] = field(hash=False)
    """Every reward by its name; a bare number is called ``reward``."""

    @property
    def reward(self) -> float:
        """The one number: that called ``reward``, else the only one, else the mean of all."""
        if REWARD in self.rewards:
            return self.rewards[REWARD]
        return sum(self.rewards.values()) / len(self.rewards)

    @property
    def gated(self) -> float:
        """What a stage's threshold is compared with, as Harbor does: that called ``reward`` and no other."""
        return self.rewards.get(REWARD, -math.inf)


def read_verdict(files: Mapping[str, bytes], odd: Mapping[str, str], named: frozenset[str]) -> Verdict:
    """Return what reward.json says, else what reward.txt says.

    Args:
        files: What lay under /logs/verifier.
        odd: What lay there and could not be read, and why.
        named: Which of the two the verifier's own files name. If it is only one, the other does not count: a program
            of the agent's that the tests start could write it, and it would come first.

    Raises:
        VerifierError: there is none, or it is no finite number.
    """
    counted = [name for name in (JSON, TEXT) if len(named) != 1 or name in named]
    for name in counted:
        if name in odd:
            raise VerifierError(f"/logs/verifier/{name} {odd[name]}; a verifier writes a regular file with a number")
        if name in files:
            return _from_json(files[name]) if name == JSON else Verdict({REWARD: _from_text(files[name])})
    raise VerifierError(
        f"the verifier wrote no /logs/verifier/{' and no /logs/verifier/'.join(counted)}; "
        "its last act must be to write one of them, whether the task was done or not"
    )


def _from_text(content: bytes) -> float:
    try:
        value = float(content.decode())
    except ValueError:
        raise _malformed(TEXT, content, "holds no number") from None
    return _finite(TEXT, value, content)


def _from_json(content: bytes) -> Verdict:
    try:
        told = json.loads(content.decode())
    except (ValueError, RecursionError):
        raise _malformed(JSON, content, "is no JSON") from None
    rewards = told if isinstance(told, dict) else {REWARD: told}
    if not rewards:
        raise _malformed(JSON, content, "names no reward")
    read: dict[str, float] = {}
    for name, value in rewards.items():
        if not isinstance(value, int | float):
            raise _malformed(JSON, content, f"says {shorten(value)} for {name!r:.60}, which is no number")
        try:
            read[name] = _finite(JSON, float(value), content)
        except OverflowError:
            raise _malformed(JSON, content, f"says a number for {name!r:.60} that is out of range") from None
    return Verdict(read)


def _finite(name: str, value: float, content: bytes) -> float:
    if not math.isfinite(value):
        raise _malformed(name, content, f"says {value}, which is not finite")
    return value


def _malformed(name: str, content: bytes, reason: str) -> VerifierError:
    shown = shorten(content[:200])
    return VerifierError(
        f"/logs/verifier/{name} {reason}: {shown}; allowed are a finite number"
        + (" or a dictionary of finite numbers" if name == JSON else "")
    )
