"""Cast: what a terminal shows, as the events of an asciicast, the format of asciinema and its players.

https://docs.asciinema.org/manual/asciicast/v2/
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

COLUMNS, LINES = 80, 24
HEADER: Mapping[str, int] = {"version": 2, "width": COLUMNS, "height": LINES}
"""First line of a file."""
CLEAR = "\x1b[2J\x1b[H"

Event: TypeAlias = tuple[float, str, str]
"""When [s], what kind (``o`` output, ``m`` marker), and what."""


def begun(now: float, episode: int, observation: Mapping[str, Any]) -> tuple[Event, Event]:
    """Return the beginning of an episode, counted from 1: a marker, then a clear screen with what is told."""
    told = observation.get("instruction", "")
    shown = CLEAR + on_screen(f"{told}\n" if told else "") + prompt(observation)
    return (now, "m", f"episode {episode}"), (now, "o", shown)


def entered(now: float, action: Any) -> Event:
    """Return how a command comes to stand behind the prompt."""
    return now, "o", on_screen(typed(action) + "\n")


def answered(now: float, observation: Mapping[str, Any]) -> Event:
    """Return what a command put out, and the next prompt."""
    shown = observation["stdout"] + observation["stderr"]
    shown += "" if not shown or shown.endswith("\n") else "\n"
    return now, "o", on_screen(shown) + prompt(observation)


def prompt(observation: Mapping[str, Any]) -> str:
    """Return what the shell asks with."""
    return f"{observation['cwd']}$ "


def on_screen(text: str) -> str:
    """Return text as a terminal wants it: to the next line and back to its start."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def typed(action: Any) -> str:
    """Return the command or the keys that a JSON action holds, or the action itself."""
    try:
        told = json.loads(action)
    except (TypeError, ValueError):
        return str(action)
    return str(told.get("command", told.get("keys", action))) if isinstance(told, dict) else str(action)
