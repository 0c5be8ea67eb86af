"""Unseen: tasks through an interface that no training has shown (split ``unseen-interface``).

Each task has one of the held-out styles, by hash of its name, and the wording, the layout and the names are held out
too. Played beside ``unseen-world``, which has the same tasks, the difference is what the interface costs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from rolf.interface import HELD_OUT, Call, Choice, Interface, Role, Section, layouts, namings, prompts
from rolf.variant import Labels, Variant
from termgym.tools import PURPOSE, TOOLS

SAMPLE = tuple(Section(role.value, "a b\n", role) for role in Role)
"""One section of each role, for the digest of the layouts."""


def through_unseen(
    variants: Sequence[Variant], labels: Sequence[Labels]
) -> tuple[tuple[Variant, ...], tuple[Labels, ...]]:
    """Return the same tasks through the held-out interface, and their labels with the style of each."""
    chosen = [_style(variant.name) for variant in variants]
    wrapped = (
        replace(variant, wrappers=(_wrapper(name),), name=f"{variant.name}, {name}")
        for variant, name in zip(variants, chosen, strict=True)
    )
    styled = (replace(label, style=name) for label, name in zip(labels, chosen, strict=True))
    return tuple(wrapped), tuple(styled)


def interface_digest() -> str:
    """Return the SHA-256 of what the held-out interfaces say: every way in which a task of the split can be asked."""
    told = []
    axes = product(HELD_OUT, prompts.HELD_OUT, layouts.HELD_OUT, namings.HELD_OUT)
    for styled, asked, laid_out, named in axes:
        interface = Interface(Choice(styled, asked, laid_out, named, "all"), TOOLS, PURPOSE)
        told += [interface.system, interface.message(SAMPLE, "ls"), interface.write(Call("run", {"command": "ls"}))]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def _style(task: str) -> str:
    place = int.from_bytes(hashlib.sha256(f"term-v1/interface/{task}".encode()).digest()[:8], "big")
    return HELD_OUT[place % len(HELD_OUT)]


def _wrapper(name: str) -> Mapping[str, Any]:
    """Return the wrapper as recordings have it: with the arguments that differ from its defaults."""
    unseen = dict.fromkeys(("prompts", "layouts", "names"), "held-out")
    return {
        "name": "RotateInterface",
        "entry_point": "rolf_wrappers.rotate_interface:RotateInterface",
        "kwargs": {"styles": [name], **unseen},
    }
