"""One step of a small network on the samples of this process; run by torchrun, each hands over what came of it."""

from __future__ import annotations

import sys

import torch
from together import hand_over
from torch import nn

from rolf_adapters.ppo import parallel


def step(samples: int) -> dict[str, object]:
    """Return gradients after a step on every ``size()``-th of the samples, and what the other functions return."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)).double()
    idle, lone = nn.Linear(3, 3).double(), nn.Linear(2, 2).double()
    seen, wanted = torch.randn(samples, 6).double(), torch.randn(samples, 1).double()
    mine = slice(parallel.rank(), None, parallel.size())
    count = parallel.summed(torch.tensor(float(len(seen[mine]))))
    ((network(seen[mine]) - wanted[mine]) ** 2).sum().div(count).backward()
    if parallel.rank() == parallel.size() - 1:  # only the last has a loss here
        lone.weight.sum().backward()
    parallel.add_gradients([*network.parameters(), *idle.parameters(), *lone.parameters()])
    moments = parallel.moments(wanted[mine] + 1e6)
    return {
        "rank": parallel.rank(),
        "size": parallel.size(),
        "gradients": [each.grad.tolist() for each in network.parameters()],
        "idle": [each.grad is None for each in idle.parameters()],
        "lone": [None if each.grad is None else each.grad.tolist() for each in lone.parameters()],
        "moments": [moments.count, moments.mean, moments.variance],
        "nothing": parallel.moments(wanted, torch.zeros_like(wanted, dtype=torch.bool)).count,
        "gathered": parallel.gathered({"from": parallel.rank(), "text": "é" * (parallel.rank() + 1)}),
        "summed": parallel.summed(torch.tensor([1, 2]) * (parallel.rank() + 1)).tolist(),
    }


if __name__ == "__main__":
    with parallel.started():
        hand_over(parallel.rank(), step(int(sys.argv[2])))
    parallel.leave()
