"""The critic: it learns what is to be expected of states as language models have them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from rolf_adapters.ppo.language.critic import Critic

STATES, ALIKE, CONTEXTS = 256, 16, 300


def contexts(seed: int) -> tuple[Tensor, Tensor]:
    """Return states, (contexts, states), of which some are large and nearly the same everywhere, and what they earn.

    So it is in SmolLM2: of 576 some are twenty times as large as the others, whatever is read.
    """
    draw = torch.Generator().manual_seed(seed)
    states = 0.3 * torch.randn(CONTEXTS, STATES, generator=draw)
    states[:, :ALIKE] = 20.0 + 0.1 * states[:, :ALIKE]
    return states, 0.7 + 0.3 * torch.sign(states[:, ALIKE])


@pytest.mark.parametrize("seed", range(5))
def test_goes_on_learning_when_it_has_learned_what_all_contexts_have_in_common(seed: int) -> None:
    torch.manual_seed(seed)
    critic = Critic(STATES, 64)
    states, earned = contexts(seed)
    optimiser = torch.optim.AdamW(critic.parameters(), lr=3e-3, weight_decay=0.0)
    for _ in range(150):
        optimiser.zero_grad()
        (critic(states, critic.noticed(states)) - earned).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
        optimiser.step()
    with torch.no_grad():
        missed = earned - critic(states, critic.noticed(states))
    assert 1 - missed.var() / earned.var() > 0.5


def test_expects_nothing_before_it_has_learned() -> None:
    states, _ = contexts(0)
    critic = Critic(STATES, 8)
    assert critic(states, critic.noticed(states)).abs().max() == 0
