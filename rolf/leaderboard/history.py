"""Histories: whether a policy that is called deterministic did the same whenever it had seen the same."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rolf.evaluation.recording import Recorded, steady
from rolf.leaderboard import intake
from rolf.leaderboard.problem import Problems


class Histories:
    """What was done after each history of observations and actions, over all episodes of a submission."""

    def __init__(self) -> None:
        self._done: dict[bytes, tuple[bytes, str, int]] = {}

    def follow(self, trajectory: str, recorded: Recorded, problems: Problems) -> None:
        """Go through an episode of the kind ``steps``; note the first place where it parts from another."""
        assert recorded.steps is not None
        assert recorded.header is not None
        volatile = frozenset(map(str, recorded.header.get("volatile", ())))
        history = _digest(b"", [recorded.env_id, recorded.kwargs, list(recorded.wrappers)])
        for line in recorded.steps:
            if line.kind == "final":
                return
            if line.kind == "step":
                action = _digest(b"", line.content.get("action"))
                known = self._done.setdefault(history, (action, trajectory, line.number))
                if known[0] != action:
                    problems.add(
                        f"{intake.FOLDER}/{trajectory}",
                        f"the policy is declared deterministic, and acted otherwise in {known[1]}, line {known[2]}, "
                        "after the same history",
                        line=line.number,
                        advice="declare deterministic = False and hand in all attempts",
                    )
                    return
                history = _digest(history, line.content.get("action"))
            seen = {key: line.content.get(key) for key in ("observation", "info")}
            history = _digest(history, {key: steady(key, value, volatile) for key, value in seen.items()})


def _digest(before: bytes, value: Any) -> bytes:
    return hashlib.sha256(before + json.dumps(value, sort_keys=True).encode()).digest()
