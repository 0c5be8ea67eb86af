"""Episode and its parts: what is allowed to change, what comes back, and one loop over many shells."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termgym.assignment import sandbox_opener
from termgym.episode import Episode
from termgym.errors import SandboxError, SandboxUnavailable, SnapshotError, TaskError
from termgym.event import Event
from termgym.globs import outside
from termgym.image import Image
from termgym.options import Options
from termgym.outcome import INSTRUCTION_LIMIT
from termgym.plan import plan
from termgym.sandbox.local import LocalSandbox
from termgym.session.driving import Driver
from termgym.session.host import host_terminal
from termgym.session.session import Session
from termgym.session.shellstate import ShellState, quoted
from termgym.snapshot.change import Change, ChangeKind
from termgym.tasks import blank
from termgym.tasks.task import Task

# ---- globs


def strays(globs: tuple[str, ...], *paths: str) -> tuple[str, ...]:
    return outside([Change(path, ChangeKind.CONTENT) for path in paths], globs)


@pytest.mark.parametrize(
    ("glob", "allowed", "refused"),
    [
        ("/srv/a", ["/srv/a"], ["/srv/a/b", "/srv/ab", "/srv"]),
        ("/srv/*", ["/srv/a", "/srv/.a"], ["/srv/a/b", "/srv"]),
        ("/srv/**", ["/srv", "/srv/a", "/srv/a/b/c"], ["/srvx", "/tmp"]),
        ("/srv/**", ["/srv/a\nb", "/srv/a\n/b"], ["/a\nb"]),
        ("/srv/**/log", ["/srv/log", "/srv/a/b/log"], ["/srv/a/logs", "/srv/alog"]),
        ("/srv/*.txt", ["/srv/a.txt"], ["/srv/atxt", "/srv/a/b.txt"]),
        ("/srv/f?", ["/srv/f1"], ["/srv/f", "/srv/f/", "/srv/f12"]),
        ("/srv/a[1]+", ["/srv/a[1]+"], ["/srv/a1"]),
        ("/tmp/new\nline", ["/tmp/new\nline"], ["/tmp/new"]),
    ],
)
def test_globs_allow_what_they_say(glob: str, allowed: list[str], refused: list[str]) -> None:
    assert strays((glob,), *allowed) == ()
    assert strays((glob,), *refused) == tuple(sorted(refused))


def test_a_path_strays_once_however_much_of_it_changed() -> None:
    changes = [Change("/srv/a", ChangeKind.CONTENT), Change("/srv/a", ChangeKind.MODE)]
    assert outside(changes, ()) == ("/srv/a",)


# ---- shell state


@settings(max_examples=60, deadline=None)
@given(
    st.text("a'\"\\ \n$`!~*-", max_size=30)
    | st.text(st.characters(codec="utf-8"), max_size=60)
    | st.binary(max_size=30)
)
def test_bash_reads_a_quoted_word_as_it_was(text: str | bytes) -> None:
    """Variables may hold quotes, line ends and bytes that are no UTF-8; they must come back exactly."""
    value = os.fsdecode(text).replace("\0", "")
    done = subprocess.run([b"bash", b"-c", b"printf %s " + quoted(value)], capture_output=True, check=True)
    assert done.stdout == os.fsencode(value)


def test_only_what_differs_is_set_and_what_is_gone_is_unset() -> None:
    state = ShellState("/tmp", {"A": "1", "SAME": "x", "BASH_FUNC_f%%": "() { :; }", "SHLVL": "7", "PWD": "/tmp"})
    script = state.script({"SAME": "x", "NEW": "y", "SHLVL": "1", "PWD": "/"})
    assert script.decode().splitlines() == [
        "\\builtin export A=1",
        "\\builtin unset -v NEW",
        "\\builtin cd -- /tmp",
    ]


# ---- one loop over many shells


@pytest.fixture
def shells() -> Iterator[list[Session]]:
    """Five shells on the host."""
    terminals = [host_terminal() for _ in range(5)]
    sessions = [Session(terminal) for terminal in terminals]
    yield sessions
    for session, terminal in zip(sessions, terminals, strict=True):
        session.close()
        terminal.kill_all()
        terminal.wait(5.0)


def test_one_loop_drives_many_shells(shells: list[Session]) -> None:
    driver = Driver()
    for round_number in range(3):
        for number, session in enumerate(shells):
            session.begin(f"echo {round_number}.{number}".encode(), timeout=20)
        assert driver.drive(shells) == {}
        results = [session.result for session in shells]
        assert [result.stdout if result else None for result in results] == [
            f"{round_number}.{number}\n".encode() for number in range(5)
        ]
    driver.forget(shells[0])
    driver.forget(shells[0])
    driver.close()


def test_a_driver_keeps_one_descriptor_and_gives_it_back(shells: list[Session]) -> None:
    before = len(os.listdir("/proc/self/fd"))
    driver = Driver()
    for session in shells:
        session.begin(b"true", timeout=20)
    driver.drive(shells)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    driver.close()
    driver.close()
    assert len(os.listdir("/proc/self/fd")) == before


# ---- episodes


def test_a_machine_lost_between_episodes_is_replaced() -> None:
    episode = Episode(sandbox_opener(Options(backend="local-unsafe")), Options(backend="local-unsafe"))
    try:
        episode.start(blank())
        lost: Any = episode._sandbox
        lost._supervisor._process.kill()
        lost._supervisor._process.wait()
        assert episode.start(blank()).event is Event.DONE
        assert episode.step(plan("echo new")).stdout == "new\n"
    finally:
        episode.close()


@pytest.mark.parametrize("fault", [SnapshotError("no space left"), SandboxError("processes are still alive")])
def test_a_machine_that_cannot_begin_is_replaced_once(fault: Exception) -> None:
    """What an episode left may be more than its machine can clear away; a fresh one has nothing to clear."""

    class Stuck(LocalSandbox):
        def start(self, task: Task, *, watch: Sequence[str] = (), image: Image | None = None) -> Session:
            raise fault

    machines = iter((Stuck, LocalSandbox, Stuck, Stuck))
    episode = Episode(lambda: next(machines)(), Options())
    try:
        assert episode.start(blank()).event is Event.DONE
        episode.close()
        with pytest.raises(type(fault), match=str(fault)):
            episode.start(blank())
    finally:
        episode.close()


def test_an_instruction_that_does_not_fit_is_refused() -> None:
    episode = Episode(sandbox_opener(Options()), Options())
    with pytest.raises(TaskError, match=str(INSTRUCTION_LIMIT)):
        episode.start(Task(id="t@0", instruction="x" * (INSTRUCTION_LIMIT + 1)))


def test_an_unavailable_backend_is_told_not_retried() -> None:
    asked = []

    def none_here() -> Any:
        asked.append(1)
        raise SandboxUnavailable("nothing here; install it")

    with pytest.raises(SandboxUnavailable, match="install it"):
        Episode(none_here, Options()).start(blank())
    assert asked == [1]
