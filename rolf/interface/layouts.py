"""Layouts: sections as the text of a message."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from rolf.interface.choosing import known
from rolf.interface.jsontext import written
from rolf.interface.section import Role, Section

Layout = Callable[[Sequence[Section], str], str]
"""Takes what is told, and what the policy did last (empty: nothing yet)."""

TRAINING = ("json", "tags", "transcript")
HELD_OUT = ("markdown", "fields")


def _json(sections: Sequence[Section], _did: str) -> str:
    return written({each.name: each.value for each in sections})


def _tags(sections: Sequence[Section], _did: str) -> str:
    return "\n".join(_tag(each.name, _said(each)) for each in sections)


def _tag(name: str, text: str) -> str:
    while f"</{name}>" in text:  # what a program writes must not end its own section
        name += "_"
    return f"<{name}>\n{_ended(text)}</{name}>"


def _transcript(sections: Sequence[Section], did: str) -> str:
    place = next((_said(each) for each in sections if each.role is Role.PLACE), "")
    lines = [f"{place}$ {did}\n"] if did else []
    lines += [_ended(_said(each)) for each in sections if each.role is Role.OUTPUT]
    figures = ", ".join(f"{each.name} {_said(each)}" for each in sections if each.role is Role.FIGURE)
    return "".join([*lines, f"[{figures}]\n" if figures else "", f"{place}$ "])


def _markdown(sections: Sequence[Section], did: str) -> str:
    parts = [f"After `{did}`:"] if did and "`" not in did else []
    for each in sections:
        text = _said(each)
        if each.role is Role.OUTPUT:
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            parts.append(f"**{each.name}**\n{fence}text\n{_ended(text)}{fence}")
        else:
            parts.append(f"- **{each.name}**: {text}")
    return "\n".join(parts)


def _fields(sections: Sequence[Section], _did: str) -> str:
    """Header fields in the manner of RFC 5322: what goes on over lines is indented."""
    names = [each.name.replace("_", "-").title() for each in sections]
    values = [_said(each).replace("\n", "\n  ") for each in sections]
    return "\n".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))


def _said(section: Section) -> str:
    return section.value if isinstance(section.value, str) else written(section.value)


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


LAYOUTS: Mapping[str, Layout] = {
    "json": _json,
    "tags": _tags,
    "transcript": _transcript,
    "markdown": _markdown,
    "fields": _fields,
}


def layout(name: str) -> Layout:
    """Return the layout of that name.

    Raises:
        LookupError: there is none; the message suggests the nearest.
    """
    known("layout", name, LAYOUTS)
    return LAYOUTS[name]
