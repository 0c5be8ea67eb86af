"""The spaces of the terminal: text that may hold any character, and the dictionary that a step returns."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from rolf.text_space import UnicodeText
from termgym.event import Event
from termgym.outcome import CWD_LIMIT, INSTRUCTION_LIMIT
from termgym.plan import PLAN_LIMIT

MARK_LENGTH = 1_024
"""Room beside the output for the mark that says how much was left out, and for a reason [characters]."""
NO_EXIT_CODE = -1
"""What ``exit_code`` holds when no command ended in the step."""


def action_space() -> UnicodeText:
    """Return the space of actions: the text of a plan, of keystrokes or of a submission."""
    return UnicodeText(PLAN_LIMIT)


def observation_space(output_limit: int) -> spaces.Dict:
    """Return the space of observations.

    Args:
        output_limit: Byte budget of each output stream; a byte makes at most one character.
    """
    return spaces.Dict(
        {
            "instruction": UnicodeText(INSTRUCTION_LIMIT),
            "stdout": UnicodeText(output_limit + MARK_LENGTH),
            "stderr": UnicodeText(output_limit + MARK_LENGTH),
            "cwd": UnicodeText(CWD_LIMIT),
            "exit_code": spaces.Box(NO_EXIT_CODE, 255, (1,), np.int64),
            "event": spaces.Discrete(len(Event)),
            "step": spaces.Box(0, np.iinfo(np.int32).max, (1,), np.int64),
        }
    )
