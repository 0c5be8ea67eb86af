"""Tools of every kind that an interface may meet: with and without a main text, parameters, options."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from rolf.interface import Alias, Nothing, Parameters, Tool


class Answer(Parameters):
    """One of a list."""

    expect: str
    """What is asked."""
    send: str
    """What is answered."""


class Shell(Parameters):
    """A main text, and options of every type."""

    command: str
    """What is to be run."""
    timeout: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Time it may take [s]."""
    exit_code: Annotated[int, Field(ge=0, le=255)] | None = 0
    """Expected; null: any."""
    quiet: bool = False
    """Whether nothing is printed."""
    answers: list[Answer] = Field(default_factory=list)
    """Given one after the other."""
    label: str = ""
    """A second text."""
    data: Any = None
    """Anything."""


class Dispatch(Parameters):
    """No main text."""

    technician: Annotated[int, Field(ge=0, le=5)]
    """Who."""
    claim: Literal["bearing", "no"]
    """What for; the second would be false in old YAML."""
    quantity: Literal[1, 3] = 1
    """How many."""


class Note(Parameters):
    """A main text alone."""

    text: str
    """What is to be written down."""


RENAMED = {"command": "cmd", "timeout": "time_limit", "data": "extra"}
SHELL = Tool(
    "shell",
    "Run a command.",
    Shell,
    {"command": "ls -l", "timeout": 10},
    body="command",
    language="bash",
    rare=frozenset({"answers", "label", "data", "exit_code", "quiet"}),
    aliases={"function": Alias("execute_bash", RENAMED), "device": Alias("shell_input", {"command": "line"})},
)
DISPATCH = Tool("dispatch", "Send somebody.", Dispatch, {"technician": 2, "claim": "bearing"})
NOTE = Tool("note", "Write something down.", Note, {"text": "It is\nthe bearing."}, body="text", needed=False)
SUBMIT = Tool("submit", "Say that all is done.", Nothing)
TOOLS = (SHELL, DISPATCH, NOTE, SUBMIT)
