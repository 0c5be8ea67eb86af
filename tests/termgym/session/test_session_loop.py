"""Many sessions in one loop, and the loop's contract."""

from __future__ import annotations

import contextlib
import math
import select
from collections.abc import Sequence
from time import monotonic

from termgym.event import Event
from termgym.result import StepResult
from termgym.session.host import host_session
from termgym.session.session import Session


def drive(sessions: Sequence[Session], limit: float = 60) -> list[StepResult]:
    """Drive all sessions to the end of their steps, as a vector environment does."""
    end = monotonic() + limit
    with select.epoll() as epoll:
        owners: dict[int, Session] = {}
        known: dict[int, Sequence[tuple[int, int]]] = {}
        while running := [session for session in sessions if session.result is None]:
            assert monotonic() < end, "stuck"
            for session in sessions:
                register(epoll, owners, known, session)
            pause = min(session.deadline() for session in running) - monotonic()
            for fd, events in epoll.poll(max(0.0, min(pause, 1.0))):
                owners[fd].ready(fd, events)
            for session in running:
                session.tick()
    return [result for session in sessions if (result := session.result) is not None]


def register(
    epoll: select.epoll, owners: dict[int, Session], known: dict[int, Sequence[tuple[int, int]]], session: Session
) -> None:
    """Follow a session's interests; nothing is to be done while they are the same object."""
    before, now = known.get(id(session), ()), session.interests()
    if before is now:
        return
    for fd in {fd for fd, _ in before} - {fd for fd, _ in now}:
        epoll.unregister(fd)
    for fd, mask in now:
        with contextlib.suppress(FileExistsError):
            epoll.register(fd, mask)
        epoll.modify(fd, mask)
        owners[fd] = session
    known[id(session)] = now


def test_one_loop_drives_sessions_that_do_different_things() -> None:
    commands = [
        b"echo quick",
        b"sleep 0.4; echo slow",
        b"cat",
        b"yes",
        b"exit 3",
        b"while :; do :; done",
        b"X=" + b"b" * 500_000 + b"; echo ${#X}",
        b"exec cat",
    ]
    with contextlib.ExitStack() as opened:
        sessions = [opened.enter_context(host_session(output_limit=100)) for _ in commands]
        for session, command in zip(sessions, commands, strict=True):
            session.begin(command, timeout=1.5)
        events = [result.event for result in drive(sessions)]
        assert events == [
            Event.DONE,
            Event.DONE,
            Event.WAITING_INPUT,
            Event.TIMEOUT,
            Event.SHELL_EXITED,
            Event.TIMEOUT,
            Event.DONE,
            Event.SHELL_REPLACED,
        ]
        alive = [session for session in sessions if session.alive]
        for session in alive:
            session.begin(b"echo again", timeout=5)
        assert [result.stdout for result in drive(alive)] == [b"again\n"] * 6


def test_interests_stay_the_same_object_through_ordinary_steps() -> None:
    """So that a loop over many sessions has nothing to register anew."""
    with host_session() as session:
        interests = session.interests()
        for command in (b"true", b"echo x; echo y >&2", b"cat", b"sleep 0.2"):
            session.step(command, timeout=5)
            assert session.interests() is interests


def test_is_quiet_between_steps() -> None:
    """No clock to serve, and what background jobs write is taken when it comes, so that no loop spins."""
    with host_session() as session:
        session.step(b"(sleep 0.05; echo late) & disown", timeout=5)
        assert session.deadline() == math.inf
        [result] = drive_idle(session)
        assert result.event is Event.DONE
        assert session.step(b"true", timeout=5).late_output == b"late\n"


def drive_idle(session: Session) -> list[StepResult]:
    """Serve an idle session until its descriptors have had something to say and are quiet again."""
    ready = poll_once(session, 10_000)
    assert ready
    for fd, events in ready:
        session.ready(fd, events)
    session.tick()
    assert poll_once(session, 0) == []
    return [result for result in [session.result] if result is not None]


def test_a_session_whose_shell_died_while_idle_is_quiet_too() -> None:
    with host_session() as session:
        session.step(b"(sleep 0.05; kill -9 $$) & disown", timeout=5)
        end = monotonic() + 10
        while ready := poll_once(session, 1000):
            assert monotonic() < end, "spins"
            for fd, events in ready:
                session.ready(fd, events)
        assert session.step(b"true", timeout=5).event is Event.KILLED


def poll_once(session: Session, milliseconds: int) -> list[tuple[int, int]]:
    poll = select.poll()
    for fd, mask in session.interests():
        poll.register(fd, mask)
    return poll.poll(milliseconds)


def test_ticking_early_does_no_harm() -> None:
    with host_session() as session:
        session.begin(b"sleep 0.1; echo done", timeout=5)
        while session.result is None:
            session.tick()
            for fd, mask in session.interests()[:3]:  # the screens and the report pipe, with nothing to read
                session.ready(fd, mask)
        assert session.result.stdout == b"done\n"
