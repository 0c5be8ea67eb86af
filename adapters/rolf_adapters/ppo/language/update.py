"""Update: what a policy makes of the episodes that it has played (PPO), and of those that it was shown."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from rolf_adapters.ppo import parallel, seeds
from rolf_adapters.ppo.control import too_far
from rolf_adapters.ppo.language.batches import Sample, bucketed, joined, scored
from rolf_adapters.ppo.language.policy import LanguagePolicy
from rolf_adapters.ppo.language.settings import Training
from rolf_adapters.ppo.learner import Diverged
from rolf_adapters.ppo.losses import clip_counts, divergence, entropy, policy_loss, value_loss
from rolf_adapters.ppo.segments import Segment, clip_ranges, normalised, sums

FIGURES = ("loss", "value", "entropy", "kl", "gap")
"""What a step measures: losses, entropy and divergence before it, and the largest difference of log-probabilities."""


class Figures:
    """What the steps of an update have measured.

    Args:
        segments: Segments that clips are counted for.
    """

    def __init__(self, segments: int) -> None:
        self.steps: list[dict[str, float]] = []
        self.clipped = torch.zeros(2, segments, dtype=torch.float64)
        self.gradients: list[float] = []

    def mean(self, name: str, last: int = 0) -> float:
        """Return the mean of a figure over all steps, or over the last ones."""
        return float(np.mean([step[name] for step in self.steps[-last:]]))


def updated(
    policy: LanguagePolicy,
    optimiser: torch.optim.Optimizer,
    samples: Sequence[Sample],
    training: Training,
    *,
    seed: int,
    iteration: int,
) -> Figures:
    """Let a policy learn from episodes of its own.

    Args:
        policy: Who learns.
        optimiser: Of its parameters; its learning rates are those of this iteration.
        samples: Of this process; the others have theirs.
        training: How it learns.
        seed: The training's.
        iteration: Whose episodes they are.

    Raises:
        Diverged: a gradient is no finite number; the parameters are those before the step.
    """
    scaled = _scaled(samples, training)
    figures = Figures(len(Segment))
    for epoch in range(training.epochs):
        order = seeds.generator(seed, "shuffle", iteration, epoch, parallel.rank()).permutation(len(scaled))
        for part in np.array_split(order, training.minibatches):
            _step(policy, optimiser, [scaled[index] for index in part], training, figures)
        if figures.steps and too_far(figures.mean("kl", training.minibatches), training.most_kl, factor=1.0):
            break
    return figures


def imitated(
    policy: LanguagePolicy, optimiser: torch.optim.Optimizer, samples: Sequence[Sample], *, budget: int, longest: float
) -> float:
    """Let a policy take one step towards saying what it was shown; return the loss before it.

    Args:
        policy: Who learns.
        optimiser: Of its parameters.
        samples: What it was shown; those of all processes count alike.
        budget: Most tokens, padding included, that are computed at once.
        longest: Gradient [norm].

    Raises:
        Diverged: a gradient is no finite number; the parameters are those before the step.
    """
    total = parallel.summed(torch.tensor(float(sum(len(each.places) for each in samples))))
    optimiser.zero_grad(set_to_none=True)
    loss = torch.zeros(())
    for group in bucketed([len(each.ids) for each in samples], budget):
        part = -scored(policy, [samples[index] for index in group]).logps.sum() / total
        part.backward()
        loss += part.detach()
    _descend(policy, optimiser, longest)
    return float(parallel.summed(loss))


def _scaled(samples: Sequence[Sample], training: Training) -> list[Sample]:
    """Return samples with their advantages on one scale."""
    advantages = np.concatenate([each.advantages for each in samples] or [np.zeros(0)])
    segments = np.concatenate([each.segments for each in samples] or [np.zeros(0, np.int64)])
    mask = np.ones(len(advantages), np.bool_)
    added = parallel.summed(torch.from_numpy(sums(advantages, segments, mask, training.normalise))).numpy()
    result = normalised(advantages, segments, mask, training.normalise, summed=added)
    ends = np.cumsum([len(each.places) for each in samples])[:-1]
    parts = np.split(result, ends) if samples else []
    return [each._replace(advantages=part) for each, part in zip(samples, parts, strict=True)]


def _step(
    policy: LanguagePolicy,
    optimiser: torch.optim.Optimizer,
    samples: Sequence[Sample],
    training: Training,
    figures: Figures,
) -> None:
    counts = [float(sum(len(each.places) for each in samples)), float(sum(int(each.valued.sum()) for each in samples))]
    tokens, values = parallel.summed(torch.tensor(counts, dtype=torch.float64))
    if not tokens > 0:
        return
    optimiser.zero_grad(set_to_none=True)
    measured = torch.zeros(len(FIGURES), dtype=torch.float64)
    for group in bucketed([len(each.ids) for each in samples], training.budget):
        part = [samples[index] for index in group]
        loss, told = _loss(policy, part, training, tokens, values, figures)
        loss.backward()
        measured[:-1] += told[:-1]
        measured[-1] = max(measured[-1], told[-1])
    everywhere = parallel.summed(measured)
    everywhere[-1] = max(parallel.gathered(float(measured[-1])))
    figures.gradients.append(_descend(policy, optimiser, training.gradient))
    figures.steps.append(dict(zip(FIGURES, everywhere.tolist(), strict=True)))


def _loss(
    policy: LanguagePolicy,
    part: Sequence[Sample],
    training: Training,
    tokens: Tensor,
    values: Tensor,
    figures: Figures,
) -> tuple[Tensor, Tensor]:
    """Return what is descended, and figures, of some samples."""
    said = scored(policy, part)
    old, segments = joined(part, "logps"), joined(part, "segments")
    every = torch.ones_like(said.logps, dtype=torch.bool)
    plain = training.clipping == "plain"
    clips = training.clip if plain else torch.from_numpy(clip_ranges(segments.numpy(), training.clips)).float()
    advantages, returns = joined(part, "advantages").float(), joined(part, "returns").float()
    weights = None if part[0].weights is None else joined(part, "weights")
    surrogate = policy_loss(said.logps, old, advantages, clips, every, tokens, weights)
    with torch.set_grad_enabled(training.entropy > 0):
        spread = entropy(said.logits, every, tokens, said.allowed)
    error = value_loss(said.values, returns, joined(part, "valued"), values)
    with torch.no_grad():
        apart = divergence(old, said.logps, every, tokens)
        gap = (said.logps - old).abs().max()
        figures.clipped += clip_counts(said.logps, old, clips, every, segments, figures.clipped.shape[1])
    loss = surrogate + training.value * error - training.entropy * spread
    if part[0].reference is not None:
        loss = loss + training.kl.weight * divergence(said.logps, joined(part, "reference"), every, tokens)
    told = torch.stack([each.detach().double() for each in (surrogate, error, spread, apart, gap)])
    return loss, told


def _descend(policy: LanguagePolicy, optimiser: torch.optim.Optimizer, longest: float) -> float:
    """Take a step; return how long the model's gradient was.

    Raises:
        Diverged: it, or the critic's, is no finite number; no step was taken.
    """
    parallel.add_gradients(parameter for _, parameter in policy.trained())
    groups = [group["params"] for group in optimiser.param_groups]
    norms = [float(torch.nn.utils.clip_grad_norm_(group, longest)) for group in groups]
    if not all(math.isfinite(norm) for norm in norms):
        raise Diverged(f"the gradients have the lengths {norms}, which are no finite numbers; no step was taken")
    optimiser.step()
    return norms[0]
