"""What each instruction does to a state."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from termgym.image.adding import plan_add
from termgym.image.copying import Copy, plan_copy
from termgym.image.dockerfile import Step
from termgym.image.heredocs import written_heredocs
from termgym.image.layering import ROOT, Layer
from termgym.image.people import Person, find_owner, find_person
from termgym.image.run import do_run
from termgym.image.state import State
from termgym.reasons import shorten

if TYPE_CHECKING:
    from termgym.image.builder import Build

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY")
"""Arguments that need no ``ARG`` (docker's "predefined ARGs")."""


def do_env(_build: Build, state: State, step: Step) -> None:
    """Set variables; all values see those from before the instruction."""
    before = state.variables
    for name, value, _ in zip(*[iter(step.args)] * 3, strict=True):
        state.env[step.expand(name, before)] = step.expand(value, before)


def do_arg(build: Build, state: State, step: Step) -> None:
    """Let arguments in: what the recipe gives, else the default, else what was set before the first ``FROM``."""
    for name, default in argument_pairs(step, state.variables):
        build.used.add(name)
        value = build.recipe.arguments.get(name, default)
        if value is None:
            value = build.globals.get(name)
        if value is not None:
            state.arguments[name] = value


def argument_pairs(step: Step, variables: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Yield the names and defaults of an ``ARG``."""
    seen = dict(variables)
    for word in step.args:
        name, equals, value = word.partition("=")
        if not _NAME.fullmatch(name):
            raise step.fault(f"{shorten(name)} is no name", "write ARG NAME or ARG NAME=default")
        default = step.expand(value, seen) if equals else None
        if default is not None:
            seen[name] = default
        yield name, default


def do_workdir(build: Build, state: State, step: Step) -> None:
    """Go to a directory, made where it is missing."""
    state.workdir = posixpath.normpath(posixpath.join(state.workdir, step.expand(" ".join(step.args), state.variables)))
    tree = state.tree(build.prefix)
    there = tree.find(state.workdir)
    if there is not None and there.is_directory:
        return
    if there is not None:
        raise step.fault(f"{state.workdir} is no directory in the image", "choose another path")
    person = who(state, step, build)
    owner = (person.uid, person.gid)

    def make(place: Path) -> Path:
        layer = Layer(place / "tree", tree, may_give=build.store.privileged)
        layer.directory(tree.resolve(state.workdir), owner)
        layer.finish()
        return layer.root

    build.add_layer(state, {"workdir": state.workdir, "owner": owner}, make)


def do_user(_build: Build, state: State, step: Step) -> None:
    """Become another user from here on."""
    state.user = step.expand(" ".join(step.args), state.variables)
    if not state.user:
        raise step.fault("the name is empty", "give a user, or USER root")


def do_shell(_build: Build, state: State, step: Step) -> None:
    """Let another program run the shell form of ``RUN``."""
    if not step.json or not step.args:
        raise step.fault(f"{shorten(' '.join(step.args))} is no JSON list", 'write SHELL ["/bin/bash", "-c"]')
    state.shell = step.args


def do_copy(build: Build, state: State, step: Step) -> None:
    """Copy files of the context, of another stage, or out of the Dockerfile itself."""
    words = [step.expand(word, state.variables) for word in step.args]
    if len(words) < 2 or not all(words):
        raise step.fault(f"takes a source and a target, got {shorten(' '.join(step.args))}", "write COPY SOURCE TARGET")
    source = step.flag("from")
    tree = state.tree(build.prefix)
    owner = find_chown(state, step, build)
    with written_heredocs(build, state, step, words) as texts:
        copies = [plan_copy(step, [*texts.names, words[-1]], texts.origin, tree, state.workdir, owner, dated=False)] \
            if texts.origin else []  # fmt: skip
        if texts.others:
            origin = build.origin(step, source) if source else build.context(step)
            chosen = [*texts.others, words[-1]]
            copies.append(plan_copy(step, chosen, origin, tree, state.workdir, owner, dated=source is not None))
        put(build, state, step, copies)


def do_add(build: Build, state: State, step: Step) -> None:
    """Copy files, unpack archives, fetch addresses."""
    words = [step.expand(word, state.variables) for word in step.args]
    if len(words) < 2 or not all(words):
        raise step.fault(f"takes a source and a target, got {shorten(' '.join(step.args))}", "write ADD SOURCE TARGET")
    owner = find_chown(state, step, build)
    tree = state.tree(build.prefix)
    with written_heredocs(build, state, step, words) as texts, build.store.scratch() as room:
        copies = [plan_copy(step, [*texts.names, words[-1]], texts.origin, tree, state.workdir, owner, dated=False)] \
            if texts.origin else []  # fmt: skip
        copies += plan_add(build, state, step, [*texts.others, words[-1]], owner, room)
        put(build, state, step, copies)


def put(build: Build, state: State, step: Step, copies: list[Copy]) -> None:
    """Make a layer of what is copied."""
    tree = state.tree(build.prefix)

    def make(place: Path) -> Path:
        build.report(f"{step.name} {' '.join(step.args)}")
        layer = Layer(place / "tree", tree, may_give=build.store.privileged)
        for copy in copies:
            copy.write(layer)
        layer.finish()
        return layer.root

    build.add_layer(state, {"copy": [copy.describe() for copy in copies]}, make)
    if not build.store.privileged and any(copy.owner != ROOT for copy in copies):
        state.note(f"{step.file}, line {step.line}: --chown takes root; everything belongs to root")


def find_chown(state: State, step: Step, build: Build) -> tuple[int, int]:
    """Return who is to own what is copied."""
    text = step.flag("chown")
    if not text:
        return ROOT
    try:
        return find_owner(state.tree(build.prefix), step.expand(text, state.variables))
    except LookupError as error:
        raise step.fault(f"--chown={text}: {error.args[0]}", "make it in a RUN before, or give numbers") from error


def who(state: State, step: Step, build: Build) -> Person:
    """Return the person that ``USER`` names."""
    try:
        return find_person(state.tree(build.prefix), state.user)
    except LookupError as error:
        raise step.fault(str(error.args[0]), "make the user in a RUN before, such as `RUN useradd -m NAME`") from error


def _do_run(build: Build, state: State, step: Step) -> None:
    person = who(state, step, build)
    given = {name: value for name, value in build.recipe.arguments.items() if name.upper() in _PROXIES}
    build.used |= set(given)
    do_run(build, state, step, person, given)


DO: Mapping[str, Callable[[Build, State, Step], None]] = {
    "ADD": do_add,
    "ARG": do_arg,
    "COPY": do_copy,
    "ENV": do_env,
    "RUN": _do_run,
    "SHELL": do_shell,
    "USER": do_user,
    "WORKDIR": do_workdir,
}
