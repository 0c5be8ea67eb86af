"""Reading: YAML as plain data, and where each value of it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

Path = tuple[str | int, ...]
"""Which value: the keys and numbers on the way to it."""


class ConfigError(ValueError):
    """A configuration that cannot be used: says in which file and line, which key, what it got and what is allowed."""


@dataclass(frozen=True, slots=True)
class Written:
    """Plain data, and where it comes from."""

    data: dict[str, Any]
    places: Mapping[Path, str] = field(default_factory=dict)
    """``file:line``, or the option, of each value."""
    name: str = "configuration"
    """What errors call the whole."""

    def place(self, path: Path) -> str:
        """Return where a value was written, or the nearest that holds it."""
        above = [path[:length] for length in range(len(path), 0, -1)]
        below = [inner for inner in self.places if inner[: len(path)] == path]  # of a group that --set has begun
        return next((self.places[each] for each in above[:1] + below + above if each in self.places), self.name)


class _Loader(yaml.SafeLoader):
    """YAML 1.2's idea of a number and a truth: 1e-4 is a number, ``no`` and a date are texts."""


_Loader.yaml_implicit_resolvers = {
    letter: [pair for pair in pairs if pair[0].rpartition(":")[2] in {"int", "null", "merge"}]
    for letter, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), "tTfF")
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"(?:[-+]?(?:[0-9][0-9_]*)?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*\.?[eE][-+]?[0-9]+"
        r"|[-+]?[0-9][0-9_]*\.|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
    "-+0123456789.",
)


def parsed(text: str, name: str) -> Written:
    """Return what YAML says.

    Args:
        text: Of the file.
        name: What errors call the file.

    Raises:
        ConfigError: it is no YAML, no mapping, or names a key twice.
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise ConfigError(f"{name}: is empty; see the examples in examples/*.yaml")
        places: dict[Path, str] = {}
        _find(node, (), name, places, ())
        data = loader.construct_document(node)
    except yaml.YAMLError as error:
        raise ConfigError(f"{name}: is not YAML: {_told(error)}") from error
    except ValueError as error:  # of a number that only looks like one
        raise error if isinstance(error, ConfigError) else ConfigError(f"{name}: {error}") from error
    finally:
        loader.dispose()
    if not isinstance(data, dict):
        raise ConfigError(f"{name}: is a {type(data).__name__}; expected groups such as 'experiment:' with their keys")
    return Written(data, places, name)


def value(text: str) -> Any:
    """Return one value written as in YAML: ``3e-4``, ``true``, ``[64, 64]``, ``a text``.

    Raises:
        ConfigError: it is no YAML.
    """
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{text!r:.60} is not written as a value of YAML: {_told(error)}") from error


def replaced(written: Written, overrides: tuple[str, ...]) -> Written:
    """Return the data with ``training.learning_rate=3e-4`` and the like put in.

    Raises:
        ConfigError: one is not written like that, or leads through what is no group.
    """
    data, places = _copied(written.data), dict(written.places)
    for text in overrides:
        name, equals, said = text.partition("=")
        path = tuple(name.split("."))
        if not equals or not all(path):
            raise ConfigError(
                f"--set {text!r:.80} is not written as group.key=value: --set training.learning_rate=3e-4"
            )
        at = data
        for number, key in enumerate(path[:-1]):
            if at.get(key) is None:
                at[key] = {}
            if not isinstance(at[key], dict):
                inner = ".".join(path[: number + 1])
                raise ConfigError(f"--set {text!r:.80}: {inner} is {at[key]!r:.60} and holds no keys; set it whole")
            at = at[key]
        at[path[-1]] = value(said)
        for old in [old for old in places if old[: len(path)] == path]:
            del places[old]
        places[path] = f"--set {name}"
    return Written(data, places, written.name)


def _copied(data: Any) -> Any:
    """Return plain data of which no part is shared, as YAML's anchors do."""
    if isinstance(data, dict):
        return {key: _copied(inner) for key, inner in data.items()}
    return [_copied(inner) for inner in data] if isinstance(data, list) else data


def _find(node: yaml.Node, path: Path, name: str, places: dict[Path, str], above: tuple[int, ...]) -> None:
    """Note the lines of all values, and refuse what YAML allows and nobody means."""
    if id(node) in above:
        raise ConfigError(f"{name}:{node.start_mark.line + 1}: an anchor that holds itself")
    above = (*above, id(node))
    if isinstance(node, yaml.SequenceNode):
        for number, inner in enumerate(node.value):
            places[*path, number] = f"{name}:{inner.start_mark.line + 1}"
            _find(inner, (*path, number), name, places, above)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, inner in node.value:
            line = f"{name}:{key.start_mark.line + 1}"
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigError(f"{line}: a key is a text, not a list or a mapping")
            if key.value in seen:
                raise ConfigError(f"{line}: {'.'.join(map(str, (*path, key.value)))} is given twice")
            seen.add(key.value)
            places[*path, key.value] = line
            _find(inner, (*path, key.value), name, places, above)


def _told(error: Exception) -> str:
    return " ".join(str(error).split())
