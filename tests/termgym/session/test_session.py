"""What one persistent bash promises."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from termgym.errors import SandboxError, SandboxLost
from termgym.event import Event
from termgym.result import StepResult
from termgym.session.capture import decode
from termgym.session.host import host_session, host_terminal
from termgym.session.process import all_pids
from termgym.session.session import Session
from termgym.session.shell import Shell


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with host_session(cwd=str(tmp_path), watch=["COLOUR", "EMPTY", "PWD"]) as session:
        yield session


def test_keeps_state_between_steps(session: Session, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    session.step(b"cd inner; x=1; f() { echo $x$x; }; export y=2; alias g=f", timeout=5)
    result = session.step(b"g; echo $y; pwd", timeout=5)
    assert result.stdout == f"11\n2\n{tmp_path}/inner\n".encode()
    assert result.cwd == f"{tmp_path}/inner"


def test_keeps_streams_apart_and_both_terminals(session: Session) -> None:
    """Programs that ask whether they talk to a terminal behave as they do for a person."""
    result = session.step(b"echo out; echo err >&2; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo tty", timeout=5)
    assert (result.stdout, result.stderr) == (b"out\ntty\n", b"err\n")


@pytest.mark.parametrize("status", [0, 1, 2, 127, 255])
def test_reports_and_carries_over_the_exit_status(session: Session, status: int) -> None:
    result = session.step(b"(exit %d)" % status, timeout=5)
    assert (result.event, result.exit_code) == (Event.NONZERO if status else Event.DONE, status)
    assert session.step(b"echo $?", timeout=5).stdout == b"%d\n" % status


def test_leaves_no_trace_of_its_own_in_the_shell(session: Session) -> None:
    """The agent sees its own functions, variables and history only."""
    session.step(b"false", timeout=5)
    session.step(b"echo " + b"x" * 5000, timeout=5)
    result = session.step(b"declare -F; compgen -v | grep -i '^_*tg'; compgen -e | grep -x PS1; history", timeout=5)
    assert (result.stdout, result.stderr) == (b"", b"")


def test_programs_inherit_the_three_standard_descriptors_alone(session: Session) -> None:
    """Our own lines would let a program forge reports, and a daemon hold them open."""
    names = session.step(b"ls /proc/self/fd", timeout=5).stdout.split()
    assert names == [b"0", b"1", b"2", b"3"]  # 3 is the directory that ls reads


@pytest.mark.parametrize("flags", ["", "-u", "-e", "-x", "-v", "-f", "-k", "-C", "-o posix"])
def test_reports_watched_variables_under_any_option(session: Session, flags: str) -> None:
    session.step(f"set {flags or '--'}; IFS=0123456789".encode(), timeout=5)
    result = session.step("COLOUR=$'a b\\n\\x01é'; EMPTY=".encode(), timeout=5)
    assert result.exit_code == 0
    assert dict(result.variables) == {"COLOUR": "a b\n\x01é", "EMPTY": "", "PWD": result.cwd}


def test_leaves_out_unset_variables(session: Session) -> None:
    session.step(b"COLOUR=x", timeout=5)
    assert set(session.step(b"unset COLOUR", timeout=5).variables) == {"PWD"}


def test_watches_more_variables_for_as_long_as_it_is_told_to(session: Session) -> None:
    """A plan may ask for any variable; reports that look the same are about other variables then."""
    assert dict(session.step(b"SIZE=1 COUNT=1", timeout=5).variables) == {"PWD": session.variables["PWD"]}
    for name in ("SIZE", "COUNT"):
        session.watch_also([name, "PWD"])
        assert dict(session.step(b":", timeout=5).variables) == {"PWD": session.variables["PWD"], name: "1"}
    session.watch_also(())
    assert set(session.step(b":", timeout=5).variables) == {"PWD"}


def test_a_report_on_its_way_is_read_as_it_was_asked_for(session: Session) -> None:
    """The program that waits reports as its own command wanted it, not as the next one does."""
    assert session.step(b"read line", timeout=5).event is Event.WAITING_INPUT
    session.watch_also(["SIZE"])
    assert session.press(b"hello\n", timeout=5).event is Event.DONE
    assert session.step(b"SIZE=2", timeout=5).variables["SIZE"] == "2"
    assert session.alive


def test_watches_more_variables_than_a_terminal_holds_at_once(session: Session) -> None:
    names = [f"{'N' * 250}{number}" for number in range(32)]
    session.watch_also(names)
    result = session.step("\n".join(f"{name}={name}" for name in names).encode(), timeout=5)
    assert {name: result.variables[name] for name in names} == {name: name for name in names}


def test_cuts_a_huge_watched_variable(session: Session) -> None:
    result = session.step(b"printf -v COLOUR '%01000000d' 0", timeout=5)
    assert result.variables["COLOUR"] == "0" * 4096


def test_refuses_what_is_no_variable_name() -> None:
    terminal = host_terminal()
    try:
        with pytest.raises(ValueError, match=r"'x; rm -r' is not a shell variable's name"):
            Session(terminal, watch=["x; rm -r"])
    finally:
        terminal.kill_all()
        for fd in terminal[:5]:
            os.close(fd)


@pytest.mark.parametrize("size", [1, 1499, 1501, 4095, 65_536, 2_000_000])
def test_takes_commands_of_any_length(session: Session, size: int) -> None:
    result = session.step(b"X=" + b"b" * size + b"; echo ${#X}", timeout=20)
    assert result.stdout == b"%d\n" % size


@pytest.mark.parametrize("padding", [0, 3000])
def test_sends_every_byte_verbatim(session: Session, padding: int) -> None:
    """But for NUL, which bash drops from its input; short commands are typed, long ones are not."""
    odd = bytes(byte for byte in range(1, 256) if byte != ord("'"))
    result = session.step(b"printf %s '" + odd + b"' | od -An -v -tx1 -w1" + b" " * padding, timeout=5)
    assert bytes(int(word, 16) for word in result.stdout.split()) == odd
    assert session.step(b"echo a\0b" + b" " * padding, timeout=5).stdout == b"ab\n"


def test_partial_output_survives_a_time_out(session: Session) -> None:
    result = session.step(b"echo before; sleep 30; echo after", timeout=0.3)
    assert (result.event, result.exit_code, result.stdout) == (Event.TIMEOUT, 130, b"before\n")
    assert result.signals == ("^C",)


def test_a_flood_ends_in_time_and_within_the_budget() -> None:
    with host_session(output_limit=1000) as session:
        start = monotonic()
        result = session.step(b"yes", timeout=0.5)
        assert monotonic() - start < 3
        assert result.event is Event.TIMEOUT
        assert len(result.stdout) == 1000
        assert result.stdout_bytes > 100_000
        assert result.truncated


def test_keeps_head_and_tail_of_long_output() -> None:
    with host_session(output_limit=100) as session:
        result = session.step(b"seq 1 10000; seq 1 10000 >&2", timeout=10)
    assert (result.stdout_bytes, result.stderr_bytes) == (48_894, 48_894)
    assert result.stdout.startswith(b"1\n2\n3\n")
    assert result.stderr.endswith(b"9999\n10000\n")
    text = decode(result.stdout, result.stdout_bytes)
    assert "\n[… 48794 bytes left out …]\n" in text


def test_stops_after_silence(session: Session) -> None:
    start = monotonic()
    result = session.step(b"echo x; sleep 30", timeout=60, idle_timeout=0.3)
    assert (result.event, result.stdout) == (Event.TIMEOUT, b"x\n")
    assert monotonic() - start < 5


def test_climbs_until_the_program_is_gone_and_keeps_the_shell(session: Session) -> None:
    command = b"""bash -c 'trap "" INT TERM; echo up; while :; do sleep 0.1; done'"""
    result = session.step(command, timeout=0.5)
    assert (result.event, result.exit_code, result.stdout) == (Event.TIMEOUT, 137, b"up\n")
    assert result.signals == ("^C", "SIGINT", "SIGTERM", "SIGKILL")
    assert session.step(b"echo fine", timeout=5).stdout == b"fine\n"


def test_kills_a_shell_that_nothing_else_stops(session: Session) -> None:
    result = session.step(b"trap '' INT; echo up; while :; do :; done", timeout=0.5)
    assert (result.event, result.exit_code, result.stdout) == (Event.KILLED, 137, b"up\n")
    assert result.signals[-1] == "SIGKILL shell"
    assert not session.alive


STATES = b"""states() { for pid; do read -r _ _ state _ <"/proc/$pid/stat"; printf %s "$state"; done; }"""


def test_who_writes_to_the_terminal_pauses_before_the_shell_is_killed(session: Session) -> None:
    """With a signal pending a shell that sets its terminal has no luck while others write there (Linux 6.3)."""
    session.step(STATES, timeout=5)
    session.step(b"(trap '' INT; exec yes >&2) & on=$!; sleep 100 & held=$!; kill -STOP $held", timeout=5)
    command = b"""trap '' INT; until [[ $(states $on) == T ]]; do :; done"""
    result = session.step(command, timeout=0.5)
    assert (result.event, result.exit_code) == (Event.TIMEOUT, 0)
    assert result.signals[-1] == "SIGSTOP writers"
    assert session.step(b"[[ $(states $on $held) == [RS]T ]]", timeout=5).exit_code == 0
    result = session.step(b"trap '' INT; while :; do :; done", timeout=0.5)
    assert (result.event, result.signals[-2:]) == (Event.KILLED, ("SIGSTOP writers", "SIGKILL shell"))


def test_sets_late_output_apart(session: Session, tmp_path: Path) -> None:
    """What background jobs write between two steps belongs to neither."""
    session.step(b"(while [ ! -e go ]; do sleep 0.01; done; echo late; touch gone) & disown", timeout=5)
    (tmp_path / "go").touch()
    await_path(tmp_path / "gone")
    result = session.step(b"echo mine", timeout=5)
    assert (result.stdout, result.late_output) == (b"mine\n", b"late\n")


def await_path(path: Path) -> None:
    end = monotonic() + 10
    while not path.exists():
        assert monotonic() < end, f"{path} did not appear"


@pytest.mark.parametrize(
    ("prompt", "noise"),
    [("PS1='(venv) '", b""), ("PROMPT_COMMAND='echo PC'", b"PC\n"), ("PROMPT_COMMAND='echo PC; sleep 0.05'", b"PC\n")],
)
def test_sets_prompts_apart(session: Session, prompt: str, noise: bytes) -> None:
    session.step(prompt.encode(), timeout=5)
    session.step(b"true", timeout=5)
    for _ in range(20):
        result = session.step(b"echo mine; echo err >&2", timeout=5)
        assert (result.stdout, result.stderr, result.late_output) == (b"mine\n", b"err\n", noise)


def test_a_swallowed_command_does_not_pass_for_done(session: Session) -> None:
    """A prompt command that reads takes what is typed for the shell."""
    session.step(b"PROMPT_COMMAND='read x'", timeout=5)
    result = session.step(b"echo ran", timeout=2)
    assert result.event not in (Event.DONE, Event.NONZERO)
    assert not session.alive


def test_traces_show_the_agents_commands_alone(session: Session) -> None:
    session.step(b"set -x", timeout=5)
    assert session.step(b"true; (exit 3)", timeout=5).stderr == b"+ true\n+ exit 3\n"
    assert session.step(b"echo $? >/dev/null", timeout=5).stderr == b"+ echo 3\n"
    assert session.step(b"printf x >&2", timeout=5).stderr == b"+ printf x\nx"
    assert session.step(b"set +x", timeout=5).stderr == b"+ set +x\n"
    assert session.step(b"echo quiet", timeout=5).stderr == b""


@pytest.mark.parametrize(
    ("command", "event", "exit_code"),
    [
        (b"exit 3", Event.SHELL_EXITED, 3),
        (b"set -e; false", Event.SHELL_EXITED, 1),
        (b"exec bash -c 'echo hi; exit 5'", Event.SHELL_EXITED, 5),
        (b"exec zsh -f", Event.SHELL_REPLACED, None),
        (b"exec cat", Event.SHELL_REPLACED, None),
        (b"kill -9 $$", Event.KILLED, 137),
        (b"kill -STOP $$", Event.SHELL_EXITED, None),
    ],
)
def test_says_how_the_shell_was_lost(session: Session, command: bytes, event: Event, exit_code: int | None) -> None:
    start = monotonic()
    result = session.step(command, timeout=30)
    assert (result.event, result.exit_code) == (event, exit_code)
    assert monotonic() - start < 10
    assert not session.alive
    with pytest.raises(SandboxLost, match="the shell has ended"):
        session.step(b"true", timeout=5)


def test_lets_a_program_that_took_the_shells_place_run_to_its_end(session: Session) -> None:
    result = session.step(b"exec sh -c 'sleep 0.5; echo end; exit 4'", timeout=30)
    assert (result.event, result.exit_code, result.stdout) == (Event.SHELL_EXITED, 4, b"end\n")


def test_notices_that_the_shell_died_between_two_steps(session: Session) -> None:
    session.step(b"(sleep 0.05; kill -9 $$) & disown", timeout=5)
    result = session.step(b"true", timeout=5)
    while result.event is Event.DONE:
        result = session.step(b"true", timeout=5)
    assert (result.event, result.exit_code) == (Event.KILLED, 137)


def test_restores_the_tty_modes(session: Session) -> None:
    session.step(b"stty raw -echo; stty -F /dev/tty opost onlcr; reset 2>/dev/null >&2; stty echo", timeout=10)
    result = session.step(b"echo a; echo b >&2; stty -a | grep -o -e '-*icanon' -e '-*opost' -e '-*echo '", timeout=5)
    assert (result.stdout, result.stderr) == (b"a\n-opost\nicanon\n-echo \n", b"b\n")


def test_reports_the_directory_even_when_it_is_gone(session: Session, tmp_path: Path) -> None:
    assert session.step(b"mkdir d; cd d; rmdir $PWD", timeout=5).cwd == f"{tmp_path}/d"
    assert session.step(b"cd ..; mkdir 'd (deleted)'; cd d*", timeout=5).cwd == f"{tmp_path}/d (deleted)"


def test_tells_the_exported_variables(session: Session) -> None:
    session.step(b"export A=$'x\\ny=\\xff'; B=hidden; export -f true; set -u; IFS=A; (exit 9)", timeout=5)
    exported = session.exported()
    assert exported["A"] == "x\ny=\udcff"
    assert "B" not in exported
    assert "_" not in exported
    assert session.step(b"echo $?", timeout=5).stdout == b"9\n"


def test_asking_for_variables_changes_no_exit_code_to_come(session: Session) -> None:
    """The status before is carried over; it was once told again of each command that succeeded from then on."""
    assert session.step(b"false", timeout=5).exit_code == 1
    session.exported()
    assert [session.step(command, timeout=5).exit_code for command in (b"true", b"true", b"(exit 3)")] == [0, 0, 3]


def test_refuses_to_ask_a_busy_shell_for_variables(session: Session) -> None:
    session.step(b"cat", timeout=5)
    with pytest.raises(SandboxError, match="waits for input"):
        session.exported()


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_refuses_an_impossible_time_out(session: Session, value: float) -> None:
    with pytest.raises(ValueError, match="positive, finite number of seconds"):
        session.step(b"true", timeout=value)
    with pytest.raises(ValueError, match="positive, finite number of seconds"):
        session.step(b"true", timeout=1, idle_timeout=value)
    assert session.step(b"echo fine", timeout=5).stdout == b"fine\n"


def test_refuses_a_second_step_while_one_runs(session: Session) -> None:
    session.begin(b"sleep 0.1", timeout=5)
    with pytest.raises(RuntimeError, match="a step is running"):
        session.begin(b"true", timeout=5)
    assert session.drive().event is Event.DONE


def test_leaves_nothing_behind(tmp_path: Path) -> None:
    """Processes that left the session, the group and their parent go too; so do descriptors."""
    before = set(os.listdir("/proc/self/fd"))
    commands = [
        b"exit 3",
        b"exec cat",
        b"cat",
        b"yes",
        b"setsid sleep 300 & sleep 300 & (setsid sleep 300 &)",
        b"kill -STOP $$",
    ]
    for command in commands:
        with host_session(env={**os.environ, "LEAK_MARK": str(tmp_path)}) as session:
            session.step(command, timeout=0.3)
            session.close()
    assert set(os.listdir("/proc/self/fd")) == before
    assert [pid for pid in all_pids() if carries(pid, str(tmp_path).encode())] == []


def carries(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def test_starts_whatever_descriptor_number_comes_next() -> None:
    """The numbers 240 to 243 mean something to the shell only; here anything may get them, or hold them."""
    held: list[int] = []
    try:
        while not held or held[-1] < 245:
            held.append(os.open(os.devnull, os.O_RDONLY))
            if held[-1] > 220:
                with host_session() as session:
                    assert session.step(b"echo fine; ls /proc/self/fd | wc -l", timeout=5).stdout == b"fine\n4\n"
    finally:
        for fd in held:
            os.close(fd)


def test_says_what_a_shell_that_does_not_start_said() -> None:
    terminal = host_terminal(env={"PATH": os.environ["PATH"], "LD_PRELOAD": "/nonexistent.so"})
    os.kill(terminal.shell_pid, 9)
    try:
        with pytest.raises(SandboxLost, match="ended"):
            Session(terminal)
    finally:
        terminal.kill_all()
        for fd in terminal[:5]:
            os.close(fd)


def test_says_that_the_shell_ended_between_its_first_answer_and_what_is_looked_at_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its sandbox may be killed at any moment, and that is no missing file."""
    terminal = host_terminal()
    look = Shell._check_sealed

    def ended_before(shell: Shell) -> None:
        shell.kill()
        assert terminal.wait(5) == 137
        look(shell)

    monkeypatch.setattr(Shell, "_check_sealed", ended_before)
    try:
        with pytest.raises(SandboxLost, match="right after its first answer"):
            Session(terminal)
    finally:
        terminal.kill_all()
        for fd in terminal[:5]:
            os.close(fd)


