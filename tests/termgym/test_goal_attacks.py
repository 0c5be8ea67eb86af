"""What an agent tries in order to have a goal's command say yes; each attack is seen to work where nothing guards."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from machines import python_on

from termgym.checking import evaluate
from termgym.checks import CommandSucceeds
from termgym.event import Event
from termgym.reward.facts import CheckResult
from termgym.sandbox import open_sandbox
from termgym.sandbox.local import LocalSandbox
from termgym.session.session import Session
from termgym.tasks.task import HOME, FileSpec, Limits, Task

WATCH = r'''
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

def victim():
    """Return the check's process, told by a word in its command line."""
    while True:
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                line = open(f"/proc/{name}/cmdline", "rb").read()
            except OSError:
                continue
            if b"VICTIM" in line and int(name) != os.getpid():
                return int(name), line
        time.sleep(0.002)

def speak():
    """Write what is wanted to the output of the check."""
    pid, _ = victim()
    open(f"/proc/{pid}/fd/1", "w").write("yes\n")

def swap():
    """Have the file hold what is wanted for as long as the check runs."""
    victim()
    open("state", "w").write("yes\n")

def learn():
    """Keep the command line of the check, which holds the answer."""
    open("learnt", "wb").write(victim()[1])

def leave():
    """Have the check end with 0: at the next instruction it calls exit_group(0) (x86-64)."""
    pid, _ = victim()
    time.sleep(0.1)
    if libc.ptrace(16, pid, 0, 0) < 0:
        sys.exit(1)
    os.waitpid(pid, 0x40000000)
    registers = (ctypes.c_ulong * 27)()
    libc.ptrace(12, pid, 0, ctypes.addressof(registers))
    registers[10], registers[14], registers[15] = 231, 0, 2**64 - 1
    registers[16] -= 2
    libc.ptrace(13, pid, 0, ctypes.addressof(registers))
    libc.ptrace(17, pid, 0, 0)

def hide():
    """Swap, in a child that another process of ours traces: nobody else can trace it then."""
    child = os.fork()
    if child == 0:
        time.sleep(0.2)
        swap()
        time.sleep(60)
    if libc.ptrace(0x4206, child, 0, 0) < 0:
        sys.exit(1)
    print("ready", flush=True)
    time.sleep(60)

if sys.argv[1] != "hide":
    print("ready", flush=True)
