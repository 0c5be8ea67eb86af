"""State: an image between two steps of its Dockerfile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from termgym.image.image import Image
from termgym.image.tree import Tree

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What docker sets where the image says nothing."""


@dataclass(slots=True)
class State:
    """Layers and configuration so far."""

    key: str
    """What names all that went in."""
    layers: list[str]
    env: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    """``ARG`` in scope, with a value."""
    workdir: str = "/"
    user: str = ""
    shell: tuple[str, ...] = ("/bin/sh", "-c")
    notes: dict[str, None] = field(default_factory=dict)
    """In order, each once."""

    @classmethod
    def of(cls, image: Image) -> State:
        """Return the state at the beginning of a stage that stands on an image."""
        env, notes = {"PATH": PATH, **image.env}, dict.fromkeys(image.notes)
        return cls(image.id, list(image.layers), env, {}, image.workdir, image.user, image.shell, notes)

    def copy(self) -> State:
        """Return the state at the beginning of a stage that stands on this one."""
        copied = (list(self.layers), dict(self.env), dict(self.arguments), self.workdir, self.user, self.shell)
        return State(self.key, *copied, dict(self.notes))

    @property
    def variables(self) -> dict[str, str]:
        """What ``$NAME`` stands for: ``ENV`` hides ``ARG``."""
        return {**self.arguments, **self.env}

    def note(self, text: str) -> None:
        """Note what people should know."""
        self.notes[text] = None

    def tree(self, prefix: str) -> Tree:
        """Return the files."""
        return Tree(self.layers, prefix)

    def image(self) -> Image:
        """Return what it has become."""
        settings = [sorted(self.env.items()), self.workdir, self.user, self.shell]
        known = digest([self.key, *settings])
        return Image(known, tuple(self.layers), dict(self.env), self.workdir, self.user, self.shell, tuple(self.notes))


def digest(parts: object) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()


def layer_key(state: State, parts: Mapping[str, object]) -> str:
    """Return the name of the layer that a step makes on a state."""
    return digest([state.key, sorted(parts.items())])[:32]
