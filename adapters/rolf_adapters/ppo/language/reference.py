"""Reference: the policy that another one is kept near while it learns, and how strongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.control import adapted
from rolf_adapters.ppo.language.batches import Sample, joined, likelihoods
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.settings import KlControl
from rolf_adapters.ppo.language.twin import parameters_of, put, twin
from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.losses import divergence

PREFIX = "reference/"
CRITIC = "critic."


class Reference:
    """A policy as it was once, and the weight of the divergence from it.

    Args:
        policy: Who learns; it is its own reference until `follow` says otherwise.
        control: How strongly it is kept.
    """

    def __init__(self, policy: LanguagePolicy, control: KlControl) -> None:
        self._policy, self._control = twin(policy), control
        self.weight = control.weight
        """Of the divergence in the loss of the next update."""

    def follow(self, policy: LanguagePolicy) -> None:
        """Become what a policy is now."""
        put(self._policy, parameters_of(policy))

    def beside(self, samples: Sequence[Sample], budget: int) -> list[Sample]:
        """Return samples with what the reference says of them.

        Args:
            samples: Of this process.
            budget: Most tokens, padding included, that are computed at once.
        """
        found = likelihoods(self._policy, samples, budget)
        return [each._replace(reference=logps) for each, logps in zip(samples, found, strict=True)]

    def adapt(self, kl: float) -> None:
        """Change the weight by the divergence that was measured [nats a token], if there is a target."""
        if self._control.target is not None:
            self.weight = adapted(self.weight, kl, self._control.target)

    # ---- keeping

    def state(self) -> State:
        """Return the reference's parameters and the weight; the critic is no part of it."""
        kept = parameters_of(self._policy).items()
        tensors = {f"{PREFIX}{name}": each for name, each in kept if not name.startswith(CRITIC)}
        return State(tensors, {"kl_weight": self.weight})

    def check(self, state: State) -> None:
        """See that `load` can be done.

        Raises:
            ValueError: the state is of a training without a reference, or of another model.
        """
        wanted = {name: tuple(each.shape) for name, each in self.state().tensors.items()}
        given = {name: tuple(each.shape) for name, each in state.tensors.items() if name.startswith(PREFIX)}
        if wanted != given or "kl_weight" not in state.values:
            raise ValueError(
                f"the state holds {len(given)} tensors of a reference policy, and {len(wanted)} of certain shapes are "
                "expected; give the settings of training.kl that it was made with"
            )

    def load(self, state: State) -> None:
        """Become what a state says."""
        put(self._policy, _named(state.tensors))
        self.weight = float(state.values["kl_weight"])


def apart(samples: Sequence[Sample]) -> float:
    """Return the divergence of the policy from its reference over the samples of all processes [nats a token].

    It is the policy's as the update begins, or as it collected the samples where that is the same.

    Args:
        samples: Of this process, with what the reference says of them.
    """
    count = parallel.summed(torch.tensor(float(sum(len(each.places) for each in samples)), dtype=torch.float64))
    mine: Any = torch.zeros((), dtype=torch.float64)
    if samples and count > 0:
        logps: Tensor = joined(samples, "logps").double()
        mine = divergence(logps, joined(samples, "reference").double(), torch.ones_like(logps, dtype=torch.bool), count)
    return float(parallel.summed(mine))


def _named(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(PREFIX): each for name, each in tensors.items() if name.startswith(PREFIX)}
