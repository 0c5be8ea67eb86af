"""Answers to a program that asks."""

from __future__ import annotations

from collections.abc import Sequence

import regex

Exchanges = Sequence[tuple[str, str]]
"""(pattern, text) pairs."""
_WINDOW = 8192  # how much of the latest output a pattern is searched in [bytes]
_SEARCH_LIMIT = 0.1  # for one search, since ``(a|aa)+b`` would go on for years [s]


class Dialogue:
    """Pairs of a pattern and what to type; each is used once, the first that matches first."""

    def __init__(self, pairs: Exchanges) -> None:
        self._open: list[tuple[regex.Pattern[str], str]] = []
        for expect, send in pairs:
            try:
                self._open.append((regex.compile(expect, regex.MULTILINE | regex.VERSION0), send))
            except regex.error as error:
                raise ValueError(f"dialogue: {expect!r} is not a regular expression: {error}") from error
        self._seen = {False: b"", True: b""}

    def hear(self, from_error_pty: bool, data: bytes) -> None:
        """Take note of output."""
        self._seen[from_error_pty] = (self._seen[from_error_pty] + data)[-_WINDOW:]

    @property
    def due(self) -> bool:
        """Whether a pattern has appeared since the last answer."""
        return self._match() is not None

    def answer(self) -> bytes | None:
        """Return what to type now that the program reads, or None if nothing that it wrote is expected."""
        match = self._match()
        if match is None:
            return None
        _, send = self._open.pop(match)
        self._seen = {False: b"", True: b""}
        return (send if send.endswith(("\n", "\r")) else send + "\n").encode("utf-8", "surrogateescape")

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The patterns that were not needed so far."""
        return tuple(pattern.pattern for pattern, _ in self._open)

    def _match(self) -> int | None:
        texts = [seen.decode("utf-8", "replace") for seen in self._seen.values() if seen]
        for index, (pattern, _) in enumerate(self._open):
            if any(_found(pattern, text) for text in texts):
                return index
        return None


def _found(pattern: regex.Pattern[str], text: str) -> bool:
    """Return whether a pattern matches; one that cannot be searched in time does not."""
    try:
        return pattern.search(text, timeout=_SEARCH_LIMIT) is not None
    except TimeoutError:
        return False
