"""Build: a recipe becomes an image. Each step that changes files is one layer, kept under what went into it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from termgym.image import instructions
from termgym.image.bases import Bases
from termgym.image.context import Origin, open_context
from termgym.image.dockerfile import IGNORED, Dockerfile, Stage, Step, read_dockerfile
from termgym.image.flattening import MOST_LAYERS, flatten
from termgym.image.image import Image
from termgym.image.layering import Misplaced
from termgym.image.recipe import Recipe
from termgym.image.stages import find_target, in_order
from termgym.image.state import State, layer_key
from termgym.image.store import Store

_PLATFORM = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(slots=True)
class Build:
    """One build: what its steps share."""

    recipe: Recipe
    store: Store
    bases: Bases
    network: bool
    report: Callable[[str], None]
    end: float
    """When time is up, by ``time.monotonic``."""
    dockerfile: Dockerfile
    globals: dict[str, str] = field(default_factory=dict)
    """``ARG`` before the first ``FROM``."""
    done: dict[int, State] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    """Arguments that some ``ARG`` asked for."""
    _context: Origin | None = None

    @property
    def prefix(self) -> str:
        """The namespace of overlayfs's marks."""
        return self.store.prefix

    def context(self, step: Step) -> Origin:
        """Return the files that may be copied from.

        Raises:
            ImageError: there is no context.
        """
        if self._context is None:
            if not self.recipe.context:
                raise step.fault("there is no context to copy from", "give the recipe a context")
            self._context = open_context(self.recipe.context, self.recipe.dockerfile, self.prefix)
        return self._context

    def origin(self, step: Step, reference: str) -> Origin:
        """Return the files of another stage, or of an image that is no stage; only global arguments may name it."""
        name = step.expand(reference, self.globals)
        stage = self.dockerfile.stage(name)
        if stage is not None:
            return Origin(self.done[stage.index].tree(self.prefix), f"stage {name!r}")
        image = self.bases.find(name, step)
        return Origin(State.of(image).tree(self.prefix), f"the image {name!r}")

    def add_layer(self, state: State, parts: Mapping[str, object], make: Callable[[Path], Path]) -> bool:
        """Put a layer on a state; return whether it had to be made.

        Args:
            state: what it lies on.
            parts: all that makes a difference to it.
            make: makes its tree in a scratch directory and returns where.
        """
        key = layer_key(state, parts)
        target = self.store.layer(key)
        is_new = not target.is_dir()
        if is_new:
            with self.store.locked(key), self.store.scratch() as place:
                if not target.is_dir():
                    self.store.keep(make(place), target)
        state.layers.append(str(target))
        state.key = key
        if len(state.layers) > MOST_LAYERS:
            flatten(state, self.store)
        return is_new

    def left(self, step: Step) -> float:
        """Return the time that is left [s].

        Raises:
            ImageError: none is.
        """
        left = self.end - time.monotonic()
        if left <= 0:
            raise step.fault(f"the build took longer than {self.recipe.timeout:g} s", "allow more time, or do less")
        return left


def build(
    recipe: Recipe,
    *,
    network: bool = False,
    store: Store | None = None,
    report: Callable[[str], None] | None = None,
    bases: Mapping[str, str] | None = None,
) -> Image:
    """Return the image that a recipe describes, built where it is not yet in the store; safe in threads and processes.

    Args:
        recipe: what is wanted.
        network: whether the programs of the build reach the network.
        store: where layers are kept; None: the user's cache directory, or ``ROLF_CACHE``.
        report: called with each line that a person may want to see.
        bases: further root filesystems: what ``FROM`` says -> a directory.

    Raises:
        ImageError: the recipe cannot be built as it is written.
        SandboxUnavailable: this machine lets nothing be built.
    """
    store = store or Store()
    store.tidy()
    table = Bases(store, bases or {})
    ready = None if recipe.dockerfile else table.find(recipe.reference or "host")
    if ready is not None and not (recipe.env or recipe.cwd or recipe.user):
        return ready
    dockerfile = read_dockerfile(recipe.dockerfile) if ready is None else Dockerfile(recipe.reference, (), ())
    task = Build(recipe, store, table, network, report or _say_nothing, time.monotonic() + recipe.timeout, dockerfile)
    if ready is not None:
        return _settled(task, State.of(ready)).image()
    task.globals = _global_arguments(task)
    target = find_target(dockerfile, recipe.target)
    for stage in in_order(dockerfile, target, task.globals):
        task.done[stage.index] = _build_stage(task, stage)
    state = task.done[target.index]
    for name in sorted(set(recipe.arguments) - task.used):
        state.note(f"argument {name}: no ARG asks for it")
    return _settled(task, state).image()


def _settled(task: Build, state: State) -> State:
    """Lay over a state what the recipe says beside its Dockerfile; the directory is made where it is missing."""
    recipe = task.recipe
    if recipe.cwd:
        place = recipe.cwd.replace("\\", "\\\\").replace("$", "\\$")
        instructions.do_workdir(task, state, Step(task.dockerfile.file, 0, "WORKDIR", (place,)))
    state.env |= recipe.env
    state.user = recipe.user or state.user
    return state


def _build_stage(task: Build, stage: Stage) -> State:
    """Do the steps of one stage."""
    state = _beginning(task, stage)
    for step in stage.steps:
        task.left(step)
        if step.name in IGNORED:
            if step.name not in ("CMD", "LABEL", "MAINTAINER"):
                state.note(f"{step.file}, line {step.line}: {step.name} is ignored")
            continue
        try:
            instructions.DO[step.name](task, state, step)
        except (OSError, Misplaced) as error:
            raise step.fault(str(error), "see the Dockerfile, the context and the disk") from error
    return state


def _beginning(task: Build, stage: Stage) -> State:
    """Return the state that ``FROM`` gives."""
    step = stage.start
    reference = step.expand(step.args[0], task.globals)
    if not reference:
        raise step.fault(f"{step.args[0]!r} is empty once its variables are replaced", "give the ARG a default")
    if (platform := step.expand(step.flag("platform") or "", task.globals)) and _own_platform() not in platform:
        raise step.fault(f"--platform={platform} is another machine's", f"this one is linux/{_own_platform()}")
    base = task.dockerfile.stage(reference, stage.index)
    if base is not None and base.name == reference.lower():
        return task.done[base.index].copy()
    return State.of(task.bases.find(reference, step))


def _global_arguments(task: Build) -> dict[str, str]:
    """Return what ``ARG`` before the first ``FROM`` sets, beside what docker always sets."""
    own = _own_platform()
    values = {"TARGETPLATFORM": f"linux/{own}", "TARGETOS": "linux", "TARGETARCH": own, "TARGETVARIANT": ""}
    values |= {name.replace("TARGET", "BUILD"): value for name, value in values.items()}
    for step in task.dockerfile.arguments:
        for name, default in instructions.argument_pairs(step, values):
            task.used.add(name)
            value = task.recipe.arguments.get(name, default)
            if value is not None:
                values[name] = value
    return values


def _own_platform() -> str:
    return _PLATFORM.get(os.uname().machine, os.uname().machine)


def _say_nothing(_line: str) -> None:
    """Do nothing."""
