"""YAML with line numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from termgym.folders.reading import Line
from termgym.folders.source import Source

Name = tuple[str | int, ...]


def read_yaml(source: Source) -> tuple[Any, Line]:
    """Return what a YAML file says, and what tells where a name stands in it.

    Raises:
        FolderError: it is no YAML; says where.
    """
    try:
        data = yaml.safe_load(source.text)
        node = yaml.compose(source.text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or "it cannot be read"
        raise source.fault(f"is no YAML: {said}", None if mark is None else mark.line + 1) from None
    except RecursionError:
        raise source.fault("is no YAML that can be read: it is nested too deeply") from None
    known: dict[Name, int] = {}
    if node is not None:
        _walk(node, (), known, set())

    def line(name: Sequence[str | int]) -> int | None:
        for length in range(len(name), 0, -1):
            if tuple(name[:length]) in known:
                return known[tuple(name[:length])]
        return None

    return data, line


def _walk(node: yaml.Node, name: Name, known: dict[Name, int], seen: set[int]) -> None:
    if id(node) in seen:  # an alias: it may lead in a circle, or a million times to the same
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            at = (*name, str(key.value))
            known.setdefault(at, key.start_mark.line + 1)
            _walk(value, at, known, seen)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            known.setdefault((*name, index), value.start_mark.line + 1)
            _walk(value, (*name, index), known, seen)
