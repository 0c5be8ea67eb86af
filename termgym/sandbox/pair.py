"""A machine and its spare: the next episode's shell is made ready while this one's is used.

Killing, restoring and starting takes the same work either way, but nobody waits for it. A spare is made only once
the same initial state was asked for twice in a row, and only where two trees cost nothing (overlay).
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from termgym.errors import TermGymError, why
from termgym.sandbox.machine import Machine

_STATE = ("key", "env", "preload", "read_only", "budget", "disk_bytes")
"""What in a request a started shell depends on."""


class Started(NamedTuple):
    """A shell that waits for its first command."""

    fds: list[int]
    facts: dict[str, Any]


class Pair:
    """One sandbox of the owner: the machine in use, and at times a second one in waiting."""

    def __init__(self, make: Callable[[str], Machine], *, may_spare: bool) -> None:
        self.machine = make("")
        self._make = make
        self._may_spare = may_spare
        self._other: Machine | None = None
        self._ready: Started | None = None
        self._wanted: tuple[Path, dict[str, Any]] | None = None
        self._signature = ""
        self._no_spare: dict[str, str] = {}
        self.tokens: set[str] = set()
        """Files kept by ``save``; they belong to the machine in use, which then stays in use."""

    @property
    def machines(self) -> list[Machine]:
        """Both, or the one there is."""
        return [self.machine] if self._other is None else [self.machine, self._other]

    def make_builder(self) -> Machine:
        """Return a third machine, for the one who closes it, to build an initial state with."""
        return self._make("s")

    @property
    def urgency(self) -> int:
        """How pressing is what can be done while nobody waits: 2, making a spare; 1, clearing up; 0, nothing."""
        if self._wanted is not None:
            return 2
        return int(any(machine.leftover.there for machine in self.machines))

    def start(self, base: Path, request: dict[str, Any]) -> Started:
        """Return a fresh shell on ``base``: the spare if it is of the kind, else one started now."""
        signature = json.dumps([request[name] for name in _STATE])
        repeated, self._signature = signature == self._signature, signature
        if self._other is not None and not self._may_spare:
            self._other.close()
            self._other = None
        if repeated and self._wanted is not None:
            self._prepare(*self._wanted)
        if repeated and self._ready is not None and not self.tokens:
            started, self._ready = self._ready, None
            assert self._other is not None
            self.machine, self._other = self._other, self.machine
        else:
            self._drop_ready()
            self.machine.kill()
            self.machine.stand_on(base, request)
            started = Started(*self.machine.start_shell())
        self._wanted = (base, request) if repeated and self._can_spare() else None
        started.facts["missing"] = self._no_spare
        return started

    def _can_spare(self) -> bool:
        snapshot = self.machine.snapshot
        return self._may_spare and not self.tokens and snapshot is not None and snapshot.name.startswith("overlay")

    def do_chore(self) -> None:
        """Do what is most urgent."""
        if self._wanted is not None:
            self._prepare(*self._wanted)
            return
        for machine in self.machines:
            machine.leftover.clear()

    def _prepare(self, base: Path, request: dict[str, Any]) -> None:
        """Make the spare ready. If it cannot be, later starts are made without, and their facts say why."""
        self._wanted = None
        try:
            if self._other is None:
                self._other = self._make("b")
            self._other.kill()
            self._other.stand_on(base, request)
            self._ready = Started(*self._other.start_shell())
        except (TermGymError, OSError) as error:
            self._may_spare = False
            self._no_spare = {"spare shell": why(error) if isinstance(error, OSError) else str(error)}
            self._retire()

    def _retire(self) -> None:
        """Close the spare. If even that fails, it stays with us, and the next start says so."""
        if self._other is not None:
            with contextlib.suppress(TermGymError, OSError):
                self._other.close()
                self._other = None

    def _drop_ready(self) -> None:
        if self._ready is not None:
            for fd in self._ready.fds:
                os.close(fd)
            self._ready = None
        self._wanted = None

    def close(self) -> None:
        """Kill and remove both."""
        self._drop_ready()
        with contextlib.ExitStack() as last:
            for machine in self.machines:
                last.callback(machine.close)
        self._other = None
