"""Key: which step of which environment, and when, by a clock that runs alike in every run.

A step's key is ``env_id:step_id:timestamp``. The time is a logical clock and the caller's: the number of the episode in
the run, say, or ``iteration * rows + row``. It belongs to the episode, so that all steps of one have the same, and an
environment never has two episodes of one time. A clock on the wall would give every run other keys.
"""

from __future__ import annotations

from typing import NamedTuple, Self

LONGEST_ENV_ID = 400
"""Most that an environment's id may be [bytes of UTF-8]: LMDB takes keys up to 511."""
LAST_TIME = 2**63 - 1
_STEP_DIGITS, _TIME_DIGITS = 10, 19


class Key(NamedTuple):
    """What names a step."""

    env_id: str
    """Which environment; colons are allowed."""
    step_id: int
    """Number of the step in its episode, from 0."""
    timestamp: int
    """The episode's time on the caller's logical clock."""

    def __str__(self) -> str:
        return f"{self.env_id}:{self.step_id}:{self.timestamp}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key that a text is.

        Raises:
            ValueError: it is none.
        """
        env_id, *numbers = text.rsplit(":", 2)
        if not env_id or len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
            raise ValueError(f"{text!r} is no key; it is env_id:step_id:timestamp, such as 'line-7:12:3051'")
        return cls(env_id, int(numbers[0]), int(numbers[1]))

    def packed(self) -> bytes:
        """Return bytes that sort by environment, step and time."""
        env_id, step_id, timestamp = self
        return f"{env_id}:{step_id:0{_STEP_DIGITS}}:{timestamp:0{_TIME_DIGITS}}".encode()
