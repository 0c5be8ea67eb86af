"""Rows: episodes as lines of a result file, and what all of them come to."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from rolf.evaluation.episode import Episode
from rolf.variant import canonical

FAULTS_ALLOWED = 0.02
"""Share of the episodes that the machine may fail in; more, and the result says too little of the policy."""


def as_json(episode: Episode) -> dict[str, Any]:
    """Return an episode as plain data, with ``malformed`` where any step was."""
    plain = {field.name: getattr(episode, field.name) for field in dataclasses.fields(episode)}
    plain["measures"] = dict(episode.measures)
    plain["attribution"] = dict(episode.attribution)
    if not episode.malformed:
        del plain["malformed"]
    return plain


def from_json(plain: Any) -> Episode:
    """Return the episode that `as_json` told.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(plain, dict) or plain.keys() | {"malformed"} != KEYS:
        raise ValueError(f"no row of a result file but {plain!r:.100}")
    return Episode(**plain)


def line(episode: Episode) -> bytes:
    """Return the line of a result file.

    Raises:
        ValueError: a figure is not finite.
    """
    return json.dumps(as_json(episode), allow_nan=False).encode() + b"\n"


def ordered(episodes: Iterable[Episode]) -> list[Episode]:
    """Return episodes in the order of a result file."""
    return sorted(episodes, key=lambda episode: (episode.index, episode.attempt))


def results_digest(episodes: Iterable[Episode]) -> str:
    """Return the SHA-256 of all results but the time that they took, in their order."""
    whole = hashlib.sha256()
    for episode in ordered(episodes):
        plain = as_json(episode)
        del plain["seconds"]
        whole.update(canonical(plain) + b"\n")
    return whole.hexdigest()


def summary(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Return what the results come to: counts, and means over the episodes without fault, None where there is none."""
    counted = [episode for episode in ordered(episodes) if not episode.fault]
    return {
        "episodes": len(episodes),
        "faults": len(episodes) - len(counted),
        "success": _mean([float(bool(episode.success)) for episode in counted]),
        "score": _mean([float(episode.score or 0.0) for episode in counted]),
        "episode_return": _mean([episode.episode_return for episode in counted]),
    }


def valid(faults: int, episodes: int) -> bool:
    """Return whether few enough episodes were lost to the machine."""
    return faults <= FAULTS_ALLOWED * episodes


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


KEYS = frozenset(field.name for field in dataclasses.fields(Episode))
