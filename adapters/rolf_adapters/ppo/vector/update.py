"""Update: what is learned from what was collected, minibatch by minibatch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rolf_adapters.ppo import losses, parallel
from rolf_adapters.ppo.learner import Diverged
from rolf_adapters.ppo.vector.choice import chance_of, log_chances, uncertainty
from rolf_adapters.ppo.vector.collector import Collected
from rolf_adapters.ppo.vector.network import Network, Seen
from rolf_adapters.ppo.vector.settings import Training


@dataclass(frozen=True)
class Samples:
    """What was collected, a row a step, with what came of it."""

    features: NDArray[np.float32]
    words: NDArray[np.bool_]
    time: NDArray[np.float32]
    previous: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    actions: NDArray[np.int64]
    taught: NDArray[np.int64]
    logps: NDArray[np.float32]
    values: NDArray[np.float32]
    segments: NDArray[np.int64]
    advantages: NDArray[np.float32]
    returns: NDArray[np.float32]
    clips: NDArray[np.float32]
    weights: NDArray[np.float32] | None = None
    """What each counts; None: 1."""
    fresh: int | None = None
    """How many were just collected, the first ones; the others are learned from again. None: all."""

    @classmethod
    def of(
        cls,
        kept: Collected,
        segments: NDArray[np.int64],
        advantages: NDArray[Any],
        returns: NDArray[Any],
        clips: NDArray[Any],
    ) -> Samples:
        """Return the samples of what was collected; arrays of (steps, rows) become rows."""

        def flat(array: NDArray[Any], kind: Any = None) -> Any:
            joined = array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])
            return joined if kind is None else joined.astype(kind)

        return cls(
            flat(kept.features), flat(kept.words), flat(kept.time), flat(kept.previous), flat(kept.allowed),
            flat(kept.actions), flat(kept.taught), flat(kept.logps), flat(kept.values), flat(segments),
            flat(advantages, np.float32), flat(returns, np.float32), flat(clips, np.float32),
        )  # fmt: skip

    def with_stored(self, stored: Samples) -> Samples:
        """Return these samples, which were just collected, and after them some that are learned from again."""
        assert stored.weights is not None
        columns = {
            each.name: np.concatenate([getattr(self, each.name), getattr(stored, each.name)])
            for each in fields(self)
            if each.name not in ("weights", "fresh")
        }
        weights = np.concatenate([np.ones(len(self), np.float32), stored.weights])
        return Samples(**columns, weights=weights, fresh=len(self))

    def __len__(self) -> int:
        return len(self.time)

    def seen(self, which: NDArray[np.int64]) -> Seen:
        """Return what the network was shown in some of them."""
        return Seen(*(torch.from_numpy(array[which]) for array in self._shown))

    @property
    def _shown(self) -> tuple[NDArray[Any], ...]:
        return self.features, self.words, self.time, self.previous, self.allowed

    def minibatches(self, count: int, generator: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield the samples in a drawn order, in so many parts."""
        yield from np.array_split(generator.permutation(len(self)), min(count, len(self)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pass through the samples came to, summed over minibatches."""

    policy: float
    value: float
    entropy: float
    divergence: float
    gradient: float
    steps: int
    first: float
    """Divergence in the first minibatch, before any step: 0 but for rounding."""
    clips: NDArray[np.float64]
    """(2, 4) samples beyond their clip range, and all, of each segment"""


class Learning:
    """Steps of an optimiser.

    Args:
        network: What learns.
        optimiser: Its optimiser.
        training: How.
    """

    def __init__(self, network: Network, optimiser: torch.optim.Optimizer, training: Training) -> None:
        self.network = network
        self.optimiser = optimiser
        self.training = training

    def improve(self, samples: Samples, generator: np.random.Generator, *, critic_only: bool = False) -> Outcome:
        """Take PPO's passes; they end early where the policy has gone too far.

        Raises:
            Diverged: a loss or gradient is no number.
        """
        training, told = self.training, _Told()
        for _ in range(training.epochs):
            before = told.steps
            for which in samples.minibatches(training.minibatches, generator):
                self._improve(samples, which, told, critic_only)
            if told.recent(before) > 1.5 * training.target_kl:
                break
        return told.outcome()

    def _improve(self, samples: Samples, which: NDArray[np.int64], told: _Told, critic_only: bool) -> None:
        training = self.training
        logits, values = self.network(samples.seen(which))
        chances = log_chances(logits, _taken(samples.allowed, which), self.network.size.parts)
        logps = chance_of(chances, _taken(samples.actions, which), self.network.size.parts)
        old, clips = _taken(samples.logps, which), _taken(samples.clips, which)
        mask, total = _all(which)
        weights = None if samples.weights is None else _taken(samples.weights, which)
        policy = losses.policy_loss(logps, old, _taken(samples.advantages, which), clips, mask, total, weights)
        value = losses.value_loss(values, _taken(samples.returns, which), mask, total, weights=weights)
        doubts = uncertainty(chances)
        doubt = (doubts if weights is None else doubts * weights).sum() / total
        loss = training.value * value
        if not critic_only:
            loss = loss + policy - training.entropy * doubt
        gradient = self.descend(loss)
        with torch.no_grad():
            # Of what was just collected: what an older policy did says nothing of how far this one has gone.
            new, count = _fresh(samples, which, mask, total)
            apart = losses.divergence(old, logps, new, count)
            counted = losses.clip_counts(logps, old, clips, mask, _taken(samples.segments, which))
        told.note(policy, value, doubt, apart, gradient, counted)

    def imitate(self, samples: Samples, generator: np.random.Generator, epochs: int) -> Outcome:
        """Take passes that make what the teacher would have done likelier, and teach the critic.

        Raises:
            Diverged: a loss or gradient is no number.
        """
        told = _Told()
        count = self.training.imitation.minibatches or self.training.minibatches
        for _ in range(epochs):
            for which in samples.minibatches(count, generator):
                logits, values = self.network(samples.seen(which))
                allowed = _taken(samples.allowed, which)
                parts = self.network.size.parts
                chances = log_chances(logits, allowed, parts)
                taught = _taken(samples.taught, which)
                mask, total = _all(which)
                possible = _possible(allowed, taught, parts)
                wrong = -torch.where(possible, chance_of(chances, taught, parts), 0.0).sum() / total
                value = losses.value_loss(values, _taken(samples.returns, which), mask, total)
                gradient = self.descend(wrong + self.training.value * value)
                with torch.no_grad():
                    doubt = uncertainty(chances).sum() / total
                told.note(wrong, value, doubt, torch.zeros(()), gradient, torch.zeros(2, 4))
        return told.outcome()

    def descend(self, loss: Tensor) -> Tensor:
        """Take a step of the optimiser; return the length of the gradient.

        Raises:
            Diverged: the loss or a gradient is no number; nothing was changed.
        """
        parameters = [each for each in self.network.parameters() if each.requires_grad]
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        parallel.add_gradients(parameters)
        length = nn.utils.clip_grad_norm_(parameters, self.training.gradient)
        if not bool(torch.isfinite(length)):  # of all processes' gradient, so that all of them stop
            raise Diverged(f"the gradient has length {float(length)!r}, the loss is {float(loss.detach())!r}")
        self.optimiser.step()
        return length


class _Told:
    """Sums what minibatches told."""

    def __init__(self) -> None:
        self.steps = 0
        self.sums = torch.zeros(5, dtype=torch.float64)
        self.counts = torch.zeros(2, 4, dtype=torch.float64)
        self.apart: list[float] = []

    def note(
        self, policy: Tensor, value: Tensor, entropy: Tensor, apart: Tensor, gradient: Tensor, counts: Tensor
    ) -> None:
        own = torch.stack([each.detach().double() for each in (policy, value, entropy, apart)])
        shared = parallel.summed(torch.cat([own, counts.double().flatten()]))
        self.sums += torch.cat([shared[:4], gradient.detach().double()[None]])
        self.counts += shared[4:].reshape(2, 4)
        self.apart.append(float(shared[3]))
        self.steps += 1

    def recent(self, since: int) -> float:
        """Return the mean divergence of the minibatches from so many on."""
        found = self.apart[since:]
        return sum(found) / len(found)

    def outcome(self) -> Outcome:
        policy, value, entropy, apart, gradient = (self.sums / self.steps).tolist()
        return Outcome(
            policy, value, entropy, apart, gradient, self.steps, first=self.apart[0], clips=self.counts.numpy()
        )


def _taken(array: NDArray[Any], which: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(array[which])


def _all(which: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    """Return the mask of a minibatch and the samples of it in all processes."""
    return torch.ones(len(which), dtype=torch.bool), parallel.summed(torch.tensor(float(len(which))))


def _fresh(samples: Samples, which: NDArray[np.int64], mask: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
    """Return which samples of a minibatch were just collected, and how many in all processes, at least 1."""
    if samples.fresh is None:
        return mask, total
    new = torch.from_numpy(which < samples.fresh)
    return new, parallel.summed(new.sum().float()).clamp(min=1)


def _possible(allowed: Tensor, actions: Tensor, parts: tuple[int, ...]) -> Tensor:
    """Return where every part of an action is possible: (n,)."""
    first = torch.tensor([0, *parts[:-1]]).cumsum(0)
    return allowed.gather(1, actions + first).all(dim=1)
