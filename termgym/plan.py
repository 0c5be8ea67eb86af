"""ActionPlan: what an agent does in one step, typed (contract; being written)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from termgym.checks import Check


class Exchange(BaseModel):
    """One answer to a program that asks: wait for a pattern on the terminal, then type."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    expect: str
    send: str


class ActionPlan(BaseModel):
    """A command with what the agent expects of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    command: str
    timeout: float = Field(default=60.0, gt=0, le=3600, allow_inf_nan=False)
    """[s]"""
    idle_timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    expected_exit_code: int | None = 0
    """None: any."""
    validation_steps: tuple[Check, ...] = ()
    dialogue: tuple[Exchange, ...] = ()


class Keys(BaseModel):
    """Keystrokes for a program that waits for input: ``q``, ``C-c``, ``Enter``, ``Esc``, text."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    keys: str
    timeout: float = Field(default=60.0, gt=0, le=3600, allow_inf_nan=False)


class Submit(BaseModel):
    """The agent says that it is done."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    submit: bool = True


Action = ActionPlan | Keys | Submit
