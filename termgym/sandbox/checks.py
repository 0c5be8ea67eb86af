"""The behaviours that every sandbox must show, for people who write one.

>>> from termgym.sandbox.checks import self_check          # doctest: +SKIP
>>> for verdict in self_check(lambda: MySandbox()):        # doctest: +SKIP
...     print(verdict.name, verdict.passed, verdict.reason)

Every check takes a fresh, unstarted sandbox and raises ``Unfit`` with what it saw. No test framework is needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from termgym.errors import TermGymError
from termgym.event import Event
from termgym.result import StepResult
from termgym.sandbox.protocol import Sandbox
from termgym.session.session import Session
from termgym.snapshot.change import ChangeKind
from termgym.tasks.task import HOME, FileSpec, Limits, Task

_TASK = Task(
    id="sandbox-check",
    instruction="",
    files=(
        FileSpec(f"{HOME}/notes.txt", b"one\ntwo\n"),
        FileSpec(f"{HOME}/bin/hello", b"#!/bin/sh\necho hello\n", 0o755),
    ),
    limits=Limits(memory_bytes=256 << 20, processes=64, file_bytes=64 << 20, disk_bytes=128 << 20),
)

SURVIVORS = {
    "background": "sleep 300 & sleep 300 & echo up",
    "setsid": "setsid sleep 300 & disown; echo up",
    "double fork": "(setsid sh -c 'sleep 300 & sleep 300 &' &); echo up",
    "ignores signals": "sh -c 'trap \"\" INT TERM HUP QUIT; while :; do sleep 0.1; done' & disown; echo up",
    "own process groups": "set -m; for i in 1 2 3; do sleep 300 & done; echo up",
    "respawner": "setsid sh -c 'while :; do sh -c \"sleep 0.05\" & sleep 0.02; done' & disown; echo up",
}
"""Programs that try to outlive the episode."""


_FORK_OFTEN = (
    "import os, signal\nchildren = []\n"
    "try:\n  for _ in range(200):\n    pid = os.fork()\n    if not pid: signal.pause()\n    children.append(pid)\n"
    "except OSError: pass\nprint(len(children))\nfor pid in children: os.kill(pid, 9)"
)


class Unfit(TermGymError, AssertionError):
    """A sandbox does not behave as it must."""


class Verdict(NamedTuple):
    """What came of one check."""

    name: str
    passed: bool
    reason: str


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise Unfit(message)


def _until(look: Callable[[], object], seconds: float = 5.0) -> bool:
    """Return whether ``look`` finds something within a time."""
    end = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.01)
    return bool(found)


def _do(session: Session, command: str, timeout: float = 10.0) -> StepResult:
    return session.step(command.encode(), timeout=timeout)


def _says(session: Session, command: str, expected: str) -> None:
    result = _do(session, command)
    text = result.stdout.decode("utf-8", "replace").strip()
    _expect(text == expected, f"`{command}` printed {text!r} and {result.stderr!r}, not {expected!r}")


def starts_in_the_initial_state(sandbox: Sandbox) -> None:
    """The files of the task are there, belong to the agent, and the shell stands in $HOME."""
    session = sandbox.start(_TASK)
    _says(session, "cat notes.txt", "one\ntwo")
    _says(session, "./bin/hello", "hello")
    _says(session, '[ "$PWD" = "$HOME" ] && test -O notes.txt && test -w . && echo ok', "ok")
    _expect(sandbox.diff() == (), f"a fresh start already shows changes: {sandbox.diff()[:5]}")


def goes_back_on_start(sandbox: Sandbox) -> None:
    """Whatever was changed is undone by the next start."""
    session = sandbox.start(_TASK)
    before = sandbox.digest()
    _do(session, "rm notes.txt; echo x > new; chmod 700 bin; mkdir -p a/b; ln -s a c; export LEFT=1")
    kinds = {(change.path, change.kind) for change in sandbox.diff()}
    for wanted in (("/home/agent/notes.txt", ChangeKind.REMOVED), ("/home/agent/new", ChangeKind.ADDED)):
        _expect(any(p.endswith(wanted[0]) and k == wanted[1] for p, k in kinds), f"the diff lacks {wanted}: {kinds}")
    session = sandbox.start(_TASK)
    _says(session, 'ls -1A; echo "[$LEFT]"', "bin\nnotes.txt\n[]")
    _expect(sandbox.digest() == before, "the tree's digest after a restart differs from the first one's")


def keeps_nothing_alive(sandbox: Sandbox) -> None:
    """``kill`` leaves no process, however it tries to survive."""
    for name, command in SURVIVORS.items():
        session = sandbox.start(_TASK)
        _says(session, command + " 2>/dev/null", "up")
        _expect(_until(sandbox.processes), f"{name}: the payload did not start, so the check would prove nothing")
        sandbox.kill()
        left = sandbox.processes()
        _expect(left == (), f"{name}: {left} survived kill()")


def comes_back_after_the_shell_ends(sandbox: Sandbox) -> None:
    """``exit`` ends the shell; ``respawn`` gives another on the same files."""
    session = sandbox.start(_TASK)
    result = _do(session, "echo kept > kept; exit 3")
    _expect(result.event == Event.SHELL_EXITED and result.exit_code == 3, f"`exit 3` ended in {result.event!r}")
    _says(sandbox.respawn(), "cat kept", "kept")


def saves_and_restores(sandbox: Sandbox) -> None:
    """``restore`` puts the files of ``save`` back, more than once."""
    session = sandbox.start(_TASK)
    _do(session, "echo first > mark; rm notes.txt")
    token, digest = sandbox.save(), sandbox.digest()
    for _ in range(2):
        _do(session, "echo second > mark; echo more > more; chmod 0 bin")
        session = sandbox.restore(token)
        _says(session, "cat mark; ls -1", "first\nbin\nmark")
        _expect(sandbox.digest() == digest, "the digest after restore differs from the one at save")
    sandbox.forget(token)


def runs_programs_beside_the_shell(sandbox: Sandbox) -> None:
    """``run`` reports status and output, honours its time-out, and leaves nothing of its tree."""
    session = sandbox.start(_TASK)
    done = sandbox.run(["sh", "-c", "cat; echo err >&2; exit 5"], stdin=b"given")
    _expect((done.exit_code, done.stdout, done.stderr) == (5, b"given", b"err\n"), f"run returned {done}")
    began = time.monotonic()
    done = sandbox.run(["sh", "-c", "setsid sleep 300 & echo part; sleep 300"], timeout=0.5)
    _expect(done.timed_out and done.stdout == b"part\n", f"a run past its time-out returned {done}")
    _expect(time.monotonic() - began < 5, "a run past its time-out took seconds to end")
    _expect(sandbox.processes() == (), f"the run left {sandbox.processes()}")
    _says(session, "echo still here", "still here")


def stands_still_while_a_goal_is_looked_at(sandbox: Sandbox) -> None:
    """While a program runs ``alone`` nothing else of the agent's moves; afterwards all goes on as it was."""
    session = sandbox.start(_TASK)
    _do(session, "(while :; do echo x >> grown; sleep 0.002; done) & disown; until test -s grown; do :; done")
    done = sandbox.run(["sh", "-c", "cat grown | wc -c; sleep 0.3; cat grown | wc -c"], apart=True, alone=True)
    before, after = done.stdout.split() if len(done.stdout.split()) == 2 else (b"", b"no answer")
    _expect(before == after, f"a file grew while nothing was to move: {done}")
    _expect(_until(lambda: len(sandbox.read_file(f"{HOME}/grown") or b"") > int(after)), "what was held does not go on")
    _says(session, "echo unharmed", "unharmed")


