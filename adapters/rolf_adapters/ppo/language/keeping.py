"""Keeping: a learner as tensors and plain values, and the way back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.learner import State

KIND = "language"
MOMENTS = ("step", "exp_avg", "exp_avg_sq")
"""What AdamW keeps of a parameter."""


class Part(Protocol):
    """A part of a learner that keeps its own."""

    def state(self) -> State:
        """Return it, as copies, under names of its own."""

    def check(self, state: State) -> None:
        """See that `load` can be done.

        Raises:
            ValueError: it cannot.
        """

    def load(self, state: State) -> None:
        """Become what a state says."""


@dataclass(frozen=True, slots=True)
class Words:
    """The part that says which tokenizer and chat template a learner has, and keeps nothing of them."""

    digest: str
    """Of both (`Template.digest`)."""

    def state(self) -> State:
        """See `Part.state`."""
        return State({}, {"words": self.digest})

    def check(self, state: State) -> None:
        """See `Part.check`; states of before tell of none."""
        if state.values.get("words", self.digest) != self.digest:
            raise ValueError(
                "the state is of a tokenizer, or of a chat template, that is another one, and was learned with other "
                "tokens for the same text; give those that it was made with"
            )

    def load(self, state: State) -> None:
        """See `Part.load`; they are what they are."""


def state(policy: LanguagePolicy, optimiser: torch.optim.Optimizer, version: int, parts: Sequence[Part] = ()) -> State:
    """Return all that later iterations depend on, as copies."""
    tensors = {f"policy/{name}": each.detach().clone() for name, each in policy.trained()}
    for name, each in policy.trained():
        for moment, value in optimiser.state.get(each, {}).items():
            tensors[f"{moment}/{name}"] = value.detach().clone()
    values: dict[str, Any] = {"kind": KIND, "version": version, "frozen": frozen(policy)}
    for part in parts:
        found = part.state()
        tensors |= found.tensors
        values |= found.values
    return State(tensors, values)


def load(state: State, policy: LanguagePolicy, optimiser: torch.optim.Optimizer, parts: Sequence[Part] = ()) -> int:
    """Become what a state says; return its version.

    Raises:
        ValueError: it is another kind of learner's, or of a model of another shape, or of one whose untrained weights
            are others, or of another tokenizer or chat template, or the state has not what a part needs; nothing was
            changed.
    """
    parameters = dict(policy.trained())
    _check(state, policy, parameters)
    for part in parts:
        part.check(state)
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(state.tensors[f"policy/{name}"])
    for name, parameter in parameters.items():
        kept = {moment: state.tensors.get(f"{moment}/{name}") for moment in MOMENTS}
        found = {moment: value.clone() for moment, value in kept.items() if value is not None}
        optimiser.state.pop(parameter, None)
        if found:
            optimiser.state[parameter] = found
    for part in parts:
        part.load(state)
    return int(state.values["version"])


def frozen(policy: LanguagePolicy) -> str:
    """Return the SHA-256 of the weights that are never trained; empty where all are."""
    kept = [(name, each) for name, each in policy.named_parameters() if not each.requires_grad]
    if not kept:
        return ""
    digest = hashlib.sha256()
    for name, each in kept:
        digest.update(name.encode())
        digest.update(each.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _check(state: State, policy: LanguagePolicy, parameters: dict[str, Any]) -> None:
    if state.values.get("kind") != KIND:
        raise ValueError(f"the state is of kind {state.values.get('kind')!r}; expected {KIND!r}")
    wanted = {f"policy/{name}": tuple(each.shape) for name, each in parameters.items()}
    given: dict[str, Tensor] = {name: each for name, each in state.tensors.items() if name.startswith("policy/")}
    shapes = {name: tuple(each.shape) for name, each in given.items()}
    if shapes != wanted:
        odd = sorted(dict(shapes.items() ^ wanted.items()))[0]
        raise ValueError(
            f"the state is of another model: {odd} has the shape {shapes.get(odd)} there and {wanted.get(odd)} here"
        )
    if state.values.get("frozen") != frozen(policy):
        raise ValueError("the state is of a model whose untrained weights are others; give the model it was made with")
