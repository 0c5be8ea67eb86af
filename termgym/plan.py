"""ActionPlan: what an agent does in one step, typed, and the text that carries it.

An action is one JSON object: a plan (``command``), keystrokes (``keys``) or the word that all is done (``submit``).
Nothing is coerced: ``"60"`` is no number and ``1`` is no boolean. Of a key that is written twice, the last one counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from termgym.checks import Check, Pattern
from termgym.errors import PlanError
from termgym.reasons import reason, shorten

PLAN_LIMIT = 8 << 20
"""Longest action text [code points]."""
COMMAND_LIMIT = 4 << 20
"""Longest command [code points]; twice what the shell battery types at once."""
TIMEOUT_LIMIT = 3600.0
"""Longest time-out a plan may ask for [s]."""
EXAMPLE = '{"command": "ls", "timeout": 10}'

Timeout = Annotated[float, Field(gt=0, le=TIMEOUT_LIMIT, allow_inf_nan=False)]


class _Action(BaseModel):
    """What all actions share: unknown keys are errors, nothing is coerced, equal content is equal."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Exchange(_Action):
    """One answer to a program that asks: wait for a pattern on the terminal, then type."""

    expect: Pattern
    """Python regular expression to wait for, searched in what the terminal shows after the previous answer."""
    send: Annotated[str, Field(max_length=65_536)]
    """Text to type; end it with a line feed to press Enter."""


class ActionPlan(_Action):
    """A command with what the agent expects of it."""

    command: Annotated[str, Field(max_length=COMMAND_LIMIT)]
    """What bash is to run, verbatim; several lines are welcome."""
    timeout: Timeout = 60.0
    """Time the command may take [s]; then it is stopped and its partial output returned."""
    idle_timeout: Timeout | None = None
    """Time without any output after which the command is stopped [s]; null: no such limit."""
    expected_exit_code: Annotated[int, Field(ge=0, le=255)] | None = 0
    """Exit status the command is expected to end with; null: any."""
    # The one lax place: a list is as good as a tuple to a caller in Python; the elements stay strict.
    validation_steps: tuple[Check, ...] = Field(default=(), max_length=32, strict=False)
    """What should hold after the command, in order."""
    dialogue: tuple[Exchange, ...] = Field(default=(), max_length=256, strict=False)
    """Answers to a program that asks, in order."""


class Keys(_Action):
    """Keystrokes for a program that waits for input."""

    keys: Annotated[str, Field(min_length=1, max_length=65_536)]
    """Text to type, or the name of one key: `q`, `C-c`, `Enter`, `Esc`."""
    timeout: Timeout = 60.0
    """Time until the program must have ended or wait again [s]."""


class Submit(_Action):
    """The agent says that it is done."""

    submit: Literal[True] = True
    """Always true."""


Action = ActionPlan | Keys | Submit
"""What one step does."""

_PLAN: TypeAdapter[ActionPlan] = TypeAdapter(ActionPlan)
_KEYS: TypeAdapter[Keys] = TypeAdapter(Keys)
_SUBMIT: TypeAdapter[Submit] = TypeAdapter(Submit)


def parse_action(text: str) -> Action:
    """Return the action that a text holds.

    Raises:
        PlanError: The text is no action; the message says what is wrong, what was got and what is allowed.
    """
    if not isinstance(text, str):
        raise PlanError(f"an action is a str with a JSON object like {EXAMPLE}, got {shorten(text)}")
    if len(text) > PLAN_LIMIT:
        raise PlanError(f"action of {len(text)} characters; at most {PLAN_LIMIT} are allowed: put data into files")
    try:
        return _PLAN.validate_json(text)
    except ValidationError as error:
        return _parse_other(text, error)


def _parse_other(text: str, error: ValidationError) -> Action:
    """Return the keystrokes or the submission in a text that is no plan; a plan is by far the likeliest."""
    try:
        given = _without_command(error)
        if "keys" in given:
            return _KEYS.validate_json(text)
        if "submit" in given:
            return _SUBMIT.validate_json(text)
    except ValidationError as other:
        raise PlanError(reason(other, EXAMPLE)) from None
    if [*given] == ["malformed"] and isinstance(given["malformed"], str):
        raise PlanError(given["malformed"])
    raise PlanError(reason(error, EXAMPLE)) from None


