"""Dockerfiles as stages and steps. BuildKit's own grammar reads them, ported to Python by ``e2b-dockerfile-utils``.

Chosen over ``dockerfile`` (BuildKit's parser itself, in Go): that one gives no content of a heredoc, no lexer for
variables and no .dockerignore, and it starts a Go runtime in every process that imports it.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from e2b_dockerfile_utils import (
    DockerfileHeredoc,
    DockerfileInstruction,
    DockerfileSyntaxError,
    ShellLex,
    parse_dockerfile_ast,
)

from termgym.errors import ImageError
from termgym.reasons import shorten

IGNORED = ("CMD", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK", "LABEL", "MAINTAINER", "ONBUILD", "STOPSIGNAL", "VOLUME")
"""What says how a container is run, not what is in it."""
_DONE = ("ADD", "ARG", "COPY", "ENV", "FROM", "RUN", "SHELL", "USER", "WORKDIR")
_FLAGS: Mapping[str, tuple[str, ...]] = {
    "ADD": ("chown", "chmod", "link", "checksum", "exclude", "keep-git-dir", "unpack"),
    "COPY": ("from", "chown", "chmod", "link", "parents", "exclude"),
    "FROM": ("platform",),
    "RUN": ("mount", "network", "security"),
}
_LARGEST = 1 << 20  # [bytes]; what is larger is no Dockerfile
_STAGE_NAME = re.compile(r"[a-z][a-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction."""

    file: str
    line: int
    name: str
    args: tuple[str, ...]
    json: bool = False
    flags: tuple[tuple[str, str], ...] = ()
    """In order, for some may come several times; one without a value is ``true``."""
    heredocs: tuple[DockerfileHeredoc, ...] = ()
    escape: str = "\\"

    def flag(self, name: str) -> str | None:
        """Return the last value of a flag, or None."""
        return next((value for key, value in reversed(self.flags) if key == name), None)

    def fault(self, wrong: str, advice: str) -> ImageError:
        """Return the error that says where, what is wrong, and what to do."""
        return ImageError(f"{self.file}, line {self.line}: {self.name}: {wrong}; {advice}")

    def expand(self, word: str, env: Mapping[str, str]) -> str:
        """Return a word with its variables replaced and its quotes taken away.

        Raises:
            ImageError: it cannot be, or it demands a variable that is not set.
        """
        if "$" not in word and not set(word) & {'"', "'", self.escape}:
            return word
        return self._expanded(word, ShellLex(self.escape, env=env, skip_unset_env=False))

    def expand_text(self, text: str, env: Mapping[str, str]) -> str:
        """Return a text with its variables replaced, and its quotes kept.

        Raises:
            ImageError: it cannot be, or it demands a variable that is not set.
        """
        lexer = ShellLex(self.escape, raw_quotes=True, skip_process_quotes=True, env=env, skip_unset_env=False)
        return self._expanded(text, lexer)

    def _expanded(self, word: str, lexer: ShellLex) -> str:
        try:
            return lexer.process_word(word)
        except ValueError as error:
            raise self.fault(f"{shorten(word)}: {error}", "write ${NAME}, or ${NAME:-value} for a default") from error


@dataclass(frozen=True, slots=True)
class Stage:
    """What one ``FROM`` begins."""

    index: int
    name: str
    """As it is referred to: in lower case; empty: it has none."""
    start: Step
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """The stages of a Dockerfile, and the ``ARG`` before them."""

    file: str
    arguments: tuple[Step, ...]
    stages: tuple[Stage, ...]

    def stage(self, name: str, before: int | None = None) -> Stage | None:
        """Return the stage of that name or number, the last such before a number, or None."""
        wanted = name.lower()
        for stage in reversed(self.stages[:before]):
            if wanted in (stage.name, str(stage.index)) and wanted:
                return stage
        return None


def read_dockerfile(path: str) -> Dockerfile:
    """Read a Dockerfile.

    Raises:
        ImageError: there is none, or it is none; says the line.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError(errno.EINVAL, "not a regular file")
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise ImageError(f"{path}: {error.strerror}; give the path of a Dockerfile") from error
    if len(content) > _LARGEST:
        raise ImageError(f"{path}: longer than {_LARGEST >> 20} MiB; give the path of a Dockerfile")
    try:
        ast = parse_dockerfile_ast(content.decode())
    except UnicodeDecodeError as error:
        raise ImageError(f"{path}: byte {error.start} is no UTF-8; write the Dockerfile in UTF-8") from error
    except DockerfileSyntaxError as error:
        raise ImageError(_told(path, error)) from error
    steps = [_step(Path(path).name, each, ast.escape_token) for each in ast.instructions]
    return _arranged(path, steps)


def _told(path: str, error: DockerfileSyntaxError) -> str:
    message = str(error).partition(": ")[2]
    unknown = re.fullmatch(r"unknown instruction: (\S*).*", message, re.DOTALL)
    advice = "see https://docs.docker.com/reference/dockerfile/"
    if unknown:
        near = get_close_matches(unknown[1].upper(), (*_DONE, *IGNORED), n=1)
        advice = f"did you mean {near[0]}?" if near else f"allowed are {', '.join(sorted((*_DONE, *IGNORED)))}"
    return f"{Path(path).name}, line {error.line}: {message}; {advice}"


def _step(file: str, found: DockerfileInstruction, escape: str) -> Step:
    pairs = tuple((name, value if equals else "true") for name, equals, value in
                  (flag.removeprefix("--").partition("=") for flag in found.flags))  # fmt: skip
    step = Step(file, found.start_line, found.name, tuple(found.args), found.json, pairs, tuple(found.heredocs), escape)
    allowed = _FLAGS.get(found.name, ())
    for name, _ in pairs:
        if name not in allowed and found.name not in IGNORED:
            near = get_close_matches(name, allowed, n=1)
            known = ", ".join(f"--{each}" for each in allowed) or "none"
            raise step.fault(f"unknown flag --{name}", f"did you mean --{near[0]}?" if near else f"allowed are {known}")
    if not found.args and found.name not in IGNORED and not found.heredocs:
        raise step.fault("takes at least one argument", "see https://docs.docker.com/reference/dockerfile/")
    return step


def _arranged(path: str, steps: list[Step]) -> Dockerfile:
    """Put the steps into stages."""
    file = Path(path).name
    starts = [number for number, step in enumerate(steps) if step.name == "FROM"]
    if not starts:
        raise ImageError(f"{file}: no FROM; begin with one, such as `FROM debian:12`")
    for step in steps[: starts[0]]:
        if step.name != "ARG":
            raise step.fault("comes before the first FROM", "only ARG may")
    stages = []
    for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(steps)], strict=True)):
        stages.append(Stage(index, _stage_name(steps[start]), steps[start], tuple(steps[start + 1 : end])))
    return Dockerfile(file, tuple(steps[: starts[0]]), tuple(stages))


def _stage_name(step: Step) -> str:
    if len(step.args) == 1:
        return ""
    if len(step.args) != 3 or step.args[1].lower() != "as":
        raise step.fault(f"{shorten(' '.join(step.args))} is not understood", "write FROM IMAGE or FROM IMAGE AS NAME")
    name = step.args[2].lower()
    if not _STAGE_NAME.fullmatch(name):
        raise step.fault(f"{name!r} cannot name a stage", "begin with a letter; letters, digits, _ . - may follow")
    return name
