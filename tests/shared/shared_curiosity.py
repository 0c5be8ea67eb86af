"""Curiosity on the observations of this process; run by torchrun, each hands over its state."""

from __future__ import annotations

import torch
from together import hand_over

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.curiosity import Curiosity
from rolf_adapters.ppo.learner import Diverged


def learned() -> dict[str, object]:
    """Return what comes of every ``size()``-th of the observations, in one step of the optimiser an iteration."""
    observations = torch.randn(3, 9, 4, generator=torch.Generator().manual_seed(0))
    mine = slice(parallel.rank(), None, parallel.size())
    curiosity = Curiosity(4, seed=1, minibatches=1)
    for seen in observations:
        curiosity.learn(seen[mine])
    state = curiosity.state()
    spoilt = observations[0][mine].clone()
    spoilt[0] *= float("nan") if parallel.rank() == 0 else 1.0
    try:
        curiosity.learn(spoilt)
        went_on = True
    except Diverged:
        went_on = False
    return {
        "tensors": {name: each.tolist() for name, each in state.tensors.items()},
        "values": state.values,
        "went_on": went_on,
    }


if __name__ == "__main__":
    with parallel.started():
        hand_over(parallel.rank(), learned())
    parallel.leave()
