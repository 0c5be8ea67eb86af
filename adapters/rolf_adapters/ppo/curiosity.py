"""Curiosity: a reward for what is new, by random network distillation.

A network learns to say what another one, drawn at random and never trained, says of an observation. Where it has been
often it is right; how wrong it is tells how new an observation is (Burda and others, "Exploration by random network
distillation", 2019).
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from rolf_adapters.ppo import parallel, seeds
from rolf_adapters.ppo.learner import Diverged, State
from rolf_adapters.ppo.moments import Moments

CLIP = 5.0
"""Largest size of a number that is shown to the networks; from the paper."""
OUTPUTS = 32
"""Numbers that the networks say of an observation."""


class Curiosity:
    """How new observations are, and what it learns of them.

    Args:
        size: Numbers in an observation, which should be normalised (`rolf_adapters.ppo.vector.statistics`).
        seed: The run's.
        weight: What the deviation of the novelty is worth as a reward; the mission's is 0.02.
        width: Units of the networks' hidden layer.
        rate: Learning rate.
        minibatches: Steps of the optimiser for what was collected in an iteration.
    """

    def __init__(
        self,
        size: int,
        seed: int,
        *,
        weight: float = 0.02,
        width: int = 64,
        rate: float = 1e-3,
        minibatches: int = 4,
    ) -> None:
        self.size, self.weight = size, weight
        self._seed, self._minibatches = seed, minibatches
        self._target = _network((size, width, OUTPUTS), seeds.torch_generator(seed, "curiosity", "target"))
        # One layer more than the target, which it has to imitate.
        learns = seeds.torch_generator(seed, "curiosity", "predictor")
        self._predictor = _network((size, width, width, OUTPUTS), learns)
        self._optimiser = torch.optim.Adam(self._predictor.parameters(), lr=rate)
        self._moments = Moments()
        self._learned = 0

    def reward(self, observations: Tensor) -> Tensor:
        """Return how much is paid for having come to each observation; 0 before it has learned of any.

        It changes only with `learn`: within an iteration the same observation is paid the same.

        Args:
            observations: Shape (n, size).

        Returns:
            Shape (n,), never negative.
        """
        deviation = float(self._moments.deviation)
        if deviation == 0.0:
            return torch.zeros(len(observations))
        with torch.no_grad():
            paid: Tensor = self._novelty(observations) * (self.weight / deviation)
        return paid

    def learn(self, observations: Tensor, mask: Tensor | None = None) -> float:
        """Get used to observations, and return how new they were on average, in all processes.

        Args:
            observations: Shape (n, size); in each process its own.
            mask: Which count, shape (n,); the others may hold anything. None: all.

        Raises:
            Diverged: an observation that counts is no number; nothing was changed, in any process.
        """
        given = observations if mask is None else observations[mask]
        with torch.no_grad():
            novelty = self._novelty(given)
        if float(parallel.summed((~torch.isfinite(novelty)).sum())) > 0:
            raise Diverged("an observation that curiosity was shown is no finite number")
        seen = self._settle(novelty)
        generator = seeds.generator(self._seed, "curiosity", self._learned, parallel.rank())
        order = torch.from_numpy(generator.permutation(len(given)))
        # As many steps in each process, for they add their gradients up.
        for which in torch.tensor_split(order, self._minibatches):
            self._step(given[which])
        self._learned += 1
        return float(seen.mean)

    def state(self) -> State:
        """Return copies of all that later rewards depend on."""
        tensors = {
            f"{part}/{name}": each.detach().clone()
            for part, network in (("target", self._target), ("predictor", self._predictor))
            for name, each in network.state_dict().items()
        }
        for place, kept in self._optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser/{place}/{name}": each.detach().clone() for name, each in kept.items()}
        return State(tensors, {"learned": self._learned, "moments": self._moments.state()})

    def load(self, state: State) -> None:
        """Become what `state` described.

        Raises:
            ValueError: it is of networks of another shape; nothing was changed.
        """
        networks = {"target": self._target, "predictor": self._predictor}
        wanted = {
            f"{part}/{name}": each.shape for part, net in networks.items() for name, each in net.state_dict().items()
        }
        got = {name: each.shape for name, each in state.tensors.items() if not name.startswith("optimiser/")}
        if got != wanted:
            odd = min(name for name in wanted.keys() | got.keys() if wanted.get(name) != got.get(name))
            raise ValueError(
                f"the state is of another curiosity: {odd} is {got.get(odd)} there, {wanted.get(odd)} here"
            )
        moments = Moments.of(state.values["moments"])
        for part, network in networks.items():
            network.load_state_dict(_under(state.tensors, part))
        kept: dict[int, dict[str, Tensor]] = {}
        for name, each in _under(state.tensors, "optimiser").items():
            place, _, key = name.partition("/")
            kept.setdefault(int(place), {})[key] = each.clone()
        groups = self._optimiser.state_dict()["param_groups"]
        self._optimiser.load_state_dict({"state": kept, "param_groups": groups})
        self._moments, self._learned = moments, int(state.values["learned"])

    def _novelty(self, observations: Tensor) -> Tensor:  # (n,)
        shown = observations.float().clamp(-CLIP, CLIP)
        with torch.no_grad():
            target = self._target(shown)
        found: Tensor = (self._predictor(shown) - target).square().mean(-1)
        return found

    def _settle(self, novelty: Tensor) -> Moments:
        """Take in how new the observations of all processes were; return the moments of these alone."""
        own, seen = Moments(), Moments()
        own.update(novelty.double().numpy())
        for each in parallel.gathered(own.state()):
            seen.merge(Moments.of(each))
        self._moments.merge(seen)
        return seen

    def _step(self, observations: Tensor) -> None:
        total = parallel.summed(torch.tensor(float(len(observations))))
        if not total > 0:
            return
        self._optimiser.zero_grad(set_to_none=True)
        (self._novelty(observations).sum() / total).backward()
        parallel.add_gradients(self._predictor.parameters())
        self._optimiser.step()


def _network(widths: tuple[int, ...], generator: torch.Generator) -> nn.Sequential:
    """Return linear layers with weights drawn by one's own generator: no other part's numbers move."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layer = torch.nn.utils.skip_init(nn.Linear, before, after)
        nn.init.normal_(layer.weight, std=math.sqrt(2.0 / before), generator=generator)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _under(tensors: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name.partition("/")[2]: each for name, each in tensors.items() if name.startswith(f"{part}/")}
