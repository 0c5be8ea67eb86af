"""Heads: the last layer of an actor."""

from __future__ import annotations

import math
import warnings

import torch
from torch import Tensor, nn
from torch.nn import functional


class UnitHead(nn.Module):  # type: ignore[misc] # torch is not there where types are checked
    """Logits as lengths along directions: no weight is negative, rows have length 1, a temperature is learned.

    Every action is a direction in the positive orthant, and its logit how far the features reach into it. What comes
    before must not be bounded, or the logits were; with a tanh it loses a fifth of its accuracy.

    Args:
        features: Of the layer before.
        actions: How many.
    """

    def __init__(self, features: int, actions: int) -> None:
        super().__init__()
        self.raw = nn.Parameter(torch.randn(actions, features))
        """(actions, features) before the softplus"""
        self.heat = nn.Parameter(torch.zeros(()))
        """Logarithm of what logits are multiplied by."""

    def weight(self) -> Tensor:  # (actions, features)
        """Return the weights: none negative, each row of length 1."""
        return functional.normalize(functional.softplus(self.raw), dim=1)

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits of features, (…, features) -> (…, actions)."""
        return functional.linear(features, self.weight() * self.heat.exp())


def sharpen(made: nn.Module, factor: float) -> None:
    """Multiply the logits of a head by a factor from now on."""
    with torch.no_grad():
        if isinstance(made, UnitHead):
            made.heat += math.log(factor)
        else:
            made.weight *= factor
            made.bias *= factor


def head(kind: str, features: int, actions: int) -> nn.Module:
    """Return a head: ``unit``, or ``linear``, an ordinary layer that begins with all actions nearly the same."""
    if kind == "unit":
        return UnitHead(features, actions)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Initializing zero-element tensors")  # a layout may leave no actions to it
        made = nn.Linear(features, actions)
    nn.init.orthogonal_(made.weight, 0.01)
    nn.init.zeros_(made.bias)
    return made
