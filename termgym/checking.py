"""Find out whether checks hold on a machine.

Whatever an agent writes into a check or leaves on the machine leads to a result, never to an exception: only a fault of
the machine itself (``SandboxError``) gets through.
"""

from __future__ import annotations

import errno
import hashlib
import posixpath
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from termgym.checks import (
    Check,
    CommandSucceeds,
    FileAbsent,
    FileExists,
    FileHash,
    FileMode,
    LinkTarget,
    OutputContains,
    PortOpen,
    ProcessRunning,
    TextInFile,
    VariableSet,
    compile_pattern,
)
from termgym.errors import SandboxError, TermGymError
from termgym.result import StepResult
from termgym.reward.facts import CheckResult
from termgym.sandbox.protocol import FileStatus, Inspector

TEXT_LIMIT = 1 << 20
"""How much of a file, of output or of a command line a pattern is searched in [bytes]."""
HASH_LIMIT = 64 << 20
"""Largest file whose digest is taken [bytes]; it passes through memory."""
PATTERN_SECONDS = 0.5
"""Time one search may take [s]. A sound pattern needs milliseconds for ``TEXT_LIMIT``; ``(a|aa)+$`` needs for ever."""
IMPARTIAL: Mapping[str, str] = {
    "PYTHONNOUSERSITE": "1",
    "PYTHONSAFEPATH": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": "/dev/null",
    "WGETRC": "/dev/null",
}
"""Variables by which a goal's programs leave the agent's settings alone: no modules from the home or the working
directory (python), no settings, hooks or monitors (git), nor any writing by the way. A check that wants one of them
says so: ``unset PYTHONSAFEPATH; …``."""
LINKS = 40
"""Symbolic links followed in a row, as the kernel does (path_resolution(7))."""

_AGENT_PATHS = frozenset(
    [
        *(errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.ENOENT, errno.EISDIR, errno.EACCES, errno.EPERM),
        *(errno.EINVAL, errno.EAGAIN, errno.ENXIO, errno.ENODATA, errno.EOPNOTSUPP),  # files that the kernel makes up
    ]
)
"""What a path itself can be guilty of; any other error is the machine's."""


