"""Play a task's symptom and its oracle in a real environment."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import gymnasium

from rolf.step import Step, tell


def play_oracle(env: gymnasium.Env[Any, Any], observation: Mapping[str, Any]) -> Iterator[Step]:
    """Show what fails in a freshly reset environment, then step through the oracle until the episode ends."""
    task: Any = env.unwrapped.task  # type: ignore[attr-defined] # of any environment that has tasks
    for plan in (*task.symptom, *task.oracle):
        begun = time.perf_counter()
        after, reward, terminated, truncated, info = env.step(plan.model_dump_json())
        seconds = time.perf_counter() - begun
        yield tell(plan.command, observation, after, float(reward), info, seconds)
        if terminated or truncated:
            return
        observation = after
