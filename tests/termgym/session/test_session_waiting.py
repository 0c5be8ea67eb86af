"""Programs that wait for input: noticed at once, typed at, answered, and ended by the next command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from termgym.event import Event
from termgym.session.host import host_session
from termgym.session.keys import to_bytes
from termgym.session.session import Session

PATIENCE = 60.0  # far above what any of it takes: no test here may end by time-out [s]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with host_session(cwd=str(tmp_path)) as session:
        yield session


READERS = [
    "cat",
    "read x",
    "read -s -p 'password: ' x",
    "read -t 50 x",
    "select x in a b; do :; done",
    "while read x; do :; done",
    "x=$(cat)",
    "cat </dev/tty",
    "cat | tr a b",
    "sleep 0.2; cat",
    "sh",
    "bash --norc",
    "python3 -c 'input()'",
    "python3 -c 'import getpass; getpass.getpass()'",
    "python3 -q",
    "less /etc/passwd",
    "vim -u NONE",
    "top",
    "bc -q",
    "sqlite3",
    "script -qc cat /dev/null",
    "setsid -w cat",
    "timeout 50 cat",
    "xargs echo",
]


@pytest.mark.parametrize("command", READERS)
def test_notices_who_waits_and_ends_it_for_the_next_command(session: Session, command: str) -> None:
    start = monotonic()
    result = session.step(command.encode(), timeout=PATIENCE)
    assert (result.event, result.exit_code) == (Event.WAITING_INPUT, None)
    assert session.waiting
    following = session.step(b"echo ran", timeout=PATIENCE)
    assert (following.event, following.stdout, following.stderr) == (Event.DONE, b"ran\n", b"")
    assert following.signals
    assert not session.waiting
    assert monotonic() - start < PATIENCE / 3


WORKERS = [
    "sleep 0.6",
    "sleep 0.6 | cat",
    "timeout 0.6 tail -f /dev/null",
    "sleep 0.6 & wait",
    "(setsid cat &); sleep 0.6",
    "python3 -c 'import time; time.sleep(0.6)'",
    "python3 -c 'import select; select.select([], [], [], 0.6)'",
    "python3 -c 'import select, sys, socket; a, b = socket.socketpair(); select.select([sys.stdin, a], [], [], 0.6)'",
    "script -qc 'sleep 0.6' /dev/null",
    "timeout 0.6 sh -c 'while :; do :; done'",
    "x=$(sleep 0.6)",
    "read -t 0.1 x; sleep 0.5",
]


@pytest.mark.parametrize("command", WORKERS)
def test_takes_nobody_who_works_for_waiting(session: Session, command: str) -> None:
    result = session.step(command.encode(), timeout=PATIENCE)
    assert result.event in (Event.DONE, Event.NONZERO)
    assert result.signals == ()


def test_types_at_a_program_until_it_ends(session: Session, tmp_path: Path) -> None:
    assert session.step(b"cat > file", timeout=PATIENCE).event is Event.WAITING_INPUT
    assert session.press(b"one\n", timeout=PATIENCE).event is Event.WAITING_INPUT
    result = session.press(to_bytes("two Enter C-d"), timeout=PATIENCE)
    assert (result.event, result.exit_code) == (Event.DONE, 0)
    assert (tmp_path / "file").read_bytes() == b"one\ntwo\n"


def test_drives_an_editor(session: Session, tmp_path: Path) -> None:
    assert session.step(b"vim -u NONE -n file", timeout=PATIENCE).event is Event.WAITING_INPUT
    assert session.press(to_bytes("ihello world Esc"), timeout=PATIENCE).event is Event.WAITING_INPUT
    assert session.press(to_bytes(":wq Enter"), timeout=PATIENCE).event is Event.DONE
    assert (tmp_path / "file").read_bytes() == b"hello world\n"


def test_types_where_the_program_reads(session: Session) -> None:
    """Less takes its keys from the terminal of its standard error."""
    assert session.step(b"less /etc/passwd", timeout=PATIENCE).event is Event.WAITING_INPUT
    result = session.press(b"q", timeout=PATIENCE)
    assert (result.event, result.exit_code) == (Event.DONE, 0)


def test_interrupts_by_key(session: Session) -> None:
    session.step(b"cat", timeout=PATIENCE)
    result = session.press(to_bytes("C-c"), timeout=PATIENCE)
    assert (result.event, result.exit_code, result.signals) == (Event.NONZERO, 130, ())
    session.step(b"read x", timeout=PATIENCE)
    result = session.press(to_bytes("C-c"), timeout=PATIENCE)
    assert (result.event, result.exit_code) == (Event.NONZERO, 130)
    assert session.step(b"echo $?", timeout=PATIENCE).stdout == b"130\n"


def test_a_repl_answers_and_waits_again(session: Session) -> None:
    assert session.step(b"python3 -q", timeout=PATIENCE).stdout.endswith(b">>> ")
    result = session.press(to_bytes("6*7 Enter"), timeout=PATIENCE)
    assert result.event is Event.WAITING_INPUT
    assert b"42" in result.stdout
    result = session.press(to_bytes("exit(5) Enter"), timeout=PATIENCE)
    assert (result.event, result.exit_code) == (Event.NONZERO, 5)


def test_rejects_keys_when_nothing_waits(session: Session) -> None:
    result = session.press(b"x\n", timeout=PATIENCE)
    assert result.event is Event.REJECTED
    assert session.step(b"read -t 0.1 x; echo [$x]", timeout=PATIENCE).stdout == b"[]\n"


def test_tells_how_a_program_ended_that_no_longer_waits(session: Session, tmp_path: Path) -> None:
    """Its time-out ran out between two steps; the keys must not fall to the shell."""
    session.step(b"read -t 0.5 x; touch over; false", timeout=PATIENCE)
    end = monotonic() + 10
    while not (tmp_path / "over").exists():
        assert monotonic() < end
    result = session.press(b"x\n", timeout=PATIENCE)
    assert (result.event, result.exit_code) == (Event.NONZERO, 1)
    assert session.step(b"read -t 0.1 x; echo [$x]", timeout=PATIENCE).stdout == b"[]\n"


def test_keys_have_a_time_out_of_their_own(session: Session) -> None:
    session.step(b"read x; echo got $x; sleep 50", timeout=PATIENCE)
    result = session.press(b"it\n", timeout=0.5)
    assert (result.event, result.stdout, result.signals) == (Event.TIMEOUT, b"got it\n", ("^C",))


def test_unread_keystrokes_do_not_reach_the_next_command(session: Session) -> None:
    for rest in (b"true", b"stty -icanon -isig; sleep 50"):  # without isig no ^C empties the terminal's buffer
        session.step(b"read x; " + rest, timeout=PATIENCE)
        session.press(b"one\ntwo\nthree\n", timeout=0.3)
        assert session.step(b"read -t 0.1 x; echo [$x]", timeout=PATIENCE).stdout == b"[]\n"


def test_a_reader_that_outlives_its_parent_is_put_down(session: Session) -> None:
    """It would steal the keystrokes meant for the next program."""
    session.step(b"setsid -w cat", timeout=PATIENCE)
    session.step(b"true", timeout=PATIENCE)
    assert session.step(b"read x; echo [$x]", timeout=PATIENCE).event is Event.WAITING_INPUT
    assert session.press(b"mine\n", timeout=PATIENCE).stdout == b"[mine]\n"


def test_answers_a_program_that_asks(session: Session) -> None:
    command = b"read -p 'Name? ' a; read -s -p 'Password: ' b; echo; echo \"$a/$b\""
    result = session.step(command, timeout=PATIENCE, dialogue=[(r"[Nn]ame", "ann"), (r"Password:\s*$", "s3cret")])
    assert (result.event, result.stdout, result.unanswered) == (Event.DONE, b"\nann/s3cret\n", ())


def test_answers_only_once_the_program_reads(session: Session) -> None:
    """Prompts for passwords throw away what was typed before them."""
    command = b"python3 -c 'import getpass, time; print(\"Password soon\"); time.sleep(0.5); print(getpass.getpass())'"
    result = session.step(command, timeout=PATIENCE, dialogue=[("Password soon", "hunter2")])
    assert (result.event, result.stdout.endswith(b"hunter2\n")) == (Event.DONE, True)


def test_answers_in_whatever_order_it_is_asked_each_once(session: Session) -> None:
    command = b'for q in two one two; do read -t 50 -p "$q? " a; echo "$q=$a"; done'
    result = session.step(command, timeout=PATIENCE, dialogue=[("one", "1"), ("two", "2"), ("three", "3")])
    assert result.event is Event.WAITING_INPUT  # nobody has a second answer to "two"
    assert result.stdout == b"two=2\none=1\n"
    assert result.unanswered == ("three",)


def test_answers_nothing_that_was_asked_before_the_last_answer(session: Session) -> None:
    command = b"read -p 'first? ' a; read -p 'other? ' b"
    result = session.step(command, timeout=PATIENCE, dialogue=[("first", "1"), ("first", "2")])
    assert (result.event, result.unanswered) == (Event.WAITING_INPUT, ("first",))


def test_refuses_a_broken_pattern(session: Session) -> None:
    with pytest.raises(ValueError, match=r"dialogue: '\(' is not a regular expression"):
        session.step(b"true", timeout=PATIENCE, dialogue=[("(", "x")])
    assert session.step(b"echo fine", timeout=PATIENCE).stdout == b"fine\n"


def test_works_where_the_kernel_lets_nobody_look(session: Session) -> None:
    """The second line goes along with the first then, so that unwound commands still report."""
    watcher = session._shell.watcher
    watcher._idle_read = None
    assert not watcher.sees_rest
    result = session.step(b"echo ${nope?gone}", timeout=PATIENCE)
    assert (result.event, result.exit_code) == (Event.NONZERO, 1)
    result = session.step(b"while :; do :; done", timeout=0.3)
    assert (result.event, result.exit_code) == (Event.TIMEOUT, 130)
    assert session.step(b"echo fine; false", timeout=PATIENCE).exit_code == 1
