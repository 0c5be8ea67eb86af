"""Config: all of a training in one frozen, checked tree, read from YAML."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path as File
from types import ModuleType
from typing import Any, cast, get_args

import yaml
from pydantic import ValidationError, create_model
from pydantic_core import ErrorDetails

from rolf.variant import digest
from rolf_adapters.ppo.groups import Cluster, Experiment, Group, Logging, Reward, Stages, Training
from rolf_adapters.ppo.reading import ConfigError, Path, Written, parsed, replaced

KINDS = {
    "vector": "rolf_adapters.ppo.vector",
    "language": "rolf_adapters.ppo.language",
}
"""Kinds of learners that come along, and their packages."""
FREE = ("logging",)
"""Groups that say nothing of what is learned: a training may go on with others."""


class Config(Group):
    """A training. What the groups in the middle hold depends on the kind of learner."""

    experiment: Experiment
    cluster: Cluster = Cluster()
    environment: Group
    rollout: Group
    reward: Reward
    policy: Group
    training: Training
    stages: Stages = Stages()
    logging: Logging = Logging()

    def plain(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return self.model_dump(mode="json")

    def text(self) -> str:
        """Return it as YAML, every default written out."""
        return str(yaml.safe_dump(self.plain(), sort_keys=False, allow_unicode=True, width=120))

    def course(self) -> dict[str, Any]:
        """Return, as plain JSON, what the course of the training follows from.

        Not how long it is: a training may be made longer. (Where the learning rate falls with the iterations, that
        moves it, and a longer one goes another way from there on.)
        """
        plain = {name: group for name, group in self.plain().items() if name not in FREE}
        return plain | {"training": {key: each for key, each in plain["training"].items() if key != "iterations"}}

    @property
    def digest(self) -> str:
        """SHA-256 of `course`."""
        return digest(self.course())

    def slower(self, factor: float) -> Config:
        """Return it with all learning rates multiplied: of PPO, of a warm start, of whatever a kind names as one."""
        training: Group = self.training
        for name in self.training.RATES:
            training = _multiplied(training, name.split("."), factor)
        return self.model_copy(update={"training": training})


def read(path: File, overrides: tuple[str, ...] = ()) -> Config:
    """Return the configuration that a file holds.

    Args:
        path: YAML.
        overrides: ``training.learning_rate=3e-4`` and the like, put in place of what the file says.

    Raises:
        ConfigError: there is no such file, or it cannot be used; names line, key, value and what is allowed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{str(path)!r}: {error.strerror}; give a YAML file that can be read") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(path)!r} is no text in UTF-8: {error}") from error
    return checked(replaced(parsed(text, str(path)), overrides))


def checked(written: Written | dict[str, Any]) -> Config:
    """Return the configuration that plain data says.

    Raises:
        ConfigError: it says none.
    """
    if not isinstance(written, Written):
        written = Written(written)
    # A group whose keys are all commented out is an empty one.
    data = {key: {} if group is None else group for key, group in written.data.items()}
    model = _model(data, written)
    try:
        # By JSON, in which a list is what a tuple is written as, and a text still is no number.
        config = model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        found = error.errors(include_url=False)
        order = {place: number for number, place in enumerate(written.places.values())}
        lines = [(written.place(_written(each["loc"], written.data)), _line(each, model, written)) for each in found]
        lines.sort(key=lambda line: order.get(line[0], -1))
        raise ConfigError("\n".join(line for _, line in lines)) from error
    except TypeError as error:
        raise ConfigError(
            f"{written.name}: only texts, numbers, truths, lists and groups have a place here: {error}"
        ) from error
    # What an environment is made with is its own affair, and nobody has looked into it yet.
    unlike = list(_unlike_json(data, (), written))
    if unlike:
        raise ConfigError("\n".join(unlike))
    return config


def model_of(kind: str) -> type[Config]:
    """Return the class of the configurations of a kind of learner.

    Raises:
        ConfigError: there is no such kind.
    """
    settings = getattr(_module(kind, "settings"), "Settings", None)
    if not isinstance(settings, type) or not issubclass(settings, Group):
        raise ConfigError(f"experiment.kind {kind!r}: its module has no class Settings, a kind of ppo.groups.Group")
    wanted = {"environment", "rollout", "reward", "policy", "training"}
    if set(settings.model_fields) != wanted:
        raise ConfigError(f"experiment.kind {kind!r}: its Settings must have the groups {', '.join(sorted(wanted))}")
    return cast(type[Config], create_model("Config", __base__=(settings, Config), __doc__=Config.__doc__))


