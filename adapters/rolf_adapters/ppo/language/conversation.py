"""Conversation: an episode as messages to the model and answers from it; observations one way, actions the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium

from rolf.interface import Call, CallError, Choice, Interface, Tooled
from rolf_adapters.language_model import answers, shortened
from rolf_adapters.ppo.language.settings import Speech
from rolf_adapters.ppo.language.template import Template
from rolf_adapters.ppo.segments import CALLS, Segment, of_call

GRAMMATICAL = "json-plan"
"""The style whose answers a grammar can describe."""


class Conversation:
    """What is said in one episode.

    Args:
        env: An environment with tools (``rolf.interface.Tooled``), whose episode has begun.
        template: How messages are put to the model.
        speech: How observations become messages.

    Raises:
        TypeError: the environment has no tools.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], template: Template, speech: Speech) -> None:
        world: Any = env.unwrapped
        if not isinstance(world, Tooled):
            raise TypeError(f"{env} has no tools that a text could call; it must offer what rolf.interface.Tooled asks")
        self._env, self._world = env, world
        self._template, self._speech = template, speech
        self._rotated = env.has_wrapper_attr("written")
        self._own = None if self._rotated else Interface(_choice(speech), world.tools, world.purpose)
        self._did = ""
        self.malformed = 0
        """Answers so far that were no calls."""
        self.segment = Segment.EXECUTE
        """Which part of the work the last answer was."""

    @property
    def interface(self) -> Interface:
        """How calls are written now."""
        found: Interface = self._env.get_wrapper_attr("interface") if self._own is None else self._own
        return found

    def schema(self) -> Mapping[str, Any] | None:
        """Return what an answer must look like now; None: a grammar cannot say it, or is not wanted."""
        wanted = self._speech.grammar and self.interface.choice.style == GRAMMATICAL
        return answers(self.interface.tools) if wanted else None

    def begin(self, observation: Any, info: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the context that the first answer is given to."""
        system, message = self._told(observation, info)
        return self._template.begin(system if self._speech.system is None else self._speech.system, message)

    def follow(self, observation: Any, info: Mapping[str, Any], *, ended: bool) -> tuple[int, ...]:
        """Return what is appended to the context after an answer.

        Args:
            observation: What came of it.
            info: Beside the observation.
            ended: Whether the model ended its answer itself.
        """
        return self._template.follow(self._told(observation, info)[1], ended=ended)

    def action(self, text: str) -> Any:
        """Return the action that an answer means; one that is no call has the step that the environment has for it."""
        try:
            call = self.interface.read(text)
        except CallError as error:
            self._did, self.segment = "", Segment.EXECUTE
            self.malformed += 1
            return text if self._own is None else self._world.malformed(str(error))
        # Of the tools of somebody's own environment no rule is known.
        known = call.tool == "run" or call.tool in CALLS
        self.segment = of_call(call) if known else Segment.EXECUTE
        if self._own is None:
            return text
        self._did = self._own.did(call)
        return self._world.action_of(call)

    def written(self, action: Any) -> str:
        """Return the answer that means an action of another policy's.

        Raises:
            CallError: the interface does not offer what the action needs.
        """
        if self._own is None:
            return str(action)
        call: Call = self._world.call_of(action)
        return self._own.write(call)

    def _told(self, observation: Any, info: Mapping[str, Any]) -> tuple[str, str]:
        if self._own is None:
            system, message = observation["system"], observation["message"]
        else:
            sections = self._world.told(observation, info)
            system, message = "", self._own.message(sections, self._did)
            if self._speech.system is None:
                system = self._own.system
        return system, shortened(message, self._speech.message)


def _choice(speech: Speech) -> Choice:
    return Choice(speech.style, speech.prompt, speech.layout, speech.names, speech.subset)