def interrupted(session: Session, command: bytes) -> StepResult:
    """Return the result of a command that is interrupted at its first output."""
    session.begin(command, timeout=60)
    typed = False
    while session.result is None:
        for fd, events in session._lines.poll(max(0.0, session.deadline() - monotonic())):
            session.ready(fd, events)
            if fd == session._terminal.main_fd and not typed:
                typed = session.interrupt()
        session.tick()
    assert typed
    return session.result


def test_a_step_is_interrupted_from_outside(session: Session) -> None:
    """A person's ^C: it ends the command amid its step, and the shell with all it holds goes on."""
    result = interrupted(session, b"kept=here; sh -c 'echo up; exec sleep 300'; echo never")
    assert (result.event, result.exit_code, result.stdout) == (Event.NONZERO, 130, b"up\n")
    assert session.step(b"echo $kept", timeout=5).stdout == b"here\n"


def test_an_interrupt_that_nobody_read_is_not_the_next_programs(session: Session) -> None:
    """A program in raw mode gets the byte as input, and may end without having read it."""
    interrupted(session, b"stty raw; sh -c 'echo up; exec sleep 0.3'; stty sane -echo")
    assert session.step(b"read -r -N 1 -t 5 key", timeout=10).event is Event.WAITING_INPUT


def test_there_is_nothing_to_interrupt_between_steps(session: Session) -> None:
    """A ^C that comes too late must not hit the next command."""
    assert session.interrupt() is False
    session.step(b"true", timeout=5)
    assert session.interrupt() is False
    assert session.step(b"cat", timeout=5).event is Event.WAITING_INPUT
    assert session.interrupt() is False
    assert session.step(b"echo fine", timeout=5).stdout == b"fine\n"
    session.close()
    assert session.interrupt() is False