def _without_command(error: ValidationError) -> Mapping[str, object]:
    """Return the JSON object whose fault is that it has no key ``command``; an empty one if the fault is another."""
    if error.error_count() > 100:
        return {}
    missing = (each["input"] for each in error.errors() if each["type"] == "missing" and each["loc"] == ("command",))
    return next(missing, {})


def plan(
    command: str,
    *,
    timeout: float = 60.0,
    expected_exit_code: int | None = 0,
    validation_steps: Iterable[Check | Mapping[str, object]] = (),
    dialogue: Iterable[Exchange | tuple[str, str] | Mapping[str, object]] = (),
    idle_timeout: float | None = None,
) -> str:
    """Return the action text that runs a command.

    Args:
        command: What bash is to run, verbatim.
        timeout: Time the command may take [s].
        expected_exit_code: Exit status it is expected to end with; None: any.
        validation_steps: What should hold afterwards: checks, or mappings with a ``type``.
        dialogue: Answers to a program that asks: (pattern to expect, text to send) pairs.
        idle_timeout: Time without output after which the command is stopped [s].

    Raises:
        PlanError: A value is not allowed; `parse_action` accepts whatever is returned.
    """
    exchanges = [{"expect": each[0], "send": each[1]} if isinstance(each, tuple) else each for each in dialogue]
    return _written(
        {
            "command": command,
            "timeout": timeout,
            "idle_timeout": idle_timeout,
            "expected_exit_code": expected_exit_code,
            "validation_steps": list(validation_steps),
            "dialogue": exchanges,
        },
        ActionPlan,
    )


def keys(text: str, *, timeout: float = 60.0) -> str:
    """Return the action text that types at a program that waits for input.

    Raises:
        PlanError: A value is not allowed.
    """
    return _written({"keys": text, "timeout": timeout}, Keys)


def submit() -> str:
    """Return the action text that says that all is done."""
    return '{"submit": true}'


def malformed(reason: str) -> str:
    """Return the action text for what a policy wrote where its interface could not read it (``rolf.interface``).

    It is no plan, so the step that it takes is ``MALFORMED``, and the reason is what the agent is told.
    """
    return json.dumps({"malformed": reason}, ensure_ascii=False)


def _written(fields: Mapping[str, object], model: type[_Action]) -> str:
    """Return an action as text without the keys that have their default, checked by reading it back."""
    defaults = {name: field.default for name, field in model.model_fields.items()}
    kept = {name: value for name, value in fields.items() if value != defaults[name] and value != []}
    # Characters stay themselves: half a surrogate pair must reach the reader that refuses it.
    text = json.dumps(kept, ensure_ascii=False, default=_plain)
    parse_action(text)
    return text


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"a plan holds JSON values and checks, got {shorten(value)}")


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of an action, for constrained decoding and tool calls.

    It uses only what such tools understand (``anyOf``, ``const``, ``enum``, ranges, ``pattern``). What it
    accepts, `parse_action` accepts, and the other way round, but for three things that no schema can say: a pattern
    must compile, a whole number is written without a decimal point, and the text as a whole has a longest length.
    """
    return deepcopy(_schema())


@cache
def _schema() -> dict[str, Any]:
    schema = TypeAdapter(Action).json_schema()
    schema["$schema"] = GenerateJsonSchema.schema_dialect
    schema["title"] = "Action"
    for definition in schema["$defs"].values():
        # A tag with a default is optional to the model and yet what tells the alternatives apart.
        tags = [name for name, field in definition["properties"].items() if "const" in field]
        definition["required"] = [*tags, *(name for name in definition.get("required", ()) if name not in tags)]
        for field in definition["properties"].values():
            _portable(field.get("items", {}))
    return schema


def _portable(node: dict[str, Any]) -> None:
    """Say a tagged union as ``anyOf``: ``discriminator`` is OpenAPI's, and many decoders do not know ``oneOf``."""
    if node.pop("discriminator", None):
        node["anyOf"] = node.pop("oneOf")


def __getattr__(name: str) -> Any:
    if name == "ACTION_SCHEMA":  # made on demand: it takes milliseconds that a step never needs
        return plan_schema()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
