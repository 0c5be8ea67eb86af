"""Terminal episodes as the page shows them: a cast for the player, and every step in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rolf import cast
from rolf.evaluation.recording import Recorded
from rolf.leaderboard.page.confinement import confined
from rolf.leaderboard.page.protection import Raw
from rolf.leaderboard.page.text import printed, shortened, title, visible
from rolf.step import tell

STEPS = 200
"""Steps shown of an episode."""
CHANGES = 100
"""Differing files shown."""
CHECKS = 60
"""Checks shown of a step."""
COMMAND = 2_000
"""Longest command that is shown whole [characters]."""
SEEN = frozenset({"stdout", "stderr", "cwd"})
"""What the observation of a terminal has."""
READING, RUNNING = 1.6, 0.5
"""How long the player shows an output before the next command, and a command before its output [s]; how long they took
is no part of a trajectory."""


def is_terminal(recorded: Recorded) -> bool:
    """Return whether an episode is one of a terminal."""
    if recorded.kind != "steps" or not recorded.steps:
        return False
    observation, first = recorded.steps[0].content.get("observation"), recorded.steps[1].content.get("info")
    if not isinstance(observation, dict):
        return False
    # A rotated interface says in a message of its own what the terminal said.
    rotated = "message" in observation and isinstance(first, dict) and "reward_terms" in first
    return rotated or observation.keys() >= SEEN


def terminal_view(recorded: Recorded, most: int) -> dict[str, Any]:
    """Return an episode as plain data.

    Args:
        recorded: The episode.
        most: Characters shown of each output.

    Raises:
        KeyError, TypeError, ValueError: it is not of the shape that a terminal's episodes have.
    """
    assert recorded.steps is not None
    contents = [line.content for line in recorded.steps]
    begun, steps, final = contents[0], contents[1:-1], contents[-1]
    seen = [_seen(each["observation"]) for each in (begun, *steps)]
    recording = _Recording(seen[0], most)
    shown = []
    for number, (step, earlier, later) in enumerate(zip(steps[:STEPS], seen, seen[1:], strict=False), start=1):
        at = recording.add(number, cast.typed(_single(step["action"])), later)
        shown.append(_step(step, earlier, later, most) | {"at": at})
    changes = final.get("diff") or []
    return {
        "kind": "terminal",
        "instruction": printed(str(seen[0]["instruction"]), COMMAND),
        "system": printed(str(begun["observation"].get("system", "")), most),
        "steps": shown,
        "steps_left_out": max(0, len(steps) - STEPS),
        "cast": Raw(recording.text()),
        "diff": [_change(change) for change in changes[:CHANGES]],
        "diff_left_out": max(0, len(changes) - CHANGES),
        "state_digest": recorded.state_digest,
        "unknown": str(final.get("unknown", "")),
    }


class _Recording:
    """The cast of an episode, while it grows."""

    def __init__(self, observation: Mapping[str, Any], most: int) -> None:
        self._most = most
        self._now = 0.0
        self._events: list[cast.Event] = list(cast.begun(0.0, 1, self._tamed(observation)))

    def add(self, number: int, typed: str, seen: Mapping[str, Any]) -> float:
        """Add a step and return when it begins [s]."""
        command = shortened(visible(typed), self._most)
        begins = round(self._now + READING, 3)
        self._now = round(begins + RUNNING, 3)
        self._events += [
            (begins, "m", f"{number} {title(command, 40)}"),
            cast.entered(begins, json.dumps({"command": command})),
            cast.answered(self._now, self._tamed(seen)),
        ]
        return begins

    def text(self) -> str:
        """Return it as a file."""
        # A last moment to look at what came out.
        ending = (self._now + READING, "o", "")
        return "\n".join(json.dumps(each) for each in (cast.HEADER, *self._events, ending))

    def _tamed(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        keys = ("instruction", "stdout", "stderr", "cwd")
        return {key: confined(shortened(str(observation[key]), self._most)) for key in keys}


def _seen(observation: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a terminal shows; a message of a rotated interface as its output."""
    if observation.keys() >= SEEN:
        return {"instruction": "", "exit_code": [-1], **observation}
    # The first message is the instruction; of the others none is shown in its place.
    return {
        "stdout": observation["message"],
        "stderr": "",
        "cwd": "",
        "instruction": observation["message"],
        "exit_code": [-1],
    }


def _step(step: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], most: int) -> dict[str, Any]:
    info = step["info"]
    told = tell(cast.typed(_single(step["action"])), before, after, float(step["reward"]), info, 0.0)
    return {
        "cwd": title(told.cwd, 100),
        "command": shortened(visible(told.command), COMMAND),
        "stdout": printed(told.stdout, most),
        "stderr": printed(told.stderr, most),
        "event": title(told.event),
        "exit": told.exit_code,
        "reward": told.reward,
        "terms": [[title(name), float(value)] for name, value in told.terms.items() if value],
        "checks": [[title(check, 300), passed] for check, passed in told.checks[:CHECKS]],
        "checks_left_out": max(0, len(told.checks) - CHECKS),
        "charges": [title(charge, 300) for charge in told.charges],
        "notes": _notes(info),
    }


def _notes(info: Mapping[str, Any]) -> list[str]:
    """Return what else happened in a step."""
    said = {
        "output_truncated": "the agent saw only a part of the output",
        "respawned": "the shell died and was started anew",
        "masked": "the machine failed, and the step does not count",
    }
    notes = [words for key, words in said.items() if info.get(key)]
    interface = info.get("interface")
    if isinstance(interface, Mapping) and interface.get("malformed"):
        notes.append(f"not understood: {title(interface['malformed'], 200)}")
    if info.get("failure_kind"):
        notes.append(f"the machine failed: {title(info['failure_kind'])}")
    return notes


def _single(action: Any) -> Any:
    """Return an action out of the batch of one that a trajectory holds."""
    return action[0] if isinstance(action, Sequence) and not isinstance(action, str) and len(action) == 1 else action


def _change(change: Any) -> list[str]:
    if isinstance(change, Mapping):
        change = [change["path"], change["kind"], change["before"], change["after"]]
    path, kind, before, after = change
    return [title(path, 300), title(kind), title(before or "", 80), title(after or "", 80)]
