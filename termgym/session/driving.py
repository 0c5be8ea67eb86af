"""Driver: one epoll loop that brings the steps of many sessions to their results."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from termgym.errors import SandboxError
from termgym.session.lines import AWAKE
from termgym.session.session import Session

_LONGEST_WAIT = 60.0  # [s]; epoll wants a bound, the sessions' own deadlines are what counts


def _eager(epoll: select.epoll, seconds: float) -> list[tuple[int, int]]:
    """Return what is ready within a time; stay awake at first, as ``Lines.poll`` does."""
    found = epoll.poll(0)
    end = time.monotonic() + min(AWAKE, seconds)
    while not found and time.monotonic() < end:
        found = epoll.poll(0)
    return found or epoll.poll(max(0.0, seconds - AWAKE))


class Driver:
    """Watches the terminals of sessions. Descriptors stay registered from step to step; one driver serves one process.

    A session that has its result is not asked again until it is driven again: what a background job then writes waits
    in its pty, as late output of the next step.
    """

    def __init__(self) -> None:
        self._epoll: select.epoll | None = None
        self._owner = 0
        self._watched: dict[Session, Sequence[tuple[int, int]]] = {}
        self._sessions: dict[int, Session] = {}

    def drive(self, sessions: Iterable[Session]) -> dict[Session, SandboxError]:
        """Return when every one of the sessions, in which a step has begun, has its result or has failed.

        Returns:
            What became of the sessions whose machine failed; they have no result.
        """
        epoll = self._ready_epoll()
        running = {session for session in sessions if session.result is None}
        failed: dict[Session, SandboxError] = {}
        for session in running:
            self._watch(session)
        first = min((session.deadline() for session in running), default=0.0)
        while running:
            pause = min(max(0.0, first - time.monotonic()), _LONGEST_WAIT)
            # Many shells need the processors themselves, and keep them awake.
            for fd, events in _eager(epoll, pause) if len(running) == 1 else epoll.poll(pause):
                of = self._sessions.get(fd)  # none: let go earlier in this very batch of events
                if of in running:
                    self._advance(of, running, failed, fd, events)
                    if of in running:
                        first = min(first, of.deadline())
                elif of is not None:
                    self.forget(of)
            if time.monotonic() >= first:
                for session in [session for session in running if session.deadline() <= time.monotonic()]:
                    self._advance(session, running, failed)
                first = min((session.deadline() for session in running), default=0.0)
        return failed

    def _advance(
        self,
        session: Session,
        running: set[Session],
        failed: dict[Session, SandboxError],
        fd: int = -1,
        events: int = 0,
    ) -> None:
        """Tell a session what is ready, or that its time has come."""
        try:
            if fd >= 0:
                session.ready(fd, events)
            else:
                session.tick()
        except SandboxError as error:
            failed[session] = error
            running.discard(session)
            self.forget(session)
            return
        if session.result is not None:
            running.discard(session)
        elif session.interests() is not self._watched[session]:
            self._watch(session)

    def _ready_epoll(self) -> select.epoll:
        if self._epoll is None or self._owner != os.getpid():
            # A forked child shares its parent's epoll instance: what it did there would be done to the parent.
            self._epoll = select.epoll()
            self._owner = os.getpid()
            self._watched.clear()
            self._sessions.clear()
        return self._epoll

    def _watch(self, session: Session) -> None:
        """Register what a session wants to be told of now."""
        wanted = session.interests()
        known = self._watched.get(session, ())
        if wanted is known:  # sessions return the same object for as long as nothing changes
            return
        assert self._epoll is not None
        before, now = dict(known), dict(wanted)
        for fd in before.keys() - now.keys():
            self._epoll.unregister(fd)
            del self._sessions[fd]
        for fd, mask in now.items():
            if fd not in before:
                self._take(fd, session)
                self._epoll.register(fd, mask)
            elif before[fd] != mask:
                self._epoll.modify(fd, mask)
        self._watched[session] = wanted

    def _take(self, fd: int, session: Session) -> None:
        """Note whose descriptor it is; a number that a closed session had is free by now."""
        former = self._sessions.get(fd)
        if former is not None and former is not session:
            self.forget(former)
        self._sessions[fd] = session

    def forget(self, session: Session) -> None:
        """Stop watching a session; must be told before its descriptors are closed and their numbers used again."""
        if self._epoll is None or self._owner != os.getpid():
            return
        for fd, _ in self._watched.pop(session, ()):
            if self._sessions.get(fd) is session:
                del self._sessions[fd]
                with suppress(OSError):  # closed already: the kernel has dropped it
                    self._epoll.unregister(fd)

    def close(self) -> None:
        """Close the loop's own descriptor; the next ``drive`` opens another."""
        if self._epoll is not None and self._owner == os.getpid():
            self._epoll.close()
        self._epoll = None
        self._watched.clear()
        self._sessions.clear()
