"""Interface: one style, prompt, layout, naming and subset together, between a policy's text and calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from rolf.interface.call import Call, CallError
from rolf.interface.catalogue import style
from rolf.interface.layouts import layout
from rolf.interface.prompts import prompt
from rolf.interface.section import Section
from rolf.interface.style import Style
from rolf.interface.subsets import subset
from rolf.interface.tool import Tool, by_name, renamed

DID_LENGTH = 200
"""Longest account of what the policy did last [characters]."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of each is used, by name."""

    style: str
    prompt: str
    layout: str
    names: str
    subset: str

    def as_json(self) -> dict[str, str]:
        """Return it as plain data."""
        return asdict(self)


class Interface:
    """What a policy reads and writes.

    Args:
        choice: Which of each is used.
        tools: The environment's tools under their own names.
        purpose: What is to be done in it, in a sentence.
    """

    def __init__(self, choice: Choice, tools: Sequence[Tool], purpose: str) -> None:
        self.choice = choice
        self.style: Style = style(choice.style)
        self._layout = layout(choice.layout)
        self._purpose = purpose
        own = subset(choice.subset, tools)
        self.tools = tuple(by_name(renamed(tool, choice.names) for tool in own).values())
        """As the policy sees them."""
        self._own = {shown.name: tool for shown, tool in zip(self.tools, own, strict=True)}
        self._shown = {tool.name: shown for shown, tool in zip(self.tools, own, strict=True)}

    @cached_property
    def system(self) -> str:
        """What the policy is told before the first message."""
        return prompt(self.choice.prompt, self._purpose, self.style, self.tools)

    @cached_property
    def instructions(self) -> str:
        """How calls are written, without the rest of the prompt."""
        return self.style.describe(self.tools)

    def message(self, sections: Sequence[Section], did: str = "") -> str:
        """Return what is told, laid out."""
        return self._layout(sections, did)

    def read(self, text: str) -> Call:
        """Return the call that a policy's text holds, under the environment's own names.

        Raises:
            CallError: it holds none; the message is for the policy.
        """
        call = self.style.read(text, self.tools)
        own = self._own[call.tool]
        names = own.own_names(self.choice.names)
        return Call(own.name, {names[name]: value for name, value in call.arguments.items()})

    def write(self, call: Call, thought: str = "") -> str:
        """Return the text of a call, which is given under the environment's own names.

        Raises:
            CallError: this interface does not offer the tool or a parameter, or takes no such call.
        """
        shown = self._shown.get(call.tool)
        if shown is None:
            raise CallError(f"this interface does not offer {call.tool}; it offers {', '.join(self._shown)}")
        new = {own: name for name, own in self._own[shown.name].own_names(self.choice.names).items()}
        for name in call.arguments:
            if name not in new:
                raise CallError(f"this interface does not offer {name} of {call.tool}; it offers {', '.join(new)}")
        renamed_call = Call(shown.name, {new[name]: value for name, value in call.arguments.items()})
        return self.style.write(renamed_call, self.tools, thought)

    def did(self, call: Call) -> str:
        """Return what a call did, as a transcript has it: the main text, or name and arguments."""
        shown = self._shown[call.tool]
        own = self._own[shown.name]
        if own.body:
            said = str(call.arguments[own.body])
        else:
            said = " ".join([shown.name, *(str(each) for each in call.arguments.values())])
        return said if len(said) <= DID_LENGTH else f"{said[: DID_LENGTH - 1]}…"
