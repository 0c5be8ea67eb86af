"""CommandAction: the text of a command, and nothing round it, for an action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsFloat

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from rolf.interface import Call, CallError, Tool
from rolf.interface.call import checked
from rolf.interface.style import ANSWER_LIMIT
from rolf.text_space import UnicodeText
from rolf_wrappers.calls import Calls


class CommandAction(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Take a command's text for an action: ``"ls -a ~"``. All else about the step is as usual.

    The text goes, verbatim, into the tool that has a main text (``rolf.interface.Tool.body``): in a terminal, what
    bash is to run. One word is kept to submit, where the environment has a tool for that. An empty command is one;
    a text that the tool does not take (it is too long) takes the step that the environment has for what is no call,
    and ``info["call"]["malformed"]`` says why.

    Samples of the action space are random characters, and they are run: wrap only what runs commands in a sandbox.

    There is no vector version; ``make_vec(..., vectorization_mode="sync", wrappers=[...])`` wraps each environment.

    Example:
        >>> import gymnasium as gym
        >>> env = CommandAction(gym.make("termgym:TermEnv-v1"), defaults={"timeout": 20})
        >>> _ = env.reset(seed=7)
        >>> observation, *_ = env.step("echo 'hello there'")
        >>> observation["stdout"]
        'hello there\\n'
        >>> _, _, terminated, *_ = env.step("submit")
        >>> terminated
        True
        >>> env.close()

    Args:
        env: The environment.
        defaults: Other arguments that each command gets, by name: ``{"timeout": 20}``.
        word: What stands for the tool without parameters that has the name ``finish``, white space round it aside; to
            run a command of that name write ``command submit``. None: nothing does, every text is a command.
        finish: Name of the tool that the word stands for.
        tool: Name of the tool whose main text the action is; None: the first that has one.

    Raises:
        TypeError: the environment has no tools.
        ValueError: there is no tool with a main text; it does not take these defaults; none is called ``finish``.

    Change log:
        * v0.2.0 - Added
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        *,
        defaults: Mapping[str, Any] | None = None,
        word: str | None = "submit",
        finish: str = "submit",
        tool: str | None = None,
    ) -> None:
        self._defaults = dict(defaults or {})
        RecordConstructorArgs.__init__(self, defaults=self._defaults, word=word, finish=finish, tool=tool)
        gym.Wrapper.__init__(self, env)
        self._calls = Calls(env)
        self._tool = _with_body(self._calls.tools, tool)
        self._word, self._finish = word, finish
        self._check()
        self.metadata = self._calls.translated(env.metadata, self._written)
        self.action_space = UnicodeText(ANSWER_LIMIT)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._calls.begin()
        return observation, self._calls.told(info)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Run a command, or submit.

        Raises:
            TypeError: the action is no text.
        """
        if not isinstance(action, str):
            raise TypeError(f"the action is {action!r:.80}; give the text of a command")
        observation, reward, terminated, truncated, info = self.env.step(self._calls.action(self._read, action))
        return observation, reward, terminated, truncated, self._calls.told(info)

    def _read(self, text: str) -> Call:
        if self._word is not None and text.strip() == self._word:
            return Call(self._finish)
        return Call(self._tool.name, {**self._defaults, self._tool.body: text})

    def _written(self, call: Call) -> str | None:
        """Return the text that makes a call as near as text can: without its other arguments."""
        return str(call.arguments[self._tool.body]) if call.tool == self._tool.name else None

    def _check(self) -> None:
        """Raise ValueError where what was given does not fit the environment's tools."""
        if self._tool.body in self._defaults:
            raise ValueError(f"defaults has {self._tool.body!r}, which is the action itself; leave it out")
        try:
            checked(self._tool.name, {**self._tool.example, **self._defaults}, self._calls.tools)
        except CallError as error:
            raise ValueError(f"defaults={self._defaults!r}: {error}") from None
        if self._word is None:
            return
        if not self._word.strip() or self._word != self._word.strip():
            raise ValueError(f"word={self._word!r}; give a word without white space round it, or None")
        try:
            checked(self._finish, {}, self._calls.tools)
        except CallError as error:
            raise ValueError(f"finish={self._finish!r}: {error}; give word=None where nothing is to be ended") from None


def _with_body(tools: tuple[Tool, ...], name: str | None) -> Tool:
    """Return the tool of a name, or the first, that has a main text."""
    found = [each for each in tools if each.body]
    if name is not None:
        found = [each for each in found if each.name == name]
    if not found:
        asked = "" if name is None else f" and the name {name!r}"
        known = ", ".join(each.name for each in tools)
        raise ValueError(f"no tool of the environment has a main text{asked}; its tools: {known}")
    return found[0]