def builder(kind: str) -> Any:
    """Return the function ``build(settings, *, seed) -> Learner`` of a kind of learner.

    Raises:
        ConfigError: there is no such kind, or it has none.
    """
    found = getattr(_module(kind, "learner"), "build", None)
    if not callable(found):
        raise ConfigError(f"experiment.kind {kind!r}: its module has no function build(settings, *, seed)")
    return found


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of the configurations of a kind of learner.

    Raises:
        ConfigError: there is no such kind.
    """
    return model_of(kind).model_json_schema()


def _model(data: dict[str, Any], written: Written) -> type[Config]:
    """Return the class that says which groups there are."""
    experiment = data.get("experiment")
    kind = experiment.get("kind") if isinstance(experiment, dict) else None
    at = written.place(("experiment", "kind"))
    if not isinstance(kind, str):
        raise ConfigError(f"{at}: experiment.kind is {kind!r}; expected {' or '.join(KINDS)}, or a module of your own")
    try:
        return model_of(kind)
    except ConfigError as error:
        raise ConfigError(f"{at}: {error}") from error


def _multiplied(group: Group, path: Sequence[str], factor: float) -> Group:
    """Return a group with one of its numbers, or one of a group in it, multiplied; without that group as it is."""
    name, *rest = path
    value = getattr(group, name)
    if value is None:
        return group
    return group.model_copy(update={name: _multiplied(value, rest, factor) if rest else value * factor})


def _module(kind: str, part: str) -> ModuleType:
    """Return a module of a kind of learner; one of somebody's own holds everything."""
    name = f"{KINDS[kind]}.{part}" if kind in KINDS else kind
    if (
        kind not in KINDS and "" not in sys.path
    ):  # an installed command does not look in the working directory, where the module often lies
        sys.path.insert(0, "")
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        near = get_close_matches(kind, KINDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; expected {' or '.join(KINDS)}, or a module to import"
        raise ConfigError(f"experiment.kind is {kind!r}, and there is no module {error.name!r}{hint}") from error


def _line(error: ErrorDetails, model: type[Group], written: Written) -> str:
    """Return one thing that is wrong, as a line for people."""
    path = _written(error["loc"], written.data)
    named = ".".join(map(str, path)) or "the whole"
    at = written.place(path)
    if error["type"] == "extra_forbidden":
        known = list(_known(model, path[:-1]))
        near = get_close_matches(str(path[-1]), known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"{at}: {named}: there is no such key; {hint}known here: {', '.join(known)}"
    if error["type"] == "missing":
        return f"{at}: {named} is missing; known here: {', '.join(_known(model, path[:-1]))}"
    allowed = error["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    got = "" if isinstance(error["input"], dict) else f" is {error['input']!r:.80}"
    return f"{at}: {named}{got}{'; ' if got else ': '}{allowed}"


def _unlike_json(data: Any, path: Path, written: Written) -> Iterator[str]:
    """Yield what JSON has no word for, as lines for people: written as that, it would come back as something else."""
    if isinstance(data, float) and not math.isfinite(data):
        named = ".".join(map(str, path))
        yield f"{written.place(path)}: {named} is {data}; it should be a finite number; give one, or leave it out"
    if isinstance(data, dict):
        for key, inner in data.items():
            at: Path = (*path, str(key))
            if not isinstance(key, str):
                wrong = f"{'.'.join(map(str, path))} has the key {key!r}"
                yield f"{written.place(at)}: {wrong}; a key is a text; put it in quotes: {str(key)!r}"
            yield from _unlike_json(inner, at, written)
    if isinstance(data, list | tuple):
        for number, inner in enumerate(data):
            yield from _unlike_json(inner, (*path, number), written)


def _written(path: Path, data: Any) -> Path:
    """Return a path without what pydantic adds to tell the possibilities of a choice from each other."""
    found: list[str | int] = []
    for number, key in enumerate(path):
        inside = isinstance(data, dict) or (isinstance(data, list) and isinstance(key, int) and key < len(data))
        there = inside and (isinstance(data, list) or key in data)
        if there or (inside and number == len(path) - 1):
            found.append(key)
            data = data[key] if there else None
    return tuple(found)


def _known(model: type[Group], path: Path) -> Iterator[str]:
    """Yield the keys of the group that a path leads to."""
    groups: list[type[Group]] = [model]
    for key in path:
        fields = [group.model_fields[key] for group in groups if isinstance(key, str) and key in group.model_fields]
        found = [inner for each in fields for inner in _groups(each.annotation)]
        groups = found or groups  # a number in a list, or the tag of a choice, leads to nothing of its own
    for group in groups:
        yield from group.model_fields


def _groups(annotation: Any) -> Iterator[type[Group]]:
    """Yield the groups that a field may hold."""
    if isinstance(annotation, type) and issubclass(annotation, Group):
        yield annotation
    for inner in get_args(annotation):
        yield from _groups(inner)
