"""Calls: what a policy calls of an environment's tools, one a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym

from rolf.interface import Call, CallError, Tool, Tooled
from rolf.interface.call import checked
from rolf.interface.jsontext import written


def world_of(env: gym.Env[Any, Any]) -> Tooled:
    """Return the environment itself, whose tools can be called.

    Raises:
        TypeError: it has none.
    """
    if not isinstance(env.unwrapped, Tooled):
        raise TypeError(f"{env} has no tools to be called; it must offer what rolf.interface.Tooled asks for")
    return env.unwrapped


def account(call: Call | None, fault: str) -> dict[str, str]:
    """Return what ``info`` tells of an answer: ``tool``, ``arguments`` (JSON), or why it was ``malformed``."""
    # Text alone: a vector environment cannot hold a number in one row and none in the next.
    tool, arguments = ("", "") if call is None else (call.tool, written(dict(call.arguments)))
    return {"tool": tool, "arguments": arguments, "malformed": fault}


class Calls:
    """Turns the calls of a policy into actions, and what is no call into the step that the environment has for that.

    Args:
        env: The environment.

    Raises:
        TypeError: the environment has no tools.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        self._world = world_of(env)
        self._call: Call | None = None
        self._fault = ""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the present episode."""
        return self._world.tools

    def begin(self) -> None:
        """Forget the last call."""
        self._call, self._fault = None, ""

    def action(self, read: Callable[[Any], Call], answer: Any) -> Any:
        """Return the action that does what an answer calls.

        Args:
            read: Returns the call of an answer, or raises CallError.
            answer: What the policy gave.
        """
        self.begin()
        try:
            given = read(answer)
            self._call = checked(given.tool, given.arguments, self.tools)
        except CallError as error:
            self._fault = str(error)
            return self._world.malformed(self._fault)
        return self._world.action_of(self._call)

    def told(self, info: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``info`` with ``call``: ``tool``, ``arguments`` (JSON), or why it was ``malformed``."""
        return {**info, "call": account(self._call, self._fault)}

    def translated(self, metadata: Mapping[str, Any], answer: Callable[[Call], Any]) -> dict[str, Any]:
        """Return an environment's metadata with what is worth trying there (``rolf.checks``) as answers.

        Args:
            metadata: The environment's.
            answer: Returns the answer that makes a call; None: there is none.
        """
        answers = []
        for action in metadata.get("actions", ()):
            try:
                call = self._world.call_of(action)
            except ValueError:  # worth trying there because it is no call
                continue
            if (given := answer(call)) is not None:
                answers.append(given)
        kept = {name: value for name, value in metadata.items() if name != "actions"}
        return {**kept, "actions": tuple(answers)} if answers else kept
