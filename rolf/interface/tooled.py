"""Tooled: what an environment offers that can be used through an interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import gymnasium

from rolf.interface.call import Call
from rolf.interface.section import Section
from rolf.interface.tool import Tool


@runtime_checkable
class Tooled(Protocol):
    """An environment whose actions are calls of tools too."""

    @property
    def purpose(self) -> str:
        """What is to be done in it, in a sentence or two."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the present episode, with the longest set of parameters."""

    def action_of(self, call: Call) -> Any:
        """Return the action of the action space that does what a call says; the call is known to be allowed."""

    def call_of(self, action: Any) -> Call:
        """Return the call that does what an action does.

        Raises:
            ValueError: no call does.
        """

    def malformed(self, reason: str) -> Any:
        """Return the action that stands for an answer that was no call: a step is taken, and it has its cost."""

    def told(self, observation: Any, info: Mapping[str, Any]) -> Sequence[Section]:
        """Return what a policy is told of an observation; of ``info`` nothing that it must not see."""


def in_style(env: gymnasium.Env[Any, Any], action: Any, thought: str = "") -> Any:
    """Return an action of the environment itself as the policy must give it through whatever interface there is.

    Without ``rolf_wrappers.RotateInterface`` round the environment that is the action as it is. So a policy that
    thinks in the environment's own actions plays through every interface.

    Raises:
        CallError: the interface of this episode does not offer what the action needs.
    """
    if not env.has_wrapper_attr("written"):
        return action
    world: Any = env.unwrapped
    return env.get_wrapper_attr("written")(world.call_of(action), thought)
