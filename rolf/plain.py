"""Plain: a copy of any value, in dictionaries, lists, arrays and what JSON knows, that can be compared and sent on."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from rolf.trajectory import jsonable

_ADDRESS = re.compile(r"\b0x[0-9a-f]+")
"""What the default ``repr`` says of where an object lies; never the same twice."""


def plain(value: Any) -> Any:
    """Return a value as plain data that shares nothing with it.

    Like `rolf.trajectory.jsonable`, but arrays stay arrays, and a value of a kind that nobody could read back becomes
    the text that describes it.

    Example:
        >>> plain({"place": (1, 2), "by": object()})
        {'place': [1, 2], 'by': '<object object at …>'}
    """
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.copy()
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    try:
        return jsonable(value)
    except TypeError:
        return _ADDRESS.sub("…", repr(value))
