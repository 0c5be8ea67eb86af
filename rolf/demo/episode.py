"""Play a task's symptom and its oracle, or look around where there is no task."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium

from rolf.step import Step, tell

LOOK_AROUND = (
    ("echo 'a line' > note; for n in 1 2 3; do echo $n; done >> note; wc -l < note", 0),
    ("cd /tmp && pwd", 0),
    ("ls /nowhere", 2),
)
"""(command, expected exit code): what is shown of a shell without a task."""


def play(env: gymnasium.Env[Any, Any], observation: Mapping[str, Any]) -> Iterator[Step]:
    """Show what fails in a freshly reset environment, then step through the oracle until the episode ends."""
    for command, action in _actions(env):
        begun = time.perf_counter()
        after, reward, terminated, truncated, info = env.step(action)
        seconds = time.perf_counter() - begun
        yield tell(command, observation, after, float(reward), info, seconds)
        if terminated or truncated:
            return
        observation = after


def _actions(env: gymnasium.Env[Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield commands with the actions that carry them."""
    task: Any = env.unwrapped.task  # type: ignore[attr-defined] # of any environment that has tasks
    for plan in (*task.symptom, *task.oracle):
        yield plan.command, plan.model_dump_json()
    if not task.oracle:
        for command, code in LOOK_AROUND:
            yield command, json.dumps({"command": command, "expected_exit_code": code})
