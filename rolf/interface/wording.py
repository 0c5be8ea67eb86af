"""Wording: tools in words, for the styles that show no schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rolf.interface.jsontext import written
from rolf.interface.tool import Tool

NUMBERS = {"integer": "whole number", "number": "number"}
WORDS = {"string": "text", "boolean": "true or false", "null": "null", **NUMBERS}


def bullets(tools: Sequence[Tool]) -> str:
    """Return tools as a list, their parameters as lists below."""
    return "\n".join(line for tool in tools for line in _bullet(tool))


def _bullet(tool: Tool) -> Iterator[str]:
    yield f"- {tool.name}: {tool.description}"
    for name in tool.parameters.model_fields:
        yield f"  - {name} ({kind(tool, name)}){described(tool, name)}"


def kind(tool: Tool, parameter: str) -> str:
    """Return what a parameter takes, in words: ``number above 0, at most 3600, optional``."""
    schema = tool.schema["properties"][parameter]
    said = _kind(schema, tool.schema.get("$defs", {}))
    return said if parameter in tool.required else f"{said}, optional"


def described(tool: Tool, parameter: str) -> str:
    """Return the description of a parameter, with a colon before it; nothing where it has none."""
    said = tool.schema["properties"][parameter].get("description", "")
    return f": {' '.join(said.split())}" if said else ""


def _kind(schema: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    if "enum" in schema:
        return "one of " + ", ".join(written(each) for each in schema["enum"])
    if "const" in schema:
        return written(schema["const"])
    if "anyOf" in schema:
        if tags := _tags(schema["anyOf"], known):
            return f'{{"type": one of {tags}, …}}'
        return " or ".join(dict.fromkeys(_kind(each, known) for each in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'], known)}"
    if schema.get("type") == "object":
        return _object(schema, known)
    return WORDS.get(schema.get("type", ""), "anything") + _range(schema)


def _tags(alternatives: Sequence[Mapping[str, Any]], known: Mapping[str, Any]) -> str:
    """Return the values of ``type`` that tell objects apart; nothing where that is not how they differ."""
    found = [known.get(str(each.get("$ref", "")).rpartition("/")[2], {}) for each in alternatives]
    tags = [each.get("properties", {}).get("type", {}).get("const") for each in found]
    return ", ".join(map(written, tags)) if len(tags) > 1 and all(tags) else ""


def _object(schema: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    needed = schema.get("required", ())
    parts = (
        f"{written(name)}: {_kind(each, known)}{'' if name in needed else ' (optional)'}"
        for name, each in schema.get("properties", {}).items()
    )
    return f"{{{', '.join(parts)}}}"


def _range(schema: Mapping[str, Any]) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f" from {schema['minimum']} to {schema['maximum']}"
    ends = (("exclusiveMinimum", "above"), ("minimum", "from"), ("maximum", "up to"), ("exclusiveMaximum", "below"))
    return "".join(f" {word} {schema[key]:g}" for key, word in ends if key in schema)


def usage(tools: Sequence[Tool]) -> Sequence[Tool]:
    """Return the tools whose examples a description shows: the first, and one that is called differently."""
    first = tools[0]
    other = next((tool for tool in tools[1:] if bool(tool.example) != bool(first.example)), None)
    other = other or next((tool for tool in tools[1:] if bool(tool.body) != bool(first.body)), None)
    return (first,) if other is None else (first, other)