def reads_from_outside(sandbox: Sandbox) -> None:
    """Checks see files, links, processes and ports without running anything inside; links cannot lead out."""
    session = sandbox.start(_TASK)
    _do(session, "ln -s /etc/shadow out; ln -s notes.txt in; ln -s ../../../../../../../../etc/passwd up; mkfifo pipe")
    _expect(sandbox.read_file(f"{HOME}/in") == b"one\ntwo\n", "a link inside the tree is not followed")
    _expect(sandbox.read_link(f"{HOME}/in") == "notes.txt", "read_link does not return the target as written")
    _expect(sandbox.read_file(f"{HOME}/out") is None, "a link reads the host's /etc/shadow")
    own = sandbox.read_file(f"{HOME}/up")
    _expect(own is None or b"agent" in own, "a link with .. reads the host's /etc/passwd")
    _expect(sandbox.read_file(f"{HOME}/pipe") is None, "reading a FIFO did not return None")
    status = sandbox.status(f"{HOME}/bin/hello")
    _expect(status is not None and status.mode == 0o755 and status.kind == "file", f"status returned {status}")
    _expect(sandbox.status(f"{HOME}/nothing") is None, "a missing path has a status")


def isolates(sandbox: Sandbox) -> None:
    """No privilege, no host secret, no network, no foreign process, nothing writable that is not in the diff."""
    session = sandbox.start(_TASK)
    _says(session, "id -u", "1000")
    _says(session, "grep -E 'Cap(Prm|Eff|Amb)' /proc/self/status | tr -d '0[:space:]'", "CapPrm:CapEff:CapAmb:")
    _says(session, "grep NoNewPrivs /proc/self/status | tr -cd 01", "1")
    _says(session, "cat /etc/shadow /root/.bash_history /root/.ssh/* 2>/dev/null | wc -c", "0")
    _says(session, "ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo")
    _says(session, "ls /proc | grep -c '^[0-9]' | awk '{print ($1 < 8)}'", "1")
    _do(session, "touch /tmp/left /dev/shm/left /srv/left")
    seen = {change.path for change in sandbox.diff()}
    _expect(seen == {"/tmp/left", "/dev/shm/left", "/srv/left"}, f"new files in /tmp, /dev/shm, /srv; diff: {seen}")
    _says(session, "for d in / /etc /usr /dev /run /var/log /opt; do touch $d/x 2>/dev/null && echo $d; done", "")


