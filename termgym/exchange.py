"""Exchange: an action on its way to the shell, and what is told in the shell's place."""

from __future__ import annotations

from rolf.output import OutputSink
from termgym.checking import watched
from termgym.event import Event
from termgym.plan import ActionPlan, Keys
from termgym.result import StepResult
from termgym.session.keys import to_bytes
from termgym.session.session import Session
from termgym.session.spool import Spooling

REASON_LIMIT = 800
"""Longest reason that is put into ``stderr`` [characters]."""


def send(session: Session, action: ActionPlan | Keys, timeout: float, sink: OutputSink | None) -> None:
    """Send a command or keystrokes.

    Args:
        timeout: when it is stopped [s].
        sink: who wants all of the output.

    Raises:
        ValueError: a key that is none, no program to type at, a dialogue's pattern.
    """
    if sink is not None:
        session.keep_all(Spooling(sink.folder, sink.room))
    if isinstance(action, Keys):
        if not session.waiting:
            raise ValueError("no program waits for input: there is nothing to type at")
        session.begin_keys(to_bytes(action.keys), timeout=timeout)
        return
    session.watch_also(watched(action.validation_steps) if action.validation_steps else ())
    session.begin(
        action.command.encode("utf-8", "surrogateescape"),
        timeout=timeout,
        idle_timeout=action.idle_timeout,
        dialogue=[(exchange.expect, exchange.send) for exchange in action.dialogue],
    )


def refused(event: Event, reason: str, cwd: str) -> StepResult:
    """Return the result of an action that never reaches the shell."""
    return told(StepResult(event, cwd=cwd), reason)


def told(result: StepResult, reason: str) -> StepResult:
    """Return a result with a reason at the end of its ``stderr``."""
    text = reason[:REASON_LIMIT].encode("utf-8", "replace")
    return result._replace(stderr=result.stderr + text, stderr_bytes=result.stderr_bytes + len(text))
