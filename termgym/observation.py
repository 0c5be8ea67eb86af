"""Observation: outcomes in the form that the observation space describes, one or many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from termgym.outcome import Outcome
from termgym.spaces import NO_EXIT_CODE

Observation = dict[str, Any]


def observe(outcome: Outcome) -> Observation:
    """Return one observation; its arrays are new."""
    code = outcome.exit_code
    return {
        "cwd": outcome.cwd,
        "event": int(outcome.event),
        "exit_code": np.array([NO_EXIT_CODE if code is None else code], dtype=np.int64),
        "instruction": outcome.instruction,
        "stderr": outcome.stderr,
        "stdout": outcome.stdout,
        "step": np.array([outcome.step], dtype=np.int64),
    }


def observe_all(outcomes: Sequence[Outcome]) -> Observation:
    """Return a batch of observations, one an outcome, as Gymnasium batches them: tuples of text, arrays of numbers."""
    codes = [NO_EXIT_CODE if outcome.exit_code is None else outcome.exit_code for outcome in outcomes]
    return {
        "cwd": tuple([outcome.cwd for outcome in outcomes]),
        "event": np.array([outcome.event for outcome in outcomes], dtype=np.int64),
        "exit_code": np.array(codes, dtype=np.int64)[:, None],
        "instruction": tuple([outcome.instruction for outcome in outcomes]),
        "stderr": tuple([outcome.stderr for outcome in outcomes]),
        "stdout": tuple([outcome.stdout for outcome in outcomes]),
        "step": np.array([outcome.step for outcome in outcomes], dtype=np.int64)[:, None],
    }
