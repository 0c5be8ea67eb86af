"""Calls: what a command line would run, as the safety rules ask for it."""

from __future__ import annotations

from typing import NamedTuple


class Call(NamedTuple):
    """One program that the command line would run."""

    name: str
    """Program without its directory."""
    args: tuple[str, ...]
    """Words after quote removal; ``$HOME`` is ``~``, what is unknown stays as it is written."""
    writes: tuple[str, ...] = ()
    """Files that redirections open for writing."""
    reads: tuple[str, ...] = ()
    """Files that redirections open for reading."""
    upstream: tuple[tuple[str, ...], ...] = ()
    """The commands before it in its pipeline, as words."""
    substituted: tuple[str, ...] = ()
    """Programs whose output becomes one of its words or files: ``$(…)``, ``<(…)``."""
    directory: str | None = None
    """Where it runs: where an earlier ``cd`` of the same text has gone, else where the text begins; None: unknown."""
    elevated: bool = False
    """Whether it runs under sudo or the like."""


class CommandLine(NamedTuple):
    """All that one text would run."""

    calls: tuple[Call, ...]
    """In the order of the text."""
    bombs: tuple[str, ...] = ()
    """Functions that start themselves more than once, or in the background."""
