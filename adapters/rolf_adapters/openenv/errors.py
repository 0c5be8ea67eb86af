"""What a session answers where there is nothing to observe, as a tree.

SessionError (RuntimeError)
├── NotResetError              no episode has begun, or it is over
├── DeadlineError (TimeoutError)  it took longer than the server allows; the episode is over
└── FaultError                 the environment's machine failed; the episode is over

They travel as text, ``word: what happened``, and the client raises them again.
"""

from __future__ import annotations

import re
from typing import ClassVar


class SessionError(RuntimeError):
    """There is nothing to observe. The session lives on, and may be reset."""

    word: ClassVar[str] = "session"
    """What its text begins with."""

    def __str__(self) -> str:
        return f"{self.word}: {super().__str__()}"


class NotResetError(SessionError):
    """No episode has begun, or it is over."""

    word = "not_reset"


class DeadlineError(SessionError, TimeoutError):
    """It took longer than the server allows; the episode is over."""

    word = "deadline"


class FaultError(SessionError):
    """The environment's machine failed, which is nobody's merit or fault; the episode is over."""

    word = "fault"


KINDS: dict[str, type[SessionError]] = {each.word: each for each in (NotResetError, DeadlineError, FaultError)}
_SAID = re.compile(rf"Server error: ({'|'.join(KINDS)}): (.*) \(code: \w+(?:\.\w+)?\)", re.DOTALL)


def told(error: RuntimeError) -> RuntimeError:
    """Return what an error of OpenEnv's client tells of; itself where it is none of these."""
    found = _SAID.fullmatch(str(error))
    return KINDS[found[1]](found[2]) if found else error
