"""Tool: what a policy can call, and under which names."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""Names that every style can write: those of OpenAI's functions, of Python and of XML at once."""
RESERVED = frozenset({"thought", "tool"})
"""Names of parameters that styles need for themselves."""
STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)


class Parameters(BaseModel):
    """What parameters of a tool derive from: unknown ones are errors, nothing is coerced, docstrings describe."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Nothing(Parameters):
    """No parameters."""


@dataclass(frozen=True, slots=True)
class Alias:
    """Other names of a tool and of its parameters."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    """New names by their own; what is not here keeps its name."""


@dataclass(frozen=True, eq=False)
class Tool:
    """Something that a policy can call; two tools are the same only if they are one object."""

    name: str
    description: str
    """One or two sentences, for the policy."""
    parameters: type[BaseModel] = Nothing
    """A strict model that forbids unknown keys; its fields' descriptions are for the policy."""
    example: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of a call that makes sense by itself."""
    needed: bool = True
    """Whether there are tasks that cannot be solved without it."""
    body: str = ""
    """The one long text among the parameters (a command), which some styles put into a block of its own."""
    language: str = ""
    """What that text is written in: ``bash``."""
    rare: frozenset[str] = frozenset()
    """Parameters that an interface may leave out, beyond those that are optional anyway."""
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    """Other names, by the naming that uses them (``rolf.interface.namings``)."""

    def __post_init__(self) -> None:
        fields = self.parameters.model_fields
        for name in (self.name, *fields):
            if not NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a tool or parameter; give lower-case letters, digits and _")
        if taken := RESERVED & set(fields):
            raise ValueError(f"{self.name}: parameters cannot be named {', '.join(sorted(taken))}; styles use that")
        if self.body and (self.body not in self.texts or not fields[self.body].is_required()):
            raise ValueError(f"{self.name}: body={self.body!r} must be a required parameter of type str")
        if bad := {name for name in self.rare if name not in fields or fields[name].is_required()}:
            raise ValueError(f"{self.name}: {', '.join(sorted(bad))} cannot be left out: no optional parameter of it")
        try:
            self.parameters.model_validate(dict(self.example))
        except ValidationError as error:
            raise ValueError(f"{self.name}: its own example {dict(self.example)!r} is not allowed: {error}") from None

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        schema: dict[str, Any] = self.parameters.model_json_schema()
        _plain(schema)
        schema.pop("description", None)  # the tool's own stands beside it
        return {"type": "object", "properties": {}, **schema}

    @cached_property
    def texts(self) -> frozenset[str]:
        """Parameters that hold nothing but text."""
        return frozenset(name for name, kind in self.schema["properties"].items() if kind.get("type") == "string")

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Parameters that every call has."""
        return tuple(name for name, kind in self.parameters.model_fields.items() if kind.is_required())

    def own_names(self, naming: str) -> dict[str, str]:
        """Return the parameters' own names by those that a naming gives them."""
        alias = self.aliases.get(naming)
        new = {} if alias is None else alias.parameters
        return {new.get(name, name): name for name in self.parameters.model_fields}


@cache
def renamed(tool: Tool, naming: str) -> Tool:
    """Return a tool under the names of a naming; its own where it has no others."""
    alias = tool.aliases.get(naming)
    if alias is None:
        return tool
    new = {own: name for name, own in tool.own_names(naming).items()}
    return replace(
        tool,
        name=alias.name,
        parameters=_model(alias.name, tool.parameters, new),
        example={new[name]: value for name, value in tool.example.items()},
        body=new.get(tool.body, ""),
        rare=frozenset(new[name] for name in tool.rare),
        aliases={},
    )


@cache
def narrowed(tool: Tool, kept: frozenset[str]) -> Tool:
    """Return a tool with some of its parameters; those that every call has must be among them."""
    names = {name: name for name in tool.parameters.model_fields if name in kept}
    if len(names) == len(tool.parameters.model_fields):
        return tool
    example = {name: value for name, value in tool.example.items() if name in names}
    return replace(tool, parameters=_model(tool.name, tool.parameters, names), example=example, rare=tool.rare & kept)


def _model(title: str, model: type[BaseModel], names: Mapping[str, str]) -> type[BaseModel]:
    """Return a model with the fields that ``names`` lists, called what it says."""
    fields: dict[str, Any] = {
        new: (model.model_fields[own].annotation, copy.copy(model.model_fields[own])) for own, new in names.items()
    }
    made: type[BaseModel] = create_model(title, __config__=STRICT, **fields)
    return made


def _plain(node: Any) -> None:
    """Leave out of a schema what pydantic adds for people who read models: titles, and OpenAPI's discriminators."""
    if isinstance(node, list):
        for item in node:
            _plain(item)
    elif isinstance(node, dict):
        if isinstance(node.get("title"), str):
            del node["title"]
        if "discriminator" in node and "oneOf" in node:
            del node["discriminator"]
            node["anyOf"] = node.pop("oneOf")
        # A tag with a default is optional to the model and yet what tells the alternatives of a union apart.
        tags = [name for name, field in node.get("properties", {}).items() if "const" in field]
        if tags:
            node["required"] = [*tags, *(name for name in node.get("required", ()) if name not in tags)]
        for item in node.values():
            _plain(item)


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Return tools by name, if styles can tell them apart.

    Raises:
        ValueError: two would be written alike: by their names, their languages, or a main text that another has as a
            parameter.
    """
    found: dict[str, Tool] = {}
    for tool in tools:
        signs = {tool.name, tool.language} - {""}
        for other in found.values():
            if shared := signs & {other.name, other.language}:
                raise ValueError(f"two tools are known by {min(shared)!r}; a call of it would mean either")
            if _beside(tool, other) or _beside(other, tool):
                raise ValueError(f"{tool.name} and {other.name} cannot be told apart by their parameters; rename one")
        found[tool.name] = tool
    return found


def _beside(tool: Tool, other: Tool) -> bool:
    """Return whether what a tool is known by, where its parameters stand alone, is a parameter of another one too."""
    return bool(other.body) and (tool.body or tool.name) in other.parameters.model_fields
