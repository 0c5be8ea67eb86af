"""Transcript: an episode as a terminal would have shown it, prompts and commands included."""

from __future__ import annotations

import re
from collections import deque

KEPT = 1 << 20
"""How much of an episode is kept [characters]; the oldest goes first."""
LEFT_OUT = "[… the beginning is left out …]\n"
_PROMPT = "\x1b[1;32magent\x1b[0m:\x1b[1;34m{}\x1b[0m$ "
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"

# ECMA-48: control sequences, control strings (OSC, DCS, SOS, PM, APC) and two-character escapes; what is unfinished at
# the end of a text counts too. Group 1 is the one kind that only colours.
_ESCAPES = re.compile(
    r"(\x1b\[[0-9;:]*m)|\x1b\[[0-?]*[ -/]*(?:[@-~]|$)|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c|$)|\x1b[ -/]*(?:[0-~]|$)"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]",
    re.DOTALL,
)


def harmless(text: str) -> str:
    """Return terminal output with nothing left but text, line ends, tabs and colours.

    What an agent prints may move the cursor, rename the window or write to the clipboard of whoever looks at it.

    Example:
        >>> harmless("\\x1b]52;c;aGk=\\x07a\\x1b[2Jb \\x1b[31mred\\x1b[0m\\r\\n")
        'ab \\x1b[31mred\\x1b[0m\\n'
    """
    return _ESCAPES.sub(lambda found: found.group(1) or "", text)


class Transcript:
    """What was typed and shown in one episode."""

    def __init__(self) -> None:
        self._pieces: deque[str] = deque()
        self._length = 0
        self._dropped = False
        self._unseen: list[str] = []

    def clear(self) -> None:
        """Begin another episode."""
        self._pieces.clear()
        self._length, self._dropped = 0, False
        self._unseen = []

    def prompt(self, cwd: str, home: str) -> None:
        """Add a prompt."""
        inside = cwd == home or cwd.startswith(home + "/")
        self.add(_PROMPT.format(harmless("~" + cwd[len(home) :] if inside else cwd)))

    def typed(self, text: str) -> None:
        """Add what the agent typed, as it was."""
        self.add(text if text.endswith("\n") else text + "\n")

    def shown(self, stdout: str, stderr: str) -> None:
        """Add what came of it; errors are red, and the next prompt stands on a line of its own."""
        if stdout:
            self.add(stdout if stdout.endswith("\n") else stdout + "\n")
        if stderr:
            self.add(f"{_RED}{stderr.removesuffix(chr(10))}{_PLAIN}\n")

    def add(self, text: str) -> None:
        """Add raw terminal output."""
        self._unseen.append(text)
        self._pieces.append(text)
        self._length += len(text)
        while self._length > KEPT and len(self._pieces) > 1:
            self._length -= len(self._pieces.popleft())
            self._dropped = True

    def text(self) -> str:
        """Return the whole transcript, colours kept, nothing else that a terminal would act on."""
        return (LEFT_OUT if self._dropped else "") + harmless("".join(self._pieces))

    def unseen(self) -> str:
        """Return the raw output added since the last call."""
        new = "".join(self._unseen)
        self._unseen = []
        return new
