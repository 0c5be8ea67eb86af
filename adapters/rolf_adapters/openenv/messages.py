"""Messages: what goes to a session and comes from it, as OpenEnv's models."""

from __future__ import annotations

from typing import Any

from openenv.core.env_server import Action, Observation, State
from pydantic import Field


class ToolCall(Action):  # type: ignore[misc]  # openenv is untyped where it is not installed
    """A call of one of the environment's tools."""

    tool: str = Field(description="Name of the tool")
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="Arguments by name; what is left out has its default"
    )


class Told(Observation):  # type: ignore[misc]  # as above
    """What a policy is told; ``done`` and ``reward`` beside it."""

    text: str = Field(default="", description="What is told, laid out for a language model")
    malformed: str = Field(default="", description="Why the last call was none; the step was taken and has its cost")
    tools: list[dict[str, Any]] = Field(
        default_factory=list, description="After a reset: the tools of the episode, as OpenAI's API describes functions"
    )
    terminated: bool = Field(default=False, description="Whether the episode came to its natural end")
    truncated: bool = Field(default=False, description="Whether it was cut off")
    success: bool | None = Field(
        default=None, description="At the end: whether the goal was reached, where there is one"
    )
    observation: Any = Field(
        default=None, description="The environment's own observation, where the reset asked for it"
    )


class Whereabouts(State):  # type: ignore[misc]  # as above
    """Where a session is."""

    env_id: str = Field(default="", description="Gymnasium id of the environment")
    seed: int | None = Field(default=None, description="What the episode was seeded with")
    running: bool = Field(default=False, description="Whether an episode has begun and is not over")
    total: float = Field(default=0.0, description="Sum of the episode's rewards so far")
