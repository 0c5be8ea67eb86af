"""Critic: what is to be expected, from what a language model has read so far.

A model's state at a token knows what the next token needs, and where an answer begins that is little: what the task was
is looked up later. So the critic looks for itself, over the states of all tokens that were read: it weighs each by a
score and takes the mean. As sums over tokens that is told (`Critic.noticed`), it grows with the context.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

BOUND = 5.0
"""Largest score, either way: sums of exponentials of larger ones would lose the small ones."""


class Critic(nn.Module):  # type: ignore[misc]  # types are checked where torch is not installed
    """Reads a model, and does not change it.

    Args:
        states: Width of the model's hidden states.
        width: Of the critic's hidden layer.
    """

    def __init__(self, states: int, width: int) -> None:
        super().__init__()
        self.score = nn.Linear(states, 1)
        self.hidden = nn.Linear(2 * states, width)
        self.worth = nn.Linear(width, 1)
        # It begins by looking everywhere alike, and by expecting nothing.
        for layer in (self.score, self.worth):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def noticed(self, states: Tensor) -> Tensor:
        """Return what is added up over the tokens of a context, ``(..., states + 1)``.

        Args:
            states: Of tokens, ``(..., states)``.
        """
        seen = states.detach().float()
        weights = (BOUND * torch.tanh(self.score(seen))).exp()
        return torch.cat([seen * weights, weights], -1)

    def forward(self, states: Tensor, noticed: Tensor) -> Tensor:
        """Return what is to be expected after tokens, ``(...)``.

        Args:
            states: Of these tokens, ``(..., states)``.
            noticed: The sum of `noticed` over each one's context, itself included, ``(..., states + 1)``.
        """
        mean = noticed[..., :-1] / noticed[..., -1:]
        hidden = self.hidden(torch.cat([states.detach().float(), mean], -1))
        # Some of a model's states are large and much the same everywhere. Expecting more of all contexts alike is
        # learned along them first, until each unit is at one end of the tanh whatever is read, and learns no more.
        found: Tensor = self.worth(torch.tanh(layer_norm(hidden, hidden.shape[-1:]))).squeeze(-1)
        return found
