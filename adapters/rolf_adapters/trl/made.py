"""tools_of: a class for ``GRPOTrainer`` whose methods are made of an environment's tools."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, Literal, Union, get_args, get_origin

from rolf.interface import Tool, Tooled
from rolf.variant import Variant
from rolf_adapters.trl.rollout import Rollout

TAKEN = frozenset({"reset", "get_reward"})
"""Names of methods that TRL does not take for tools."""
PLAIN = (str, int, float, bool, type(None))
"""Types that a method's parameter may have, so that TRL can say it in a schema."""
RETURNS = ("Returns:", "    What came of it.")
"""The end of each docstring."""


def tools_of(env_id: str, name: str | None = None, *, told: str = "tags", **arguments: Any) -> type:
    """Return a class for ``GRPOTrainer(environment_factory=…)`` with a method for each tool of an environment.

    Each method has the tool's name, the types, defaults and descriptions of its parameters, and the tool's description.
    A parameter that may be left out and is more than a text, a number or a choice is not offered: TRL has no words for
    it. What arrives is checked as all calls are: values that are not allowed take the step for what is no call.

    Example:
        >>> LineTools = tools_of("linegym:LineEnv-v1", horizon=40)
        >>> inspect.signature(LineTools.order)
        <Signature (self, part: Literal['bearing', 'overheat', 'jam', 'tool-wear', 'leak', 'sensor-drift', \
'sensor-stuck', 'plc-comm'], quantity: Literal[1, 3] = 1) -> str>

    Args:
        env_id: Gymnasium id with its module.
        name: What the class, and TRL's metric of its reward, is called; None: the environment's name with ``Tools``.
        told: Layout of what the model is told: ``json``, ``tags``, ``transcript``.
        arguments: For ``gymnasium.make``, where a row does not say.

    Raises:
        TypeError: the environment has no tools, or a tool needs a parameter that TRL has no words for.
        ValueError: a tool has a name that TRL keeps for itself.
    """
    env = Variant(env_id, arguments).make()
    try:
        if not isinstance(env.unwrapped, Tooled):
            raise TypeError(f"{env_id} has no tools to be called; it must offer what rolf.interface.Tooled asks for")
        tools, purpose = env.unwrapped.tools, env.unwrapped.purpose
    finally:
        env.close()
    called = name or env_id.rpartition(":")[2].partition("-")[0].removesuffix("Env") + "Tools"
    methods = _face(env_id, told, arguments) | {tool.name: _method(tool) for tool in tools}
    return type(called, (), {"__doc__": purpose, "__module__": __name__, **methods})


def _face(env_id: str, told: str, arguments: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return the methods that are no tools."""

    def __init__(self: Any) -> None:
        self._rollout = Rollout(env_id, arguments, told=told)

    def reset(self: Any, **row: Any) -> str | None:
        """Begin the episode of a row of the data set."""
        begun: str = self._rollout.reset(row)
        return begun

    def get_reward(self: Any) -> float:
        """Return what the episode is worth; NaN where the machine failed."""
        worth: float = self._rollout.reward()
        return worth

    def __del__(self: Any) -> None:
        if "_rollout" in self.__dict__:
            self._rollout.close()

    return {"__init__": __init__, "reset": reset, "get_reward": get_reward, "__del__": __del__}


def _method(tool: Tool) -> Callable[..., str]:
    """Return the method that calls a tool, as a person would have written it."""
    if tool.name in TAKEN or tool.name.startswith("_"):
        raise ValueError(f"a tool is named {tool.name!r}, which TRL keeps for itself; rename it")
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    hints: dict[str, Any] = {}
    told: list[str] = []
    # What every call has comes first, as Python wants it.
    for name, field in sorted(tool.parameters.model_fields.items(), key=lambda each: not each[1].is_required()):
        if not _sayable(field.annotation):
            if field.is_required():
                raise TypeError(f"{tool.name} needs {name}: {field.annotation}, which TRL has no words for")
            continue
        hints[name] = field.annotation
        default = inspect.Parameter.empty if field.is_required() else field.default
        parameters.append(parameters[0].replace(name=name, default=default, annotation=field.annotation))
        told.append(f"    {name}: {_description(tool, name)}")

    def method(self: Any, *values: Any, **arguments: Any) -> str:
        if len(values) > len(hints):
            raise TypeError(f"{tool.name} takes {len(hints)} arguments, got {len(values)}")
        given = dict(zip(hints, values, strict=False)) | arguments
        said: str = self._rollout.call(tool.name, given)
        return said

    method.__name__, method.__qualname__, method.__annotations__ = tool.name, tool.name, {**hints, "return": str}
    method.__doc__ = "\n".join([tool.description, "", *(["Args:", *told, ""] if told else []), *RETURNS])
    signature = inspect.Signature(parameters, return_annotation=str)
    method.__signature__ = signature  # type: ignore[attr-defined]  # what inspect looks for
    return method


def _sayable(annotation: Any) -> bool:
    """Return whether TRL can say a type in a schema."""
    origin = get_origin(annotation)
    if origin is Literal:
        return all(isinstance(each, PLAIN) for each in get_args(annotation))
    if origin in (Union, types.UnionType):
        return all(map(_sayable, get_args(annotation)))
    return annotation in PLAIN


def _description(tool: Tool, name: str) -> str:
    """Return what a parameter is, in one line, with the bounds that a type does not tell."""
    known = tool.schema["properties"][name]
    said = " ".join(str(known.get("description", name)).split())
    bounds = [f"from {known['minimum']}"] if "minimum" in known else []
    bounds += [f"to {known['maximum']}"] if "maximum" in known else []
    return f"{said} ({' '.join(bounds)})" if bounds else said
