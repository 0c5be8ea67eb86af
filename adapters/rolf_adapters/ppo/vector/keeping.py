"""Keeping: parameters and moments of the optimiser as named tensors, and back."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.vector.network import Network

KIND = "vector"


def state_of(network: Network, optimiser: torch.optim.Optimizer, values: dict[str, Any]) -> State:
    """Return copies of all parameters, buffers and moments, and what else there is."""
    tensors = {f"network/{name}": each.detach().clone() for name, each in network.state_dict().items()}
    for place, moments in optimiser.state_dict()["state"].items():
        for name, each in moments.items():
            tensors[f"optimiser/{place}/{name}"] = each.detach().clone()
    return State(tensors, {"kind": KIND, **values})


def loaded(state: State, network: Network, optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """Put a state's tensors into a network and its optimiser, and return its other values.

    Raises:
        ValueError: it is another kind of learner's, or one of another shape; nothing was changed.
    """
    if state.values.get("kind") != KIND:
        raise ValueError(f"the state is of a learner of kind {state.values.get('kind')!r}, not {KIND!r}")
    check(state, network)
    network.load_state_dict(named(state, "network"))
    moments: dict[int, dict[str, Tensor]] = {}
    for name, each in named(state, "optimiser").items():
        place, _, key = name.partition("/")
        moments.setdefault(int(place), {})[key] = each.clone()
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    return {name: value for name, value in state.values.items() if name != "kind"}


def check(state: State, network: Network) -> None:
    """See that a state fits a network.

    Raises:
        ValueError: it does not; says where.
    """
    wanted = {name: tuple(each.shape) for name, each in network.state_dict().items()}
    got = {name: tuple(each.shape) for name, each in named(state, "network").items()}
    if wanted != got:
        differ = sorted(name for name in wanted.keys() | got.keys() if wanted.get(name) != got.get(name))
        first = differ[0]
        raise ValueError(
            f"the state is of another network: {first!r} has shape {got.get(first)}, expected {wanted.get(first)}"
            f"{f', and {len(differ) - 1} more differ' if len(differ) > 1 else ''}; give the settings it was made with"
        )


def named(state: State, group: str) -> dict[str, Tensor]:
    """Return the tensors of a state whose names begin with ``group/``, by the rest of their names."""
    return {name.partition("/")[2]: each for name, each in state.tensors.items() if name.startswith(f"{group}/")}
