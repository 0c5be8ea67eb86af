"""``RUN --mount``: what is there only while a program runs."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from termgym.image.copying import Copy, plan_copy
from termgym.image.dockerfile import Step
from termgym.image.layering import ROOT, Layer
from termgym.image.making import make_directory
from termgym.image.state import State
from termgym.image.tree import Tree

if TYPE_CHECKING:
    from termgym.image.builder import Build

_KINDS = ("bind", "cache", "tmpfs", "secret", "ssh")


@dataclass(frozen=True, slots=True)
class Mount:
    """One of them."""

    kind: str
    target: str
    copy: Copy | None = None
    """What a bind mount shows: a copy, so that the context's other files stay out."""
    mode: int = 0o755
    owner: tuple[int, int] = ROOT


@dataclass(frozen=True, slots=True)
class Mounts:
    """All of one step."""

    items: tuple[Mount, ...]
    prefix: str
    may_give: bool

    def describe(self) -> list[object]:
        """Return what makes a difference to the layer."""
        return [[each.kind, each.target, each.copy.describe() if each.copy else None] for each in self.items]

    def words(self, room: Path, tree: Tree) -> list[str]:
        """Make what is mounted in a scratch directory; return bubblewrap's words.

        A target is resolved in the image before: bubblewrap would follow a link of the image's to the host.
        """
        words: list[str] = []
        for number, mount in enumerate(self.items):
            place, target = room / f"mount{number}", tree.resolve(mount.target)
            if mount.kind == "tmpfs":
                words += ["--tmpfs", target]
                continue
            if mount.copy is not None:
                layer = Layer(place, Tree([], self.prefix), may_give=self.may_give)
                mount.copy.write(layer)
                source = place / "shown"
            else:
                make_directory(place, mount.mode)
                source = place
            words += ["--bind", str(source), target]
        return words


def plan_mounts(build: Build, state: State, step: Step) -> Mounts:
    """Return the mounts of a ``RUN``.

    Raises:
        ImageError: one is not understood, or wants a secret that nobody gives.
    """
    found = [mount for name, value in step.flags if name == "mount" for mount in _planned(build, state, step, value)]
    return Mounts(tuple(found), build.prefix, build.store.privileged)


def _planned(build: Build, state: State, step: Step, text: str) -> Iterator[Mount]:
    options = dict(_option(step, part) for part in text.split(","))
    kind = options.get("type", "bind")
    if kind not in _KINDS:
        raise step.fault(f"--mount=type={kind} is unknown", f"allowed are {', '.join(_KINDS)}")
    if kind in ("secret", "ssh"):
        if options.get("required", "false") == "true":
            raise step.fault(f"--mount={text} requires a {kind}", "no build is given any; make do without")
        state.note(f"{step.file}, line {step.line}: no {kind} is given to a build")
        return
    target = next((options[name] for name in ("target", "dst", "destination") if name in options), "")
    if not target:
        raise step.fault(f"--mount={text} has no target", f"write --mount=type={kind},target=/path")
    target = posixpath.normpath(posixpath.join(state.workdir, step.expand(target, state.variables)))
    if kind == "cache":
        state.note(f"{step.file}, line {step.line}: cache mounts begin empty")
        yield Mount(kind, target, mode=int(options.get("mode", "0755"), 8))
    elif kind == "tmpfs":
        yield Mount(kind, target)
    else:
        source = options.get("source", options.get("src", "/"))
        origin = build.origin(step, options["from"]) if "from" in options else build.context(step)
        words = [step.expand(source, state.variables), "/shown"]
        plain = Step(step.file, step.line, step.name, step.args)
        yield Mount(kind, target, plan_copy(plain, words, origin, Tree([], build.prefix), "/", ROOT, dated=True))


def _option(step: Step, part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    known = ("type", "target", "dst", "destination", "source", "src", "from", "id", "sharing", "mode", "uid", "gid",
             "rw", "readwrite", "ro", "readonly", "size", "required", "env")  # fmt: skip
    if name not in known:
        raise step.fault(f"--mount option {name!r} is unknown", f"allowed are {', '.join(known)}")
    return name, value or "true"
