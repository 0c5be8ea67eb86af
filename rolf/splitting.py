"""Splitting: find a split by its name among the installed environments, or read it from a file of one's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rolf.evaluation.origin import origins
from rolf.variant import SEEDS, Labels, Split, Variant, canonical, shortened

FORMAT = "rolf-split/1"
KEYS: Mapping[str, type] = {
    "format": str,
    "name": str,
    "attempts": int,
    "limits": dict,
    "content": str,
    "pinned": bool,
    "variants": list,
    "labels": list,
}
NEEDED = ("format", "name", "attempts", "variants")
LABELS: Mapping[str, type | tuple[type, ...]] = {
    "cluster": str,
    "family": str,
    "level": (int, type(None)),
    "parameters": dict,
    "style": str,
}
LONGEST_NAME = 200
"""Of a split [characters]."""
MOST_ATTEMPTS = 1_000


def find_split(text: str) -> Split:
    """Return the split of that name, or of the file that lies there; ``[:N]`` behind either takes its first N variants.

    Raises:
        LookupError: there is none; the message suggests the nearest.
        ValueError: the file holds no split, or what is in the brackets is no number.
    """
    name, count = shortened(text)
    split = read_split(Path(name)) if name.endswith(".json") else _installed(name)
    return split if count is None else split.first(count)


def is_installed(name: str) -> bool:
    """Return whether an installed environment has a split of that name."""
    return any(entry.name == name for module in origins().values() for entry in module.splits())


def _installed(name: str) -> Split:
    known = {entry.name: module for module in origins().values() for entry in module.splits()}
    if name in known:
        return known[name].split(name)
    whole, bracket, part = name.partition("[")
    near = get_close_matches(whole, known, n=1)
    number = part.strip("]")
    taken = f"[:{number if number.isdecimal() else 'N'}]" if bracket else ""
    hint = f"; did you mean {near[0] + taken!r}?" if near else ""
    hint += " [:N] takes the first N variants; there are no other parts" if bracket else ""
    raise LookupError(
        f"no split is named {name!r}{hint}; `rolf split list` shows those there are, and the name of a file of your "
        "own ends in .json"
    )


def read_split(path: Path) -> Split:
    """Return the split that a file holds.

    Raises:
        ValueError: there is no such file, or it holds no split; says where and why.
    """
    plain = read_json(path, "split file")
    try:
        return from_json(plain)
    except ValueError as error:
        raise ValueError(f"split file {str(path)!r}: {error}") from error


def read_json(path: Path, called: str) -> Any:
    """Return what a JSON file holds.

    Args:
        path: The file.
        called: What errors call it.

    Raises:
        ValueError: there is none that can be read.
    """
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{called} {str(path)!r}: {error.strerror}; give a file that can be read") from error
    except RecursionError as error:
        raise ValueError(f"{called} {str(path)!r} is nested too deep to be read") from error
    except ValueError as error:
        raise ValueError(f"{called} {str(path)!r} is not JSON: {error}") from error


def from_json(plain: Any) -> Split:
    """Return the split that plain data says.

    Raises:
        ValueError: it says none; says where and why.
    """
    check_object(plain, "the file", KEYS, NEEDED)
    if plain["format"] != FORMAT:
        raise ValueError(f"format is {plain['format']!r:.60}; this version reads {FORMAT!r}")
    if not 0 < len(plain["name"]) <= LONGEST_NAME or not plain["name"].isprintable():
        raise ValueError(f"name is {plain['name']!r:.60}; expected 1 to {LONGEST_NAME} printable characters")
    if not 1 <= plain["attempts"] <= MOST_ATTEMPTS:
        raise ValueError(f"attempts is {plain['attempts']}; expected a whole number from 1 to {MOST_ATTEMPTS}")
    variants = [_variant(each, f"variants[{number}]") for number, each in enumerate(plain["variants"])]
    if not variants:
        raise ValueError("variants is empty; a split has at least one")
    check_distinct(variants)
    given = plain.get("labels", [{"cluster": variant.digest} for variant in variants])
    labels = [_labels(each, f"labels[{number}]") for number, each in enumerate(given)]
    _check_numbers(plain.get("limits"), "limits")
    limits, content, pinned = plain.get("limits", {}), plain.get("content", ""), plain.get("pinned", False)
    return Split(plain["name"], tuple(variants), tuple(labels), plain["attempts"], limits, content, pinned)


def as_json(split: Split) -> dict[str, Any]:
    """Return a split as plain data, which `from_json` reads."""
    return {
        "format": FORMAT,
        "name": split.name,
        "attempts": split.attempts,
        "limits": dict(split.limits),
        "content": split.content,
        "pinned": split.pinned,
        "variants": [variant.as_json() for variant in split.variants],
        "labels": [labels_as_json(labels) for labels in split.labels],
    }


def labels_as_json(labels: Labels) -> dict[str, Any]:
    """Return labels as plain data, less what says nothing."""
    told = {name: getattr(labels, name) for name in LABELS}
    told["parameters"] = dict(labels.parameters)
    return {name: value for name, value in told.items() if value not in ("", None, {})} | {"cluster": labels.cluster}


def check_object(plain: Any, where: str, keys: Mapping[str, Any], needed: tuple[str, ...]) -> None:
    """See that plain data is an object with known keys of the right kinds.

    Raises:
        ValueError: it is not; says where and why.
    """
    if not isinstance(plain, dict):
        raise ValueError(f"{where} is {plain!r:.60}, expected an object with {', '.join(needed)}")
    for key in needed:
        if key not in plain:
            raise ValueError(f"{where} has no {key!r}; it needs {', '.join(needed)}")
    for key, value in plain.items():
        if key not in keys:
            near = get_close_matches(key, keys, n=1)
            raise ValueError(
                f"{where} has the unknown key {key!r:.60}{f'; did you mean {near[0]!r}?' if near else ''}; "
                f"known are {', '.join(keys)}"
            )
        if not isinstance(value, keys[key]) or isinstance(value, bool) is not (keys[key] is bool):
            raise ValueError(f"{where}: {key!r} is {value!r:.60}, expected {_expected(keys[key])}")


def _expected(kind: Any) -> str:
    words = {str: "text", int: "a whole number", dict: "an object", list: "a list", bool: "true or false"}
    words[type(None)] = "null"
    return " or ".join(words[each] for each in (kind if isinstance(kind, tuple) else (kind,)))


def _variant(plain: Any, where: str) -> Variant:
    keys = {"env_id": str, "kwargs": dict, "seed": int, "wrappers": list, "name": str}
    check_object(plain, where, keys, ("env_id", "kwargs", "seed"))
    if not 0 <= plain["seed"] < SEEDS:
        raise ValueError(f"{where}: seed is {plain['seed']}; expected a whole number from 0 and below 2**62")
    for number, wrapper in enumerate(plain.get("wrappers", ())):
        parts = {"name": str, "entry_point": str, "kwargs": dict}
        check_object(wrapper, f"{where}: wrappers[{number}]", parts, tuple(parts))
    _check_numbers(plain, where)
    return Variant.from_json(plain)


def _check_numbers(plain: Any, where: str) -> None:
    """See that there are no NaN and infinities, which Python's reader takes and JSON does not know."""
    try:
        canonical(plain)
    except ValueError as error:
        raise ValueError(f"{where} holds a number that JSON does not know: {error}") from error


def _labels(plain: Any, where: str) -> Labels:
    check_object(plain, where, LABELS, ("cluster",))
    for name, value in plain.get("parameters", {}).items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not abs(value) <= sys.float_info.max:
            wrong = f"{where}: parameters: {name!r:.60} is {value!r:.60}"
            raise ValueError(f"{wrong}, expected a finite number of 64 bits")
    return Labels(**plain)


def check_distinct(variants: Sequence[Variant]) -> None:
    """See that no problem is there twice.

    Raises:
        ValueError: one is.
    """
    seen: dict[str, int] = {}
    for number, variant in enumerate(variants):
        other = seen.setdefault(variant.digest, number)
        if other != number:
            raise ValueError(
                f"variants[{number}] is the same problem as variants[{other}]; more attempts at one are asked for by "
                "'attempts', another seed makes another problem"
            )
