"""Verifier, solution, stage: what a task folder brings beside its instruction and its image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TESTS = "/tests"
"""Where the tests appear, once the agent's processes are dead."""
SOLUTION = "/solution"
"""Where the solution appears, for the oracle alone."""
LOGS = "/logs"
"""Where verdicts are written: ``/logs/verifier/reward.json`` or ``reward.txt``."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """A script that says how well the task was done, after the agent is gone."""

    directory: str
    """Host directory that is shown as ``/tests``."""
    command: tuple[str, ...] = ("bash", "/tests/test.sh")
    timeout: float = 600.0
    """[s]"""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    user: str = ""
    """Who runs it; empty: root."""
    format: str = "reward"
    """``reward``: files under /logs/verifier (Harbor). ``pytest``: the summary that pytest wrote (Terminal-Bench 1)."""
    guard: bool = True
    """Whether programs of the image that the agent changed are put back for the time of the verification."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The oracle of a task folder: a script that reaches the goal."""

    directory: str
    """Host directory that is shown as ``/solution``."""
    command: tuple[str, ...] = ("bash", "/solution/solve.sh")
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    timeout: float = 600.0
    """[s]"""


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a task that comes in several: the next begins when the agent submits this one."""

    name: str
    instruction: str
    verifier: Verifier
    solution: Solution | None = None
    workdir: str = ""
    """Host directory whose content is copied into the working directory when the stage begins; empty: none."""
    least_reward: float | None = None
    """The episode ends here where the stage's reward is below; None: it goes on in any case."""