globals()[sys.argv[1]]()
'''
FORK = b"""
import os, time
try:
    while os.fork(): pass
except OSError:
    os.close(os.open("full", os.O_CREAT))
time.sleep(60)
"""
TASK = Task(
    id="attacked",
    instruction="",
    files=(
        FileSpec(f"{HOME}/watch.py", WATCH.encode()),
        FileSpec(f"{HOME}/state", b"no\n"),
        FileSpec(f"{HOME}/fork.py", FORK),
        FileSpec(f"{HOME}/lie", b"#!/bin/sh\nprintf 'token\\0'\n", mode=0o755),
    ),
    limits=Limits(memory_bytes=256 << 20, processes=64, disk_bytes=1 << 30),
)


class Attack(NamedTuple):
    """What is prepared in the shell, and the check that it is about, which ought not to pass."""

    prepare: str
    check: CommandSucceeds


def _background(what: str) -> str:
    return f"/usr/bin/python3 watch.py {what} > ready & until grep -q ready ready; do sleep 0.01; done; sleep 0.3"


def _repository(*more: str) -> str:
    return "; ".join(
        ("git init -q r && cd r && echo one > f && git add f && git commit -qm one", *more, "cd ~"),
    )


ATTACKS = {
    "swaps a file meanwhile": Attack(
        _background("swap"), CommandSucceeds(command="# VICTIM\nsleep 1; grep -q yes ~/state")
    ),
    "swaps a file from where no tracer comes": Attack(
        _background("hide"), CommandSucceeds(command="# VICTIM\nsleep 1; grep -q yes ~/state")
    ),
    "modules of the home": Attack(
        'd=$(python3 -I -m site --user-site); mkdir -p "$d"; echo "import os; os._exit(0)" > "$d/usercustomize.py"',
        CommandSucceeds(command="/usr/bin/python3 -c 'import sys; sys.exit(1)'"),
    ),
    "modules of the directory": Attack(
        "mkdir evil; cd evil; echo 'import os; os._exit(0)' > json.py",
        CommandSucceeds(command="/usr/bin/python3 -c 'import json, sys; sys.exit(1)'"),
    ),
    "git settings of the home": Attack(
        _repository("touch left", "echo '*' > ~/all", "git config --global core.excludesFile ~/all"),
        CommandSucceeds(command='test -z "$(git -C ~/r status --porcelain)"'),
    ),
    "a monitor that sees nothing": Attack(
        _repository("git config core.fsmonitor ~/lie", "git status -s", "git status -s", "echo two > f"),
        CommandSucceeds(command='test -z "$(git -C ~/r status --porcelain)"'),
    ),
}
if platform.machine() == "x86_64":
    ATTACKS["ends it by ptrace"] = Attack(_background("leave"), CommandSucceeds(command="# VICTIM\nsleep 1; exit 1"))
ORDINARY = {
    "writes to its output": Attack(
        _background("speak"), CommandSucceeds(command="# VICTIM\nsleep 1; echo no", pattern="^yes$")
    ),
}
"""Attacks that work for an ordinary user alone: as root the check's output is not the agent's to open."""


def asked(attack: Attack) -> Attack:
    """Return an attack on a check that asks one of the agent's programs, so that they go on."""
    return Attack(attack.prepare, attack.check.model_copy(update={"others_run": True}))


@pytest.fixture
def sandbox() -> Iterator[LocalSandbox]:
    opened = open_sandbox("local")
    assert isinstance(opened, LocalSandbox)
    yield opened
    opened.close()


def attacked(sandbox: LocalSandbox, attack: Attack, *, impartial: bool) -> CheckResult:
    """Return what comes of a check in a shell in which everything is prepared."""
    session = sandbox.start(TASK)
    result = session.step(attack.prepare.encode(), timeout=30)
    assert result.event in (Event.DONE, Event.NONZERO), result
    return evaluate(attack.check, sandbox, result, result.cwd or HOME, HOME, impartial=impartial)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_goal_is_not_swayed(sandbox: LocalSandbox, name: str) -> None:
    """The first line shows that the attack is one: against a step of the agent's own validation it works."""
    assert attacked(sandbox, ATTACKS[name], impartial=False).passed
    assert not attacked(sandbox, ATTACKS[name], impartial=True).passed


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the attack is written in registers of x86-64")
def test_a_goal_that_asks_a_program_is_out_of_its_reach(sandbox: LocalSandbox) -> None:
    """Nothing can stand still then, but no program of the agent's can trace the check."""
    attack = asked(ATTACKS["ends it by ptrace"])
    assert attacked(sandbox, attack, impartial=False).passed
    assert not attacked(sandbox, attack, impartial=True).passed


@pytest.mark.slow
def test_an_ordinary_users_goal_is_not_swayed_either() -> None:
    """There the agent's user is the caller's own, on whichever side of the sandbox."""
    folder = os.path.dirname(__file__)
    code = f"""
import sys
sys.path[:0] = [{folder!r}, {os.path.join(folder, "..", "shared")!r}]
from test_goal_attacks import ATTACKS, ORDINARY, asked, attacked
from termgym.sandbox import open_sandbox
sandbox = open_sandbox("local")
assert sandbox.capabilities()["isolation"] == "userns"
to_ask = [asked(each) for name, each in (*ATTACKS.items(), *ORDINARY.items()) if "ptrace" in name or "output" in name]
for attack in (*ATTACKS.values(), *ORDINARY.values(), *to_ask):
    assert attacked(sandbox, attack, impartial=False).passed, attack
    assert not attacked(sandbox, attack, impartial=True).passed, attack
sandbox.close()
"""
    done = python_on(code, user=True)
    assert done.returncode == 0, done.stderr


def test_nobody_learns_what_a_goal_wants(sandbox: LocalSandbox) -> None:
    """Command lines are there for all to read, and a goal's may hold the answer."""
    learn = Attack(_background("learn"), CommandSucceeds(command="# VICTIM the answer is 42\nsleep 0.5; false"))
    attacked(sandbox, learn, impartial=False)
    assert b"42" in (sandbox.read_file(f"{HOME}/learnt") or b"")
    attacked(sandbox, learn, impartial=True)
    assert b"42" not in (sandbox.read_file(f"{HOME}/learnt") or b"")


def test_what_never_swayed_a_check(sandbox: LocalSandbox) -> None:
    """Start-up files, variables and programs of the agent's own; a check begins with none of them."""
    lures = (
        "for f in .bashrc .profile .bash_profile .bash_login .pam_environment; do echo 'exit 0' > ~/$f; done",
        "mkdir bin; printf '#!/bin/sh\\nexit 0\\n' | tee bin/{grep,false,bash,env} > /dev/null; chmod 755 bin/*",
        "export PATH=~/bin:$PATH BASH_ENV=~/.bashrc ENV=~/.bashrc PYTHONSTARTUP=~/x LD_PRELOAD=~/x CDPATH=~ IFS=x",
        "export PYTHONPATH=~/evil; grep() { return 0; }; false() { return 0; }; export -f grep false; alias false=true",
    )
    for impartial in (False, True):
        lured = Attack("\n".join(lures), CommandSucceeds(command="false || grep -q nothing /etc/passwd"))
        assert not attacked(sandbox, lured, impartial=impartial).passed


def test_a_storm_of_processes_does_not_keep_a_goal_from_passing(sandbox: LocalSandbox) -> None:
    """What is held includes what is born while the others are being held."""
    storm = "(while :; do (sleep 0.001 &) ; done) & sleep 0.2; true"
    verdict = attacked(sandbox, Attack(storm, CommandSucceeds(command="true")), impartial=True)
    assert verdict.passed, verdict.detail


STARVE = {
    "of processes": ("/usr/bin/python3 fork.py & until test -e full; do sleep 0.1; done", "grep -q yes ~/state"),
    "of memory": (
        "head -c 240M /dev/zero > big",
        "! (head -c 64M /dev/zero | tail -c 60M; cat ~/state) | sort -S 60M | grep -q no",
    ),
}


@pytest.mark.parametrize("what", STARVE)
def test_a_starved_goal_does_not_pass(sandbox: LocalSandbox, what: str) -> None:
    """A program that could not run must not count as one that said no, which is what some checks want to hear."""
    prepare, command = STARVE[what]
    wanted = CommandSucceeds(command=command, exit_code=1 if what == "of processes" else 0)
    for impartial in (False, True):
        verdict = attacked(sandbox, Attack(prepare, wanted), impartial=impartial)
        assert not verdict.passed
        assert "says nothing" in verdict.detail
    assert sandbox.run(["true"]).exit_code == 0 or what == "of processes"


def _do(session: Session, command: str) -> str:
    result = session.step(command.encode(), timeout=10)
    return (result.late_output + result.stdout + result.stderr).decode()


COUNT = """
import os, signal
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
for _ in range(3000):
    os.kill(os.getpid(), signal.SIGUSR1)
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0) if len(seen) % 10 == 0 else None
print(len(seen))
"""


def test_what_was_held_does_not_notice(sandbox: LocalSandbox) -> None:
    """It loses no signal and no child, jobs stay as they were and say nothing, and who waits for input goes on so."""
    session = sandbox.start(TASK)
    check = CommandSucceeds(command="true")
    session.begin(f"/usr/bin/python3 -c '{COUNT}'".encode(), timeout=60)
    held = 0
    while session.result is None:
        for fd, events in session._lines.poll(max(0.0, min(0.01, session.deadline() - time.monotonic()))):
            session.ready(fd, events)
        session.tick()
        held += evaluate(check, sandbox, None, HOME, HOME, impartial=True).passed
    assert held > 10
    assert session.result.stdout == b"3000\n"

    _do(session, "sleep 300 & sleep 301 & kill -STOP %2; until jobs | grep -q Stopped; do :; done")
    before = _do(session, "jobs")
    assert evaluate(check, sandbox, None, HOME, HOME, impartial=True).passed
    assert _do(session, "jobs") == before
    assert "Running" in before
    assert session.step(b"cat", timeout=10).event is Event.WAITING_INPUT
    assert evaluate(check, sandbox, None, HOME, HOME, impartial=True).passed
    assert session.press(b"still\n", timeout=10).stdout == b"still\n"


def test_a_goal_may_ask_a_program_of_the_agents(sandbox: LocalSandbox) -> None:
    """A service answers only if it runs; a check says so, or waits in vain."""
    session = sandbox.start(TASK)
    _do(session, 'mkfifo ask tell; (read -r x < ask; echo "$x too" > tell) & sleep 0.1')
    asked = CommandSucceeds(command="echo me > ~/ask & timeout 2 cat ~/tell", pattern="^me too$", timeout=5)
    assert not evaluate(asked, sandbox, None, HOME, HOME, impartial=True).passed
    open_ended = asked.model_copy(update={"others_run": True})
    assert evaluate(open_ended, sandbox, None, HOME, HOME, impartial=True).passed
