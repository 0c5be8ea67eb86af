"""ToolCallAction: a tool call, as models write it, for an action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsFloat

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from rolf.interface import Call, CallError
from rolf.interface.call import shown
from rolf.interface.jsontext import value, written
from rolf.interface.style import ANSWER_LIMIT
from rolf.interface.styles.openai_tools import function
from rolf.text_space import UnicodeText
from rolf_wrappers.calls import Calls

SHAPE = '{"tool": NAME, "arguments": {…}}'


class ToolCallAction(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Take a tool call for an action: ``{"tool": "dispatch", "arguments": {"technician": 0, "station": 3}}``.

    The action space is text: the call as JSON. ``step`` takes the same call as a Python mapping too. OpenAI's shapes
    are understood, with arguments as an object or as JSON text: a function (``name``, ``arguments``), an entry of
    ``tool_calls``, and a message with one such entry.

    What is no call of a tool that the environment has (no JSON, an unknown tool or parameter, a value that is not
    allowed) takes the step that the environment has for that, and ``info["call"]["malformed"]`` says why. Otherwise
    ``info["call"]`` tells the ``tool`` and its ``arguments`` (JSON). Observations are the environment's own.

    Works on every environment that is ``rolf.interface.Tooled``; ``functions`` describes its tools as OpenAI's API
    wants them. There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each
    environment.

    Example:
        >>> import gymnasium as gym
        >>> env = ToolCallAction(gym.make("linegym:LineEnv-v1"))
        >>> _ = env.reset(seed=7)
        >>> env.step('{"tool": "order", "arguments": {"part": "jam"}}')[4]["call"]
        {'tool': 'order', 'arguments': '{"part": "jam"}', 'malformed': ''}
        >>> env.step({"tool": "oder", "arguments": {}})[4]["call"]["malformed"][:46]
        "no tool is named 'oder'; did you mean 'order'?"
        >>> [each["function"]["name"] for each in env.functions][:3]
        ['wait', 'inspect', 'diagnose']

    Args:
        env: The environment.

    Raises:
        TypeError: the environment has no tools.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._calls = Calls(env)
        self.metadata = self._calls.translated(env.metadata, lambda call: written(call.as_json()))
        self.action_space = UnicodeText(ANSWER_LIMIT)

    @property
    def functions(self) -> list[dict[str, Any]]:
        """The tools of the present episode, as the ``tools`` of OpenAI's chat completions."""
        return [function(each) for each in self._calls.tools]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._calls.begin()
        return observation, self._calls.told(info)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Take the step that the call does.

        Raises:
            TypeError: the action is neither text nor a mapping.
        """
        if not isinstance(action, str | Mapping):
            raise TypeError(f"the action is {shown(action)}; give {SHAPE}, as JSON text or as a mapping")
        native = self._calls.action(_read, action)
        observation, reward, terminated, truncated, info = self.env.step(native)
        return observation, reward, terminated, truncated, self._calls.told(info)


def _read(answer: str | Mapping[str, Any]) -> Call:
    """Return the call that is meant; whether there is such a one is seen later.

    Raises:
        CallError: the answer is of no shape that is understood.
    """
    given = _object(answer, "the call")
    if "tool_calls" in given:
        entries = given["tool_calls"]
        if not isinstance(entries, list | tuple) or len(entries) != 1:
            raise CallError(f"tool_calls is {shown(entries)}; give a list of one call, and wait for what comes of it")
        given = _object(entries[0], "tool_calls[0]")
    if "function" in given:
        given = _object(given["function"], "function")
    names = [key for key in ("tool", "name") if key in given]
    if len(names) != 1:
        raise CallError(f"the call must name one tool, got {shown(dict(given))}; give {SHAPE}")
    if odd := [key for key in given if key not in (names[0], "arguments")]:
        raise CallError(f"the call has {shown(odd[0])}, which is neither its name nor its arguments; give {SHAPE}")
    return Call(given[names[0]], dict(_object(given.get("arguments", {}), "arguments")))


def _object(given: object, what: str) -> Mapping[str, Any]:
    """Return an object, or the one that a JSON text is."""
    found = value(given, what) if isinstance(given, str) else given
    if not isinstance(found, Mapping):
        raise CallError(f"{what} must be an object, got {shown(found)}; give {SHAPE}")
    return found
