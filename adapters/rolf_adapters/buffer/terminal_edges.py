"""Edges of a terminal: a command, the files that it changed, and later commands that read them.

What a step changed the environment tells: by its ``diff`` before and after, and for files that the episode itself has
made, whose further changes a ``diff`` from the beginning does not show, by its ``state_digest`` together with what the
command names. What a step reads no environment tells, so it is read off the command's words: a path of a changed file,
of a folder above it, or a pattern that it matches; relative ones from the directory that the shell stood in. What is
only written over is not read.

| kind | from the step that | to the step that |
|---|---|---|
| ``file`` | changed a file | names it |
| ``input`` | left a program waiting | types at it |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rolf_adapters.buffer.command_words import Meant, Word, named_in
from rolf_adapters.buffer.edges import Edges
from rolf_adapters.buffer.graph import Graph

WAITING = "WAITING_INPUT"

Changes = dict[str, tuple[tuple[str, str | None], ...]]
"""Path -> what of it differs from the beginning, and what it is now."""


class TerminalEdges:
    """Listens to a terminal; every step costs a ``diff`` and a digest of its files, some milliseconds.

    Args:
        world: The environment, unwrapped: a `rolf.interface.Tooled` with ``diff``.
    """

    def __init__(self, world: Any) -> None:
        self._world = world

    def begin(self, observation: Any, info: Mapping[str, Any]) -> None:  # noqa: ARG002 - of a reset there is no more
        """Hear what ``reset`` returned."""
        self._edges, self._step = Edges(), 0
        self._changes: Changes = {}
        self._changed: dict[str, int] = {}
        self._digest = self._world.state_digest()
        self._waiting = False
        self._cwd = str(observation["cwd"])
        self._home = self._cwd

    def step(self, action: Any, observation: Any, info: Mapping[str, Any]) -> None:
        """Hear an action, and what came of it."""
        tool, text = self._call(action)
        if tool == "keys" and self._waiting:
            self._edges.add(self._step - 1, self._step, "input")
        words = named_in(text, self._cwd, self._home) if tool == "run" else []
        read = Meant(word for word in words if word.read)
        for path, cause in self._changed.items():
            if path in read:
                self._edges.add(cause, self._step, "file")
        if not info["masked"]:
            over = "diff" in info  # with the last step its machine may be gone
            self._note(
                info["diff"] if over else self._world.diff(),
                info["state_digest"] if over else self._world.state_digest(),
                words,
            )
        self._waiting = info["event"] == WAITING
        self._cwd = str(observation["cwd"])
        self._step += 1

    def graph(self) -> Graph:
        """Return the edges between the steps heard so far."""
        return self._edges.graph()

    def _call(self, action: Any) -> tuple[str, str]:
        try:
            call = self._world.call_of(action)
        except ValueError:  # nothing of it reached the shell
            return "", ""
        return call.tool, str(call.arguments.get("command", ""))

    def _note(self, changes: Iterable[Any], digest: str, words: Sequence[Word]) -> None:
        """Note which paths are other than before the step."""
        now: dict[str, list[tuple[str, str | None]]] = {}
        for change in changes:
            now.setdefault(change.path, []).append((str(change.kind), change.after))
        fresh = {path: tuple(parts) for path, parts in now.items()}
        shown = {path for path in fresh.keys() | self._changes.keys() if fresh.get(path) != self._changes.get(path)}
        if digest != self._digest:
            written = Meant((word for word in words if word.written), inside=False)
            shown |= {path for path in fresh if path in written}
            if not shown:
                named = Meant(words, inside=False)
                shown = {path for path in fresh if path in named}
        self._changed.update(dict.fromkeys(shown, self._step))
        self._changes, self._digest = fresh, digest
