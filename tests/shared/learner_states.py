"""States of learners, told apart to the bit."""

from __future__ import annotations

import torch

from rolf_adapters.ppo.learner import State


def same(one: State, other: State) -> bool:
    """Return whether two states are equal: values, names of tensors, and each bit of these."""
    return (
        one.values == other.values
        and one.tensors.keys() == other.tensors.keys()
        and all(torch.equal(each, other.tensors[name]) for name, each in one.tensors.items())
    )
