"""Groups: what the groups of a training's configuration have in common, and those that every kind of learner shares."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field


class Group(BaseModel):
    """Some settings that belong together: frozen, checked, and unknown names are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class Experiment(Group):
    """What is trained, and under which name and seed."""

    kind: str
    """``vector``, ``language``, or a module of your own with ``Settings`` and ``build``."""
    name: str = Field(default="training", min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")
    """What folders and curves call it."""
    seed: int = Field(default=0, ge=0, lt=2**62)
    """All random numbers of the training follow from it."""


class Cluster(Group):
    """What the training runs on."""

    processes: int = Field(default=1, ge=1, le=1024)
    """Processes on this machine; each collects for itself, and all learn from all (see docs/how-to/scale-out.md)."""
    threads: int = Field(default=1, ge=1, le=256)
    """Threads of PyTorch in each process; more than one only pays on a machine with nothing else to do."""
    backend: Literal["gloo"] = "gloo"
    """How processes talk to each other."""


class Reward(Group):
    """How rewards become what is learned; a kind of learner adds its own."""

    discount: float = Field(default=0.99, ge=0, le=1)
    """Gamma: what a reward is worth one step later."""
    trace: float = Field(default=0.95, ge=0, le=1)
    """Lambda of generalised advantage estimation: how far advantages look ahead."""


class Training(Group):
    """How long and how fast; a kind of learner adds its own."""

    RATES: ClassVar[tuple[str, ...]] = ("learning_rate",)
    """The rates that a training goes on with more slowly when it has gone wrong; a kind with more names them here, with
    the group where one is in a group: ``imitation.learning_rate``."""
    iterations: int = Field(ge=1)
    """Of collecting and learning."""
    learning_rate: float = Field(default=3e-4, gt=0, le=1)
    """Of the optimiser, before any schedule."""
    evaluate_every: int = Field(default=10, ge=0)
    """Iterations between two evaluations; 0: none but at the end."""


class Gate(Group):
    """A condition on what is measured, and what is done when it holds."""

    measure: str = Field(pattern=r"^[a-z_]+/.+$")
    """Which: ``rollout/success``. Iterations that did not measure it do not count."""
    when: Literal["above", "below", "falls", "stalls"]
    """``above`` or ``below`` the value; it ``falls`` by the value or more below its best (the mean of as many as
    ``patience`` says); or it ``stalls``: no best that is better by more than the value."""
    value: float
    """What is compared with."""
    patience: int = Field(default=1, ge=1)
    """How many measurements in a row."""
    after: int = Field(default=0, ge=0)
    """Iterations at the beginning in which it is not looked at: the warm-up."""
    then: Literal["stop", "roll back", "fail"]
    """``stop``: the training is done. ``roll back``: to the last good checkpoint, with a smaller learning rate.
    ``fail``: stop with an error."""


class Stages(Group):
    """When a training ends early, and what it does when it goes wrong."""

    gates: tuple[Gate, ...] = ()
    """Looked at after each iteration, in order; the first that holds is acted upon."""
    rollbacks: Annotated[int, Field(ge=0)] = 3
    """How often the training may go back before it gives up."""
    slower: float = Field(default=0.5, gt=0, le=1)
    """What all learning rates are multiplied by with each return."""


class Logging(Group):
    """What is written down, and how often."""

    every: int = Field(default=1, ge=1)
    """Iterations between two lines of progress on the terminal; the files get every iteration."""
    tensorboard: bool = True
    """Whether TensorBoard's files are written beside the JSON lines."""
    checkpoint_every: int = Field(default=10, ge=1)
    """Iterations between two checkpoints; there is always one after the first, which may be a warm start."""
    checkpoints: int = Field(default=3, ge=1)
    """How many are kept; the last good one is among them."""
