"""LanguageModel: a causal language model as a policy, in any environment that has tools (``rolf.interface.Tooled``).

Without ``RotateInterface`` round the environment it answers with JSON plans, and a grammar keeps it to them; with the
wrapper it reads and writes whatever style it is given, and only in the JSON-plan style a grammar can hold it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rolf.evaluation.policy import Start
from rolf.interface import Call, CallError, Choice, Interface, Tool, Tooled
from rolf_adapters.decoding import Decoder

PLAIN = Choice(style="json-plan", prompt="few-shot", layout="transcript", names="own", subset="needed")
"""The interface where the environment brings none."""
LONGEST_TEXT = 400
"""Longest string in an answer that a grammar holds [characters]."""
CUT = "\n[…]\n"


class LanguageModel:
    """Answer each message with the likeliest call; submit when the turns are over.

    Who says the same twice to the same message would say it for ever, for nothing is drawn: it submits then too. An
    environment without a tool of that name goes on.

    Args:
        decoder: The model.
        turns: Calls before it submits.
        tokens: Most tokens of an answer.
        window: Most tokens of a prompt; then the oldest turns are left out.
        message: Most characters of a message; of longer ones beginning and end are shown.

    Raises:
        ValueError: the tokenizer has no chat template.
    """

    deterministic = True

    def __init__(
        self, decoder: Decoder, *, turns: int = 8, tokens: int = 96, window: int = 2048, message: int = 1200
    ) -> None:
        if not getattr(decoder.tokenizer, "chat_template", None):
            raise ValueError("the tokenizer has no chat_template, so messages cannot be put to the model; set one")
        self._decoder = decoder
        self._turns, self._tokens, self._window, self._longest = turns, tokens, window, message

    def begin(self, start: Start) -> None:
        """See ``rolf.evaluation.policy.Policy.begin``."""
        world: Any = start.env.unwrapped
        if not isinstance(world, Tooled):
            raise TypeError(f"{start.variant.env_id} has no tools (rolf.interface.Tooled) that a text could call")
        self._world = world
        self._env = start.env
        self._interface = (
            None if start.env.has_wrapper_attr("written") else Interface(PLAIN, world.tools, world.purpose)
        )
        self._talk: list[dict[str, str]] = []
        self._did = ""
        self._taken = 0
        self._stuck = False
        self._decoder.forget()

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """See ``rolf.evaluation.policy.Policy.act``."""
        self._hear(observation, info)
        done = self._stuck or self._taken == self._turns
        if done and any(tool.name == "submit" for tool in self._world.tools):
            return self._submitted()
        self._taken += 1
        answer = self._decoder.answer(self._prompt(), self._tokens, self._schema(info))
        self._talk.append({"role": "assistant", "content": answer})
        self._stuck = self._talk[-4:-2] == self._talk[-2:]
        return answer if self._interface is None else self._action(self._interface, answer)

    def _hear(self, observation: Any, info: Mapping[str, Any]) -> None:
        if self._interface is None:
            system, message = observation["system"], observation["message"]
        else:
            sections = self._world.told(observation, info)
            system, message = self._interface.system, self._interface.message(sections, self._did)
        if not self._talk:
            self._talk.append({"role": "system", "content": system})
        self._talk.append({"role": "user", "content": shortened(message, self._longest)})

    def _prompt(self) -> Sequence[int]:
        """Return the conversation as tokens; the system's message, the first and the latest ones always remain."""
        while True:
            ids: Sequence[int] = self._decoder.tokenizer.apply_chat_template(
                self._talk, add_generation_prompt=True, return_dict=False
            )
            if len(ids) <= self._window or len(self._talk) <= 5:
                return ids
            del self._talk[2:4]

    def _action(self, interface: Interface, answer: str) -> Any:
        try:
            call = interface.read(answer)
        except CallError as error:
            self._did = ""
            return self._world.malformed(str(error))
        self._did = interface.did(call)
        return self._world.action_of(call)

    def _schema(self, info: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return what an answer must look like, where a grammar can say it."""
        if self._interface is not None:
            return answers(self._interface.tools)
        told = info["interface"]
        return answers(self._env.get_wrapper_attr("interface").tools) if told["style"] == "json-plan" else None

    def _submitted(self) -> Any:
        if self._interface is None:
            return self._env.get_wrapper_attr("written")(Call("submit"))
        return self._world.action_of(Call("submit"))


def answers(tools: Sequence[Tool]) -> Mapping[str, Any]:
    """Return the JSON Schema of an answer in the JSON-plan style: one call, with the arguments that it must have."""
    return {"anyOf": [_answer(tool) for tool in tools]}


def _answer(tool: Tool) -> Mapping[str, Any]:
    properties = {name: _bounded(tool.schema["properties"][name]) for name in tool.required}
    arguments = _object(properties)
    if tool.body:
        return arguments | ({"$defs": tool.schema["$defs"]} if "$defs" in tool.schema else {})
    return _object({tool.name: arguments if properties else {"const": True}})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _bounded(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an argument that a small model cannot fill without end."""
    if schema.get("type") == "string" and "enum" not in schema:
        return {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}
    return {key: value for key, value in schema.items() if key != "description"}


def shortened(text: str, length: int) -> str:
    """Return a text's beginning and end, no longer than ``length`` [characters]."""
    if len(text) <= length:
        return text
    half = (length - len(CUT)) // 2
    return f"{text[:half]}{CUT}{text[-half:]}"
