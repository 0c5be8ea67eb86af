"""The check vocabulary: one for the agent's validation steps and the task's goal.

A check is plain data that says what must hold. `termgym.checking` finds out whether it does.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Annotated, Literal

import regex
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

PATTERN_LIMIT = 4096
"""Longest regular expression [code points]; compiling takes time that no time-out bounds."""
NO_NUL = r"^[^\x00]*$"
"""No program argument, path or variable name on Linux can hold a NUL."""


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, dot_all: bool = False) -> regex.Pattern[str]:
    """Return the compiled form of a check's pattern; with ``dot_all`` a dot matches new lines too.

    The dialect is that of Python's ``re`` (multi-line: ``^`` and ``$`` match at every line), run by the ``regex``
    package because it alone can stop a search that backtracks without end.

    Raises:
        regex.error: The pattern is not a regular expression.
    """
    return regex.compile(pattern, regex.MULTILINE | regex.VERSION0 | (regex.DOTALL if dot_all else 0))


@lru_cache(maxsize=1024)
def _fault(pattern: str) -> str | None:
    """Return why a pattern is not a regular expression, or None if it is one in both dialects.

    ``regex`` knows more than ``re``; what only it knows is refused, so that a pattern means the same to both.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "possible nested set": allowed, and none of an agent's business
            re.compile(pattern, re.MULTILINE)
        compile_pattern(pattern)
    except (re.error, regex.error, OverflowError, RecursionError) as error:
        return str(error) or type(error).__name__
    return None


def _valid_pattern(pattern: str) -> str:
    fault = _fault(pattern)
    if fault is not None:
        # The reason may hold braces, which a message template must not: hence the context.
        raise PydanticCustomError("regex", "not a regular expression: {reason}", {"reason": fault})
    return pattern


Pattern = Annotated[str, Field(max_length=PATTERN_LIMIT), AfterValidator(_valid_pattern)]
"""A regular expression, refused where it is written down if it does not compile."""
Path = Annotated[str, Field(min_length=1, max_length=4096, pattern=NO_NUL)]
"""Absolute, relative to the working directory, or ``~`` / ``~/…`` for the agent's home."""


class _Check(BaseModel):
    """What all checks share: unknown keys are errors, nothing is coerced, equal content is equal."""

    # Docstrings are for readers of the code; the schema's descriptions come from them, so each field has one.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class FileExists(_Check):
    """A path exists; a symbolic link counts as itself, whether or not its target exists."""

    type: Literal["file_exists"] = "file_exists"
    path: Path
    """Absolute, relative to the working directory, or ~/… for the home."""
    kind: Literal["any", "file", "dir", "symlink"] = "any"
    """What it must be; `any` accepts everything that has this name."""


class FileAbsent(_Check):
    """Nothing has this name, not even a dangling symbolic link."""

    type: Literal["file_absent"] = "file_absent"
    path: Path
    """Absolute, relative to the working directory, or ~/… for the home."""


class TextInFile(_Check):
    """A regular expression matches somewhere in the first mebibyte of a file's text."""

    type: Literal["text_in_file"] = "text_in_file"
    path: Path
    """Absolute, relative to the working directory, or ~/… for the home."""
    pattern: Pattern
    """Python regular expression, searched, multi-line."""
    negate: bool = False
    """Turn it round: the file must exist and hold no match."""


class FileHash(_Check):
    """A file's bytes have this SHA-256."""

    type: Literal["file_sha256"] = "file_sha256"
    path: Path
    """Absolute, relative to the working directory, or ~/… for the home."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """64 lower-case hexadecimal digits."""


class FileMode(_Check):
    """A path has exactly these permission bits; symbolic links are followed, as chmod does."""

    type: Literal["file_mode"] = "file_mode"
    path: Path
    """Absolute, relative to the working directory, or ~/… for the home."""
    mode: Annotated[str, Field(pattern=r"^0?[0-7]{3,4}$")]
    """Octal, e.g. `0755`; set-id and sticky bits included."""


class LinkTarget(_Check):
    """A symbolic link points at this target, as it is written in the link."""

    type: Literal["link_target"] = "link_target"
    path: Path
    """Absolute, relative to the working directory, or ~/… for the home."""
    target: Annotated[str, Field(max_length=4096)]
    """The text in the link, not resolved."""


class ProcessRunning(_Check):
    """At least one process's command line (arguments joined by spaces) matches."""

    type: Literal["process_running"] = "process_running"
    pattern: Pattern
    """Python regular expression, searched."""
    negate: bool = False
    """Turn it round: no process matches."""


class PortOpen(_Check):
    """Something listens on a TCP port inside the sandbox."""

    type: Literal["port_open"] = "port_open"
    port: int = Field(ge=1, le=65535)
    """TCP port."""
    negate: bool = False
    """Turn it round: nothing listens there."""


class VariableSet(_Check):
    """A shell variable has a value that matches as a whole."""

    type: Literal["variable"] = "variable"
    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=256)]
    """Name of the variable, without the dollar sign."""
    pattern: Pattern = ".+"
    """Python regular expression that the whole value must match; a dot matches new lines too."""


class CommandSucceeds(_Check):
    """A command, run by bash beside the shell as the agent in a clean environment, ends as expected."""

    # A docstring here is a description in the JSON Schema, which agents read. As a task's goal the command runs out of
    # the agent's reach: nothing of the agent's moves meanwhile, and programs are told to read no settings of the
    # agent's (`termgym.checking.IMPARTIAL`).
    type: Literal["command"] = "command"
    command: Annotated[str, Field(min_length=1, max_length=16_384, pattern=NO_NUL)]
    """Shell command."""
    exit_code: int = Field(default=0, ge=0, le=255)
    """Exit status it must end with."""
    pattern: Pattern | None = None
    """Python regular expression that its standard output must match somewhere; null: any output."""
    cwd: Path | None = None
    """Directory to run in; null: the shell's working directory."""
    timeout: float = Field(default=10.0, gt=0, le=120, allow_inf_nan=False)
    """Time it may take [s]."""
    others_run: bool = False
    """As a goal: the agent's programs go on meanwhile, because one of them is asked something."""


class OutputContains(_Check):
    """The step's own output matches somewhere. Only as a validation step: a goal has no step."""

    type: Literal["output"] = "output"
    pattern: Pattern
    """Python regular expression, searched, multi-line."""
    stream: Literal["stdout", "stderr"] = "stdout"
    """Which output."""


Check = Annotated[
    FileExists
    | FileAbsent
    | TextInFile
    | FileHash
    | FileMode
    | LinkTarget
    | ProcessRunning
    | PortOpen
    | VariableSet
    | CommandSucceeds
    | OutputContains,
    Field(discriminator="type"),
]
"""Any check; in JSON the key ``type`` says which."""
