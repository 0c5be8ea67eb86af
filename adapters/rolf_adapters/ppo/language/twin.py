"""Twin: a policy beside another one, with the same frozen weights and trained ones of its own."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor

from rolf_adapters.ppo.language.policy import LanguagePolicy


def twin(policy: LanguagePolicy) -> LanguagePolicy:
    """Return a policy that says what another one says now, and goes on saying it when that one learns.

    What is never trained is shared: of a large model whose upper layers learn only those are there twice.
    """
    shared = {id(each): each for each in policy.parameters() if not each.requires_grad}
    return copy.deepcopy(policy, shared)


def parameters_of(policy: LanguagePolicy) -> dict[str, Tensor]:
    """Return copies of the parameters that are trained, by name."""
    return {name: each.detach().clone() for name, each in policy.trained()}


def put(policy: LanguagePolicy, parameters: Mapping[str, Tensor]) -> None:
    """Give a policy the parameters of another version.

    Args:
        policy: Who gets them.
        parameters: By name; those that are trained, or some of them.
    """
    with torch.no_grad():
        for name, each in policy.trained():
            if name in parameters:
                each.copy_(parameters[name])
