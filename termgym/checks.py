"""The check vocabulary: one for the agent's validation steps and the task's goal (contract; being written)."""

from __future__ import annotations

from typing import Annotated, Literal, Union

from pydantic import BaseModel, ConfigDict, Field


class _Check(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileExists(_Check):
    """A path exists (any kind; ``kind`` narrows it)."""

    type: Literal["file_exists"] = "file_exists"
    path: str
    kind: Literal["any", "file", "dir", "symlink"] = "any"


class FileAbsent(_Check):
    """Nothing has this name."""

    type: Literal["file_absent"] = "file_absent"
    path: str


class TextInFile(_Check):
    """A regular expression (multi-line, re.search) matches a file's text; ``negate`` turns it round."""

    type: Literal["text_in_file"] = "text_in_file"
    path: str
    pattern: str
    negate: bool = False


class FileHash(_Check):
    """A file's SHA-256."""

    type: Literal["file_sha256"] = "file_sha256"
    path: str
    sha256: str


class FileMode(_Check):
    """Permission bits, octal (``0755``)."""

    type: Literal["file_mode"] = "file_mode"
    path: str
    mode: str


class LinkTarget(_Check):
    """The target of a symbolic link, as written."""

    type: Literal["link_target"] = "link_target"
    path: str
    target: str


class ProcessRunning(_Check):
    """At least one process's command line matches; ``negate``: none does."""

    type: Literal["process_running"] = "process_running"
    pattern: str
    negate: bool = False


class PortOpen(_Check):
    """Something listens on a TCP port inside; ``negate``: nothing does."""

    type: Literal["port_open"] = "port_open"
    port: int = Field(ge=1, le=65535)
    negate: bool = False


class VariableSet(_Check):
    """A shell variable has a value (re.fullmatch)."""

    type: Literal["variable"] = "variable"
    name: str
    pattern: str = ".+"


class CommandSucceeds(_Check):
    """A command, run by bash beside the shell as the agent in a clean environment, ends as expected."""

    type: Literal["command"] = "command"
    command: str
    exit_code: int = 0
    pattern: str | None = None
    cwd: str | None = None
    timeout: float = Field(default=10.0, gt=0, le=120)


class OutputContains(_Check):
    """The step's own standard output (or error) matches a regular expression. Only as a validation step."""

    type: Literal["output"] = "output"
    pattern: str
    stream: Literal["stdout", "stderr"] = "stdout"


Check = Annotated[
    Union[FileExists, FileAbsent, TextInFile, FileHash, FileMode, LinkTarget, ProcessRunning, PortOpen, VariableSet,
          CommandSucceeds, OutputContains],
    Field(discriminator="type"),
]
