"""Viewer: keeps what an episode showed, and shows it in the mode asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from termgym.errors import PlanError
from termgym.event import Event
from termgym.outcome import Outcome
from termgym.plan import ActionPlan, Keys, parse_action
from termgym.render.transcript import Transcript, harmless
from termgym.tasks.task import HOME

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NOT_TYPED = (Event.MALFORMED, Event.REJECTED, Event.NOT_RESET)
_REFUSED_LENGTH = 200  # of what is shown of an action that is none [characters]


class Viewer:
    """What a person sees of an environment.

    Args:
        mode: ``ansi``, ``human`` or ``rgb_array``.
        out: Where ``human`` writes.
    """

    def __init__(self, mode: str, out: TextIO) -> None:
        self._mode = mode
        self._out = out
        self._transcript = Transcript()
        self._screen: Any = None
        if mode == "rgb_array":
            from termgym.render.screen import Screen  # pyte and Pillow load only where pictures are wanted

            self._screen = Screen()

    def begin(self, outcome: Outcome) -> None:
        """Begin an episode."""
        self._transcript.clear()
        if self._screen is not None:
            self._screen.clear()
        if outcome.instruction:
            self._transcript.add(f"\x1b[1m{harmless(outcome.instruction.rstrip())}\x1b[0m\n")
        self._transcript.prompt(outcome.cwd, HOME)
        self._show()

    def step(self, action: str, outcome: Outcome) -> None:
        """Add what was typed and what came of it."""
        self._transcript.typed(_as_typed(action, outcome.event))
        self._transcript.shown(outcome.stdout, outcome.stderr)
        if outcome.event is not Event.WAITING_INPUT:
            self._transcript.prompt(outcome.cwd, HOME)
        self._show()

    def _show(self) -> None:
        """``human`` shows at once, as Gymnasium has it, without a call of ``render``."""
        if self._mode == "human":
            encoding = self._out.encoding or "utf-8"
            # Whatever the stream cannot take (half of a surrogate pair, in a C locale any accent) must not end a step.
            self._out.write(harmless(self._transcript.unseen()).encode(encoding, "replace").decode(encoding))
            self._out.flush()
        elif self._screen is not None:
            self._screen.feed(self._transcript.unseen())
        else:
            self._transcript.unseen()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the frame of the mode."""
        if self._mode == "ansi":
            return self._transcript.text()
        if self._screen is not None:
            from termgym.render.picture import picture

            return picture(self._screen)
        return None


def _as_typed(action: str, event: Event) -> str:
    """Return the command or the keys of an action; what is no action as it is, shortened, even if it is no text."""
    try:
        told = None if event in _NOT_TYPED else parse_action(action)
    except PlanError:  # the machine failed while it was being refused
        told = None
    if told is None:
        return harmless(str(action)[:_REFUSED_LENGTH])
    if isinstance(told, ActionPlan):
        return harmless(told.command)
    return harmless(told.keys if isinstance(told, Keys) else "# submitted")
