"""Saved: a moment of an episode that can be gone back to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from termgym.session.shellstate import ShellState


@dataclass(frozen=True, slots=True)
class Saved:
    """A moment of an episode that ``restore`` can go back to: files, directory, exported variables, judge.

    Processes, functions, aliases and unexported variables are not in it: the shell that answers after ``restore`` is
    a new one.
    """

    token: str
    episode: int
    steps: int
    shell: ShellState
    judge: Mapping[str, Any]