def limits_bite(sandbox: Sandbox) -> None:
    """Too many processes, too much memory, too large a file, too much disk: each ends in an error, the shell lives."""
    session = sandbox.start(_TASK)
    result = _do(session, f"python3 -c '{_FORK_OFTEN}'", 20)
    _expect(result.stdout.strip().isdigit(), f"the payload failed, so the check would prove nothing: {result}")
    _expect(int(result.stdout) < 64, f"{result.stdout!r} processes were started under a limit of 64")
    result = _do(session, "python3 -c 'x = bytearray(600 << 20); print(len(x))'", 20)
    _expect(b"629145600" not in result.stdout, "600 MiB were allocated under a limit of 256 MiB")
    result = _do(session, "head -c 100M /dev/zero > big; stat -c %s big")
    _expect(result.stdout.strip() != b"104857600", "a file of 100 MiB was written under a limit of 64 MiB")
    _do(session, "rm -f big; for i in 1 2 3 4; do head -c 50M /dev/zero > big$i; done")
    session_ok = _do(session, "echo alive")
    _expect(session_ok.stdout.strip() == b"alive", f"after the limits were met the shell says {session_ok}")


def two_do_not_meet(make: Callable[[], Sandbox]) -> None:
    """Two sandboxes see neither each other's files nor processes."""
    first, second = make(), make()
    try:
        one, two = first.start(_TASK), second.start(_TASK)
        _do(one, "echo secret > /tmp/mine; echo secret > mine; sleep 300 &")
        _says(two, "ls /tmp; ls mine 2>/dev/null; pgrep sleep", "")
        _expect(second.processes() == (), f"one sandbox sees the other's processes: {second.processes()}")
        second.kill()
        _says(one, "echo unharmed", "unharmed")
    finally:
        first.close()
        second.close()


ALWAYS = (
    starts_in_the_initial_state,
    goes_back_on_start,
    keeps_nothing_alive,
    comes_back_after_the_shell_ends,
    saves_and_restores,
    runs_programs_beside_the_shell,
    stands_still_while_a_goal_is_looked_at,
    reads_from_outside,
)
"""What every backend must show."""

ISOLATED = (isolates, limits_bite)
"""What every backend but ``local-unsafe`` must show as well."""


def self_check(make: Callable[[], Sandbox], *, isolated: bool = True) -> Iterator[Verdict]:
    """Put fresh sandboxes through every check; yield what came of each.

    Args:
        make: returns a new, unstarted sandbox.
        isolated: whether it claims to isolate.
    """
    for check in (*ALWAYS, *(ISOLATED if isolated else ())):
        sandbox = make()
        try:
            check(sandbox)
            yield Verdict(check.__name__, True, "")
        except TermGymError as error:
            yield Verdict(check.__name__, False, str(error))
        finally:
            sandbox.close()
    if isolated:
        try:
            two_do_not_meet(make)
            yield Verdict("two_do_not_meet", True, "")
        except TermGymError as error:
            yield Verdict("two_do_not_meet", False, str(error))
