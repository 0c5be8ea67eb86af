"""Terminals: what a spawned bash is connected to."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import termgym
from termgym.session.host import host_session
from termgym.session.terminal import spawn_bash


def test_the_shell_has_job_control_and_a_controlling_terminal() -> None:
    with host_session() as session:
        result = session.step(b"echo $-; tty; sleep 0.01 & ps -o tty= -p $$; stty size", timeout=5)
        flags, tty, name, size = result.stdout.split(b"\n")[:4]
    assert b"m" in flags
    assert b"i" in flags
    assert tty == b"/dev/" + name.strip()
    assert size == b"24 80"


def test_nothing_of_this_process_reaches_the_shell(tmp_path: Path) -> None:
    """Neither inheritable descriptors nor start-up files, nor variables that run code."""
    script = tmp_path / "evil"
    script.write_text("echo EVIL\n")
    env = {**os.environ, "BASH_ENV": str(script), "ENV": str(script), "PROMPT_COMMAND": "echo EVIL", "TMOUT": "1"}
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    try:
        with host_session(env={**env, "HOME": str(tmp_path)}) as session:
            result = session.step(b'ls /proc/$$/fd; history; echo "$TMOUT$PROMPT_COMMAND$ENV$BASH_ENV"', timeout=5)
    finally:
        os.close(read_end)
        os.close(write_end)
    names = {int(name) for name in result.stdout.split()}
    saved = {244, *range(10, 20)}  # where bash keeps its command socket while a command has the screen for input
    assert names - saved == {0, 1, 2, 255, 240, 241, 242, 243}
    assert not list(tmp_path.glob(".*"))


def test_signals_ignored_by_this_process_work_in_the_shell() -> None:
    """As under nohup: bash could not undo it by itself."""
    code = (
        "import signal; [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 3, 15)]\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [2, 15])\n"
        "from termgym.session.host import host_session\n"
        "with host_session() as s: print(s.step(b'sleep 30', timeout=0.3))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert "signals=('^C',)" in done.stdout


def test_passes_descriptors_on_and_slaves_to_their_owner() -> None:
    read_end, write_end = os.pipe()
    spawned = spawn_bash(("env",), env=os.environ, cwd="/", pass_fds=(write_end,), owner=(os.getuid(), os.getgid()))
    os.close(write_end)
    try:
        os.write(spawned.command_fd, b"echo passed >&%d; exit 7\n" % write_end)
        assert os.read(read_end, 100) == b"passed\n"
        assert spawned.process.wait(10) == 7
    finally:
        for fd in (read_end, *spawned[1:]):
            os.close(fd)


def test_refuses_to_pass_the_shells_own_numbers() -> None:
    with pytest.raises(ValueError, match=r"pass_fds: \[241\] belong to the shell's own lines"):
        spawn_bash((), env=os.environ, cwd="/", pass_fds=(241,))


def test_leaves_no_descriptor_open_when_the_program_is_missing(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        spawn_bash((str(tmp_path / "no-such-launcher"),), env=os.environ, cwd="/")
    assert set(os.listdir("/proc/self/fd")) == before


def test_the_supervisor_can_import_it_without_the_rest() -> None:
    """It starts without the package's own imports: standard library only."""
    code = (
        "import sys, types\n"
        "package = types.ModuleType('termgym'); package.__path__ = [sys.argv[1]]; sys.modules['termgym'] = package\n"
        "import termgym.session.terminal\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))"
    )
    source = str(Path(termgym.__file__).parent)
    command = [sys.executable, "-S", "-E", "-c", code, source]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "['__main__', 'termgym']\n"


def test_the_main_terminal_is_a_real_one() -> None:
    with host_session() as session:
        path = session.step(b"tty", timeout=5).stdout.decode().strip()
        assert stat.S_ISCHR(os.stat(path).st_mode)


def test_a_program_cannot_open_the_line_that_drives_its_shell() -> None:
    """Else it could slip in commands, or bytes that spoil the next one."""
    look = b"for fd in /proc/$$/fd/*; do [[ $(readlink $fd) == socket:* ]] && echo echo SLIPPED IN > $fd; done"
    with host_session() as session:
        result = session.step(look, timeout=5)
        after = session.step(b"echo after", timeout=5)
    assert result.stderr.count(b"No such device or address") == 1
    assert (after.stdout, after.stderr, after.late_output) == (b"after\n", b"", b"")


def test_writing_to_a_shell_that_has_ended_does_not_end_this_process() -> None:
    """Programs that let SIGPIPE end them, as command-line tools do, may drive a shell too."""
    code = (
        "import os, signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "from termgym.session.host import host_terminal\n"
        "from termgym.session.shell import Shell\n"
        "terminal = host_terminal(); shell = Shell(terminal, (), 10.0); shell.kill(); terminal.wait(10.0)\n"
        "try: shell.lines.write(terminal.command_fd, b'true\\n')\n"
        "except OSError as error: print('noticed')\n"
        "shell.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, "noticed\n"), done.stderr
