"""Choice: actions drawn from logits, part by part, and how likely they were."""

from __future__ import annotations

import torch
from torch import Tensor

from rolf_adapters.ppo.losses import possible

LEAST = -80.0
"""Logarithm of a share that no sum notices."""


def log_chances(logits: Tensor, allowed: Tensor, parts: tuple[int, ...]) -> Tensor:  # (n, actions)
    """Return log-probabilities; those of each part sum up to 1, the impossible ones have none.

    Args:
        logits: (n, actions)
        allowed: (n, actions) which are possible; at least one of each part.
        parts: Actions of each part.
    """
    if len(parts) == 1:
        return possible(logits, allowed, None)
    pieces = zip(logits.split(parts, dim=1), allowed.split(parts, dim=1), strict=True)
    return torch.cat([possible(each, may, None) for each, may in pieces], dim=1)


def drawn(chances: Tensor, parts: tuple[int, ...], generator: torch.Generator) -> Tensor:  # (n, parts)
    """Return an action for each row, drawn from log-probabilities (n, actions)."""
    found = []
    for each in chances.split(parts, dim=1):
        below = shares(each).cumsum(dim=1)
        bar = (1 - torch.rand(len(each), 1, generator=generator, dtype=each.dtype)) * below[:, -1:]
        found.append((below < bar).sum(dim=1))
    return torch.stack(found, dim=1)


def likeliest(chances: Tensor, parts: tuple[int, ...], groups: Tensor | None = None) -> Tensor:  # (n, parts)
    """Return the likeliest action for each row.

    With groups, it is that of the likeliest group: ten claims about one alarm share what speaks for answering it, and
    none of them alone need be likelier than to do nothing.

    Args:
        chances: (n, actions) log-probabilities.
        parts: Actions of each part.
        groups: (actions,) the group of each action, from 0; only where actions have one part.
    """
    if groups is not None:
        each = shares(chances)
        together = torch.zeros(len(each), int(groups.max()) + 1).index_add_(1, groups, each)
        within = groups[None] == together.argmax(dim=1, keepdim=True)
        return torch.where(within, each, -1.0).argmax(dim=1, keepdim=True)
    return torch.stack([each.argmax(dim=1) for each in chances.split(parts, dim=1)], dim=1)


def chance_of(chances: Tensor, actions: Tensor, parts: tuple[int, ...]) -> Tensor:  # (n,)
    """Return the log-probability of actions (n, parts)."""
    first = torch.tensor([0, *parts[:-1]]).cumsum(0)
    return chances.gather(1, actions + first).sum(dim=1)


def uncertainty(chances: Tensor) -> Tensor:  # (n,)
    """Return the entropy, summed over parts; what is impossible adds nothing."""
    far = chances.clamp(min=LEAST)
    return -(far.exp() * far).sum(dim=1)


def shares(chances: Tensor) -> Tensor:
    """Return probabilities from their logarithms; what is impossible gets 1e-35, which no sum of shares notices.

    Numbers far below that are ten times as slow to work out, and most actions are impossible at most times.
    """
    return chances.clamp(min=LEAST).exp()
