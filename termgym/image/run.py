"""``RUN``: what is run with which environment, and what becomes of it."""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from e2b_dockerfile_utils import chomp_heredoc_content, parse_heredoc

from termgym.image.confinement import GIVEN, Confinement, switching
from termgym.image.dockerfile import Step
from termgym.image.making import make_directory, make_file
from termgym.image.mounts import Mounts, plan_mounts
from termgym.image.packages import host_setup
from termgym.image.people import Person
from termgym.image.running import SHOWN, Ended, clean_up, run
from termgym.image.state import State
from termgym.image.tree import Tree
from termgym.reasons import shorten
from termgym.sandbox.environment import EPOCH

if TYPE_CHECKING:
    from termgym.image.builder import Build

_SCRIPT = "script"
_MOUNTED = ("/proc", "/dev", "/sys")
"""Where bubblewrap mounts; a link there would lead it elsewhere."""


def do_run(build: Build, state: State, step: Step, person: Person, further: Mapping[str, str]) -> None:
    """Run a program in the image; what it changes is a layer.

    Args:
        build: the build.
        state: the image so far.
        step: the instruction.
        person: who runs it.
        further: variables beside those of the image.
    """
    argv, script = _argv(step, state)
    network = _has_network(build, step)
    tree = state.tree(build.prefix)
    there = tree.find(state.workdir)
    if there is None or not there.is_directory:
        raise step.fault(f"the working directory {state.workdir} is not in the image", "name it by WORKDIR")
    for path in _MOUNTED:
        mounted = tree.find(path, follow=False)
        if mounted is not None and not mounted.is_directory:
            raise step.fault(f"{path} is no directory in the image", "leave it as the base has it")
    env = {"HOME": person.home, **further, **state.variables}
    mounts = plan_mounts(build, state, step)
    parts = {"run": argv, "script": script, "env": sorted(env.items()), "cwd": state.workdir, "network": network,
             "person": person[:3], "mounts": mounts.describe()}  # fmt: skip

    def make(room: Path) -> Path:
        build.report(f"RUN {' '.join(step.args)}")
        return _run(build, state, step, room, _Program(argv, script, env, person, network, mounts, tree))

    build.add_layer(state, parts, make)
    if person.uid and not build.store.privileged:
        state.note(f"{step.file}, line {step.line}: ran as root, for there is no user {person.name or person.uid} here")


class _Program:
    """What is to be run."""

    def __init__(
        self, argv: Sequence[str], script: str, env: Mapping[str, str], person: Person, network: bool, mounts: Mounts,
        tree: Tree,
    ) -> None:  # fmt: skip
        self.argv = argv
        self.script = script
        self.env = {"SOURCE_DATE_EPOCH": str(EPOCH), **env}
        self.person = person
        self.network = network
        self.mounts = mounts
        self.tree = tree


def _run(build: Build, state: State, step: Step, room: Path, program: _Program) -> Path:
    """Run it in ``room``; return the layer."""
    given = room / "given"
    make_directory(given)
    env = {**host_setup(given, one_user=not build.store.privileged), **program.env} if program.network else program.env
    if program.script:
        make_file(given / _SCRIPT, program.script.encode(), 0o755)
    resolver = (
        program.tree.resolve("/etc/resolv.conf") if program.network and os.path.exists("/etc/resolv.conf") else ""
    )
    confinement = Confinement(
        room,
        state.layers,
        build.store.privileged,
        program.person,
        state.workdir,
        env,
        program.network,
        resolver=resolver,
        mounts=program.mounts.words(room, program.tree),
        given=given,
    )
    try:
        switch = switching(program.person, _setpriv(program.tree), may_switch=build.store.privileged)
    except LookupError as error:
        raise step.fault(str(error.args[0]), "install it, or run as root") from error
    started = time.time()
    ended = run(confinement, program.argv, switch, build.left(step), build.report)
    if ended.status or ended.timed_out:
        raise _failure(build, step, ended)
    clean_up(room, resolver, was_there=bool(resolver) and program.tree.find(resolver) is not None)
    clamp_times(room / "upper", started)
    return room / "upper"


def _failure(build: Build, step: Step, ended: Ended) -> Exception:
    """Return the error for a program that did not succeed."""
    tail = ended.output[-SHOWN:].strip()
    how = f"took longer than the {build.recipe.timeout:g} s of the build" if ended.timed_out else \
        f"ended with exit status {ended.status if ended.status >= 0 else 128 - ended.status}"  # fmt: skip
    advice = "correct it"
    if tail.startswith(("bwrap: execvp", "setpriv: failed to execute")):
        how, advice = "the program is not in the image", "install it, or choose another by SHELL"
    elif not build.network and _wants_network(tail):
        advice = "if it needs the network, allow it (build_network=True)"
    return step.fault(f"{shorten(' '.join(step.args), 200)} {how}", f"{advice}; the end of its output:\n{tail}")


def _wants_network(output: str) -> bool:
    signs = ("resolve", "Network is unreachable", "name resolution", "Connection refused", "Unable to locate package")
    return any(sign in output for sign in signs)


def _argv(step: Step, state: State) -> tuple[list[str], str]:
    """Return the program with its arguments, and the script that it is, if it brings one (a heredoc with ``#!``)."""
    if step.json:
        return list(step.args), ""
    text = step.args[0] if step.args else ""
    if not step.heredocs:
        return [*state.shell, text], ""
    if parse_heredoc(text) is None:  # for the shell to understand
        whole = text + "".join(f"\n{heredoc.content}{heredoc.name}" for heredoc in step.heredocs)
        return [*state.shell, whole], ""
    first = step.heredocs[0]
    content = chomp_heredoc_content(first.content) if first.chomp else first.content
    if content.startswith("#!"):
        return [posixpath.join(GIVEN, _SCRIPT)], content
    return [*state.shell, content], ""


def _has_network(build: Build, step: Step) -> bool:
    wanted = step.flag("network") or "default"
    if wanted not in ("default", "none", "host"):
        raise step.fault(f"--network={wanted} is unknown", "allowed are default, none, host")
    if (step.flag("security") or "sandbox") != "sandbox":
        raise step.fault("--security=insecure is not given to anybody", "leave it out")
    return build.network and wanted != "none"


def _setpriv(tree: Tree) -> str | None:
    return next((path for path in ("/usr/bin/setpriv", "/bin/setpriv") if tree.find(path)), None)


def clamp_times(layer: Path, started: float) -> None:
    """Give what was written since a moment one date, so that a layer does not tell when it was made."""
    since = int((started - 1) * 10**9)
    pending = [str(layer)]
    for place in pending:
        with os.scandir(place) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if status.st_mtime_ns >= since:
                    os.utime(entry.path, (EPOCH, EPOCH), follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    os.utime(layer, (EPOCH, EPOCH))
