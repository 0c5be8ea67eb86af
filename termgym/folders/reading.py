"""Reading: from a file's values to a checked model, with every mistake and every unknown key by name and line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from termgym.errors import FolderError
from termgym.folders.source import Source, dotted
from termgym.reasons import shorten

Line = Callable[[Sequence[str | int]], int | None]
Model = TypeVar("Model", bound=BaseModel)

SHOWN = 3
"""Mistakes that one message names."""


def checked(model: type[Model], data: Any, source: Source, line: Line) -> Model:
    """Return the model that a file's values make.

    Args:
        model: What they should be.
        data: What they are.
        source: The file.
        line: Says where a name stands.

    Raises:
        FolderError: values are missing or wrong; names the first ones with line, value and what is allowed.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        first = line(_named(faults[0], data))
        said = "; ".join(_said(each, data, line) for each in faults[:SHOWN])
        more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
        raise source.fault(said + more, first) from None


def unknown(model: BaseModel, source: Source, line: Line, name: tuple[str | int, ...] = ()) -> Iterator[str]:
    """Yield the keys that the format does not know, each with its line."""
    for key in sorted(model.model_extra or {}):
        number = line((*name, key))
        where = source.path.name if number is None else f"{source.path.name}, line {number}"
        yield f"{dotted((*name, key))} ({where})"
    for key in type(model).model_fields:
        value = getattr(model, key)
        for index, each in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(each, BaseModel):
                at = (*name, key, index) if isinstance(value, list) else (*name, key)
                yield from unknown(each, source, line, at)


def mapping(data: Any, source: Source) -> Mapping[str, Any]:
    """Return a file's values if they are a mapping.

    Raises:
        FolderError: they are a list, a text or nothing at all.
    """
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        kind = "is empty" if data is None else f"is no mapping of names to values but {shorten(data)}"
        raise FolderError(f"{source.path}: {kind}; write `name: value` lines")
    return data


def _said(fault: Any, data: Any, line: Line) -> str:
    name = _named(fault, data)
    wanted = fault["msg"].removeprefix("Value error, ")
    wanted = f"{wanted[:1].lower()}{wanted[1:]}".replace("input should", "should")
    if not name:
        return wanted
    if fault["type"] == "missing":
        return f"{dotted(name)} is missing"
    number = line(name)
    where = "" if number is None else f" (line {number})"
    return f"{dotted(name)}={shorten(fault['input'])}{where}: {wanted}"


def _named(fault: Any, data: Any) -> tuple[str | int, ...]:
    """Return where a fault lies in the file; pydantic's location also names the alternative of a union it tried."""
    name: list[str | int] = []
    for part in fault["loc"]:
        known = (isinstance(data, dict) and part in data) or (isinstance(data, list) and isinstance(part, int))
        if not known:
            if fault["type"] == "missing":
                name.append(part)
            break
        name.append(part)
        data = data[part]
    return tuple(name)
