"""Choices: what a client may choose of the environment that a server plays; the rest is whose machine it runs on."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from rolf.evaluation.evaluable import Choosable
from rolf.evaluation.origin import origin
from rolf.variant import Variant


def chosen(own: Variant, asked: str | Mapping[str, Any], choices: Collection[str]) -> tuple[Variant, Variant]:
    """Return the variant that a client asks for, and what is made for it: the server's own with the client's choice.

    Args:
        own: What the server plays.
        asked: The variant that the client wants, as JSON or an object.
        choices: Arguments that the server leaves to its clients, besides those that the environment says are harmless
            (`rolf.evaluation.evaluable.Choosable`).

    Raises:
        ValueError: it is no variant, is of another environment, or says what is not the client's to say.
    """
    read = Variant.from_json(json.loads(asked) if isinstance(asked, str) else asked)
    if read.env_id != own.env_id or read.wrappers:
        raise ValueError(f"this server plays {own.env_id} without wrappers, not {read.as_json()!r:.200}")
    allowed = _allowed(own.env_id) | dict.fromkeys(choices, _anything)
    made = dict(own.kwargs)
    for name, value in read.kwargs.items():
        if name in own.kwargs and own.kwargs[name] == value:
            continue  # the server's own stays: True is equal to 1, and no other word for it
        if name not in allowed:
            has = repr(own.kwargs[name]) if name in own.kwargs else "its default"
            raise ValueError(
                f"{name}={value!r:.100} is for the server to say, which has {has}; a client chooses "
                f"{', '.join(sorted(allowed)) or 'nothing but the seed'}"
            )
        if not allowed[name](value):
            raise ValueError(f"{name}={value!r:.100} is nothing that a client may choose; give a name that is built in")
        made[name] = value
    return read, Variant(own.env_id, made)


def _allowed(env_id: str) -> dict[str, Callable[[Any], bool]]:
    found = origin(env_id)
    return dict(found.CHOICES) if isinstance(found, Choosable) else {}


def _anything(value: Any) -> bool:  # noqa: ARG001
    return True