class _Place(NamedTuple):
    """What a check is evaluated against."""

    inspector: Inspector
    result: StepResult | None
    variables: Mapping[str, str]
    cwd: str
    home: str
    impartial: bool

    def absolute(self, path: str) -> str:
        """Return the absolute form of a path. Textual: ``a/../b`` is ``b`` even if ``a`` is a link, as in ``cd``."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        joined = posixpath.normpath(posixpath.join(self.cwd, path))
        return joined.replace("//", "/", 1) if joined.startswith("//") else joined


class _Verdict(NamedTuple):
    passed: bool
    detail: str = ""


_YES = _Verdict(True)


def evaluate(
    check: Check,
    inspector: Inspector,
    result: StepResult | None,
    cwd: str,
    home: str,
    variables: Mapping[str, str] | None = None,
    *,
    impartial: bool = False,
) -> CheckResult:
    """Return whether a check holds now.

    Args:
        check: What must hold.
        inspector: The machine.
        result: The step that has just ended; None if there is none (then there is no output either).
        cwd: The shell's working directory: where relative paths start.
        home: What ``~`` stands for.
        variables: Values of shell variables; those that the step reports if left out.
        impartial: The agent is to have no say in it: a goal, not a step of its own validation.

    Raises:
        SandboxError: The machine failed; no fault of the agent's.
    """
    known = variables if variables is not None else result.variables if result is not None else {}
    place = _Place(inspector, result, known, cwd, home, impartial)
    try:
        verdict = _EVALUATORS[type(check)](check, place)
    except TimeoutError:
        verdict = _Verdict(
            False, f"the pattern was still searching after {PATTERN_SECONDS} s; write one that backtracks less"
        )
    except OSError as error:
        if isinstance(error, TermGymError):
            raise
        if error.errno not in _AGENT_PATHS:
            raise SandboxError(f"{describe(check)}: the machine answered {error}") from error
        verdict = _Verdict(False, f"{error.strerror}")
    return CheckResult(describe(check), verdict.passed, verdict.detail)


def evaluate_all(
    checks: Sequence[Check],
    inspector: Inspector,
    result: StepResult | None,
    cwd: str,
    home: str,
    variables: Mapping[str, str] | None = None,
    *,
    impartial: bool = False,
    stop_at_first_failure: bool = False,
) -> tuple[CheckResult, ...]:
    """Return what came of each check, in the order given.

    Args:
        checks: All of them must hold.
        stop_at_first_failure: Evaluate cheap checks first and stop at the first that fails: the answer to "do all hold"
            at the least cost. Those that were not evaluated are left out.

    The other arguments are those of `evaluate`.
    """
    if not stop_at_first_failure:
        return tuple(evaluate(check, inspector, result, cwd, home, variables, impartial=impartial) for check in checks)
    found: dict[int, CheckResult] = {}
    for index in sorted(range(len(checks)), key=lambda index: (_COSTS.get(type(checks[index]), 1), index)):
        found[index] = evaluate(checks[index], inspector, result, cwd, home, variables, impartial=impartial)
        if not found[index].passed:
            break
    return tuple(found[index] for index in sorted(found))


def describe(check: Check) -> str:
    """Return the check in words: its type and what sets it apart, e.g. ``file_exists ./logs/out.log``."""
    fields = check.model_dump(exclude_defaults=True)
    fields.pop("type", None)
    lead = [str(fields.pop(name)) for name in ("path", "name", "port", "command") if name in fields]
    rest = [f"{name}={value!r}" for name, value in fields.items()]
    return " ".join([check.type, *lead, *rest])


def watched(checks: Iterable[Check]) -> tuple[str, ...]:
    """Return the shell variables that the checks look at: a session must be told to report them."""
    return tuple(sorted({check.name for check in checks if isinstance(check, VariableSet)}))


def _found(pattern: str, text: str, *, whole: bool = False) -> bool:
    compiled = compile_pattern(pattern, dot_all=whole)
    search = compiled.fullmatch if whole else compiled.search
    return search(text, timeout=PATTERN_SECONDS) is not None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _negated(found: bool, negate: bool, absent: str, present: str) -> _Verdict:
    """Return the verdict on a thing that should be there (or not), with the sentence that says what is wrong."""
    if found is not negate:
        return _YES
    return _Verdict(False, present if negate else absent)


def _file_exists(check: FileExists, place: _Place) -> _Verdict:
    status = place.inspector.status(place.absolute(check.path))
    if status is None:
        return _Verdict(False, "does not exist")
    if check.kind not in ("any", status.kind):
        return _Verdict(False, f"is a {status.kind}, wanted a {check.kind}")
    return _YES


def _file_absent(check: FileAbsent, place: _Place) -> _Verdict:
    status = place.inspector.status(place.absolute(check.path))
    return _YES if status is None else _Verdict(False, f"there is a {status.kind} of this name")


def _text_in_file(check: TextInFile, place: _Place) -> _Verdict:
    data = place.inspector.read_file(place.absolute(check.path), TEXT_LIMIT + 1)
    if data is None:
        return _Verdict(False, "is no file that can be read")
    found = _found(check.pattern, _text(data[:TEXT_LIMIT]))
    if not found and len(data) > TEXT_LIMIT:
        # What lies beyond the limit decides, in either direction, so neither answer may pass.
        return _Verdict(False, f"no match in the first {TEXT_LIMIT} bytes; the rest is not looked at")
    return _negated(found, check.negate, "no match in the file", "there is a match")


def _file_hash(check: FileHash, place: _Place) -> _Verdict:
    path = place.absolute(check.path)
    data = place.inspector.read_file(path, HASH_LIMIT + 1)
    if data is None:
        return _Verdict(False, "is no file that can be read")
    if len(data) > HASH_LIMIT:
        return _Verdict(False, f"is larger than {HASH_LIMIT} bytes; use a command check with sha256sum")
    digest = hashlib.sha256(data).hexdigest()
    return _YES if digest == check.sha256 else _Verdict(False, f"is {digest}")


def _followed(path: str, inspector: Inspector) -> FileStatus | None:
    for _ in range(LINKS):
        status = inspector.status(path)
        if status is None or status.kind != "symlink":
            return status
        target = inspector.read_link(path)
        if target is None:  # it went away in between
            return None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return None


def _file_mode(check: FileMode, place: _Place) -> _Verdict:
    status = _followed(place.absolute(check.path), place.inspector)
    if status is None:
        return _Verdict(False, "does not exist")
    return _YES if status.mode == int(check.mode, 8) else _Verdict(False, f"is {status.mode:04o}")


def _link_target(check: LinkTarget, place: _Place) -> _Verdict:
    target = place.inspector.read_link(place.absolute(check.path))
    if target is None:
        return _Verdict(False, "is no symbolic link")
    return _YES if target == check.target else _Verdict(False, f"points at {target!r}")


def _process_running(check: ProcessRunning, place: _Place) -> _Verdict:
    # A zombie has ended: it waits for its parent to ask, and does no work.
    lines = (" ".join(each.argv)[:TEXT_LIMIT] for each in place.inspector.processes() if each.state not in "ZX")
    found = any(_found(check.pattern, line) for line in lines)
    return _negated(found, check.negate, "no such process", "there is such a process")


def _port_open(check: PortOpen, place: _Place) -> _Verdict:
    ports = place.inspector.listening_ports()
    return _negated(check.port in ports, check.negate, "nothing listens there", "something listens there")


def _variable(check: VariableSet, place: _Place) -> _Verdict:
    value = place.variables.get(check.name)
    if value is None:
        return _Verdict(False, "is not set, or not among the variables that are watched")
    return _YES if _found(check.pattern, value[:TEXT_LIMIT], whole=True) else _Verdict(False, f"is {value[:200]!r}")


def _command(check: CommandSucceeds, place: _Place) -> _Verdict:
    directory = place.cwd if check.cwd is None else place.absolute(check.cwd)
    # The shell changes directory, not the launcher: a directory that is gone then has one answer on every sandbox.
    script = f"cd -- {shlex.quote(directory)} || exit 125\n{check.command}"
    argv = ["/bin/bash", "--norc", "--noprofile", "-c", script]
    if place.impartial:
        alone = not check.others_run
        ended = place.inspector.run(argv, timeout=check.timeout, cwd="/", env=IMPARTIAL, apart=True, alone=alone)
    else:
        ended = place.inspector.run(argv, timeout=check.timeout, cwd="/")
    if ended.refused:
        return _Verdict(False, f"says nothing: {ended.refused}")
    if ended.timed_out:
        return _Verdict(False, f"ran past {check.timeout:g} s")
    if ended.exit_code != check.exit_code:
        said = _text(ended.stderr[-200:]).strip()
        return _Verdict(
            False, f"ended with {ended.exit_code}, wanted {check.exit_code}" + (f": {said}" if said else "")
        )
    if check.pattern is not None and not _found(check.pattern, _text(ended.stdout[:TEXT_LIMIT])):
        return _Verdict(False, f"printed {_text(ended.stdout[:200])!r}")
    return _YES


def _output(check: OutputContains, place: _Place) -> _Verdict:
    if place.result is None:
        return _Verdict(False, "there is no step whose output could be looked at")
    data = place.result.stdout if check.stream == "stdout" else place.result.stderr
    return _YES if _found(check.pattern, _text(data[:TEXT_LIMIT])) else _Verdict(False, f"no match in {check.stream}")


_EVALUATORS: Mapping[type, Callable[..., _Verdict]] = {
    FileExists: _file_exists,
    FileAbsent: _file_absent,
    TextInFile: _text_in_file,
    FileHash: _file_hash,
    FileMode: _file_mode,
    LinkTarget: _link_target,
    ProcessRunning: _process_running,
    PortOpen: _port_open,
    VariableSet: _variable,
    CommandSucceeds: _command,
    OutputContains: _output,
}
_COSTS: Mapping[type, int] = {
    VariableSet: 0,
    OutputContains: 0,
    TextInFile: 2,
    ProcessRunning: 3,
    FileHash: 4,
    CommandSucceeds: 9,
}
"""Rank by cost; what is not named costs one look at the file system."""
