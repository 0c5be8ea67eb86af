"""Remembering answers about command lines: an agent sends the same ones again, and several rules ask about each."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import Protocol, TypeVar

REMEMBERED_LENGTH = 4096
"""Longest text about which answers are kept [code points]."""
Answer = TypeVar("Answer", covariant=True)


class Question(Protocol[Answer]):
    """Something to be asked about a command line and the directory that the shell stands in before it."""

    def __call__(self, text: str, directory: str | None = None, /) -> Answer:
        """Return the answer."""


def remembered(ask: Question[Answer]) -> Question[Answer]:
    """Return a question about a command line that keeps its latest answers; about long texts it asks anew."""
    kept = lru_cache(maxsize=512)(ask)

    @wraps(ask)
    def asked(text: str, directory: str | None = None, /) -> Answer:
        return kept(text, directory) if len(text) <= REMEMBERED_LENGTH else ask(text, directory)

    return asked
