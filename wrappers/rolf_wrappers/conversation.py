"""Conversation: what was said in an episode so far, as one text of bounded length."""

from __future__ import annotations

from collections import deque

LIMIT = 1 << 18
"""What lies between the first message and the latest may be as long [characters]; the oldest of it is left out."""
ANSWER_LENGTH = 1 << 12
"""Longest answer that is told again in full [characters]."""


class Conversation:
    """Messages and answers in turn, from the beginning of an episode."""

    def __init__(self) -> None:
        self._first = ""
        self._between: deque[str] = deque()
        self._length = 0
        self._left_out = 0

    def answered(self, text: str) -> None:
        """Take note of what the policy wrote."""
        said = text if len(text) <= ANSWER_LENGTH else f"{text[:ANSWER_LENGTH]}… ({len(text)} characters)"
        self._add(f"=== your answer ===\n{said}\n")

    def told(self, message: str) -> str:
        """Return all that was said, this message at its end, and take note of it."""
        if not self._first:
            self._first = f"=== message ===\n{message}\n"
            return self._first
        gap = f"=== {self._left_out} left out ===\n" if self._left_out else ""
        latest = f"=== message ===\n{message}\n"
        whole = "".join([self._first, gap, *self._between, latest])
        self._add(latest)
        return whole

    def _add(self, part: str) -> None:
        self._between.append(part)
        self._length += len(part)
        while self._length > LIMIT:
            self._length -= len(self._between.popleft())
            self._left_out += 1
