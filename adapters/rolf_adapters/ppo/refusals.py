"""Refusals: an error that somebody has raised about what he was given, told from a slip in a program.

The one is a mistake in a configuration, and a line says it; of the other the traceback is wanted. Both may be the same
class: an environment raises TypeError where it knows no such argument, and so does Python where None has no length.
"""

from __future__ import annotations

import dis
from types import TracebackType

import gymnasium
from pydantic import ValidationError

REFUSALS = (gymnasium.error.Error, LookupError, TypeError, ValueError)
"""What programs raise of what they are given."""
_RAISE = dis.opmap["RAISE_VARARGS"]
_MAKER = "gymnasium.envs.registration"


def refused(error: Exception) -> bool:
    """Return whether an error says that something was refused: there was a ``raise``, or a call that did not fit.

    Args:
        error: One of `REFUSALS`, as it was caught.
    """
    if isinstance(error, gymnasium.error.Error | ValidationError):
        return True
    last = _last(error.__traceback__)
    if _module(last) == _MAKER and type(error) is type(error.__cause__):
        last = _last(error.__cause__.__traceback__)  # raised anew, with the name of the environment
    if last is None:
        return False
    if _module(last) == _MAKER and isinstance(error, TypeError):
        return True  # the environment was called with what it does not take
    # Of a function in C there is no frame; what it raises has come up in a program that did not expect it.
    return last.tb_frame.f_code.co_code[last.tb_lasti : last.tb_lasti + 1] == bytes([_RAISE])


def _last(at: TracebackType | None) -> TracebackType | None:
    """Return where it was raised."""
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at


def _module(at: TracebackType | None) -> str:
    return "" if at is None else str(at.tb_frame.f_globals.get("__name__", ""))
