"""Losses: what PPO descends, as sums over the samples that count, divided by a number that is given.

Every function takes the samples of one micro-batch and the number of samples of all of them, in all processes. So the
gradients of micro-batches and processes add up to that of the whole, however it was split.

A slot that the mask leaves out has no effect, whatever it holds. To multiply a loss by 0 there is not enough: the
gradient of a value that is no number is none either, and 0 times that is no number. So what the mask leaves out is
replaced before anything is computed with it.
"""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor

Scale: TypeAlias = float | Tensor
"""A number, or one for each sample."""


def policy_loss(
    logps: Tensor,
    old_logps: Tensor,
    advantages: Tensor,
    clips: Scale,
    mask: Tensor,
    total: Scale,
    weights: Tensor | None = None,
) -> Tensor:
    """Return PPO's clipped surrogate, to be made small (Schulman and others, 2017), with a clip range a sample.

    Args:
        logps: Logarithm of the probability of what was done, under the policy that learns; any shape.
        old_logps: The same under the policy as it was before the update.
        advantages: How much better than expected it was.
        clips: How far from 1 the ratio of the two probabilities may gain anything: a number, or one a sample
            (`rolf_adapters.ppo.segments.clip_ranges`).
        mask: Which samples count, of bool.
        total: Number of samples of all micro-batches and processes.
        weights: What each sample counts, such as `stale_weights`; None: 1.
    """
    ratio = (_kept(logps, mask) - _kept(old_logps, mask)).exp()
    gain, width = _kept(advantages, mask).to(ratio.dtype), _each(clips, mask, ratio.dtype)
    within = torch.maximum(torch.minimum(ratio, 1 + width), 1 - width)
    surrogate = torch.minimum(ratio * gain, within * gain)
    return -_mean(surrogate if weights is None else surrogate * _kept(weights, mask).to(ratio.dtype), mask, total)


def value_loss(
    values: Tensor,
    targets: Tensor,
    mask: Tensor,
    total: Scale,
    old_values: Tensor | None = None,
    clip: float | None = None,
    weights: Tensor | None = None,
) -> Tensor:
    """Return half the squared error of the critic.

    Args:
        values: What the critic says.
        targets: What it should say.
        mask: Which samples count, of bool.
        total: Number of samples of all micro-batches and processes.
        old_values: What it said before the update; only with ``clip``.
        clip: How far from there it may gain anything; None: as far as it likes. Of the clipped error and the plain one
            the larger counts.
        weights: What each sample counts; None: 1.

    Raises:
        ValueError: ``clip`` without ``old_values``.
    """
    said, target = _kept(values, mask), _kept(targets, mask).to(values.dtype)
    error = (said - target).square()
    if clip is not None:
        if old_values is None:
            raise ValueError(f"clip={clip!r} needs old_values: what the critic said before the update")
        before = _kept(old_values, mask)
        error = torch.maximum(error, (before + (said - before).clamp(-clip, clip) - target).square())
    return 0.5 * _mean(error if weights is None else error * _kept(weights, mask).to(error.dtype), mask, total)


def possible(logits: Tensor, allowed: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
    """Return the logarithm of each action's probability among those that are possible.

    An impossible action has the smallest number of its type, not minus infinity, so that differences and products stay
    numbers. Where nothing is possible, everything is equally likely: such a sample must not count.

    Args:
        logits: Of each action, shape (..., A).
        allowed: Which actions are possible, of bool, shape (..., A); None: all.
        mask: Which samples count, of bool, shape (...); None: all.
    """
    if mask is not None:
        logits = _kept(logits, mask[..., None])
    if allowed is not None:
        logits = logits.masked_fill(~allowed, torch.finfo(logits.dtype).min)
    found: Tensor = logits.log_softmax(-1)
    return found


def entropy(logits: Tensor, mask: Tensor, total: Scale, allowed: Tensor | None = None) -> Tensor:
    """Return the entropy of the choice among the possible actions [nats]; what is to be kept large.

    Args:
        logits: Of each action, shape (..., A).
        mask: Which samples count, of bool, shape (...).
        total: Number of samples of all micro-batches and processes.
        allowed: Which actions are possible, of bool, shape (..., A); None: all.
    """
    logps = possible(logits, allowed, mask)
    return _mean(-(logps.exp() * logps).sum(-1), mask, total)


def divergence(logps: Tensor, others: Tensor, mask: Tensor, total: Scale) -> Tensor:
    """Return an estimate of the Kullback-Leibler divergence of a policy from another, by what the first one did [nats].

    The estimate ``q / p - 1 - log(q / p)`` is unbiased and never negative (Schulman, "Approximating KL divergence",
    2020, k3). ``divergence(old_logps, logps, …)`` tells how far an update has gone; ``divergence(logps,
    reference_logps, …)`` keeps a policy near another.

    Args:
        logps: Of what was done, under the policy that did it.
        others: The same under the other one.
        mask: Which samples count, of bool.
        total: Number of samples of all micro-batches and processes.
    """
    apart = _kept(others, mask) - _kept(logps, mask)
    return _mean(apart.expm1() - apart, mask, total)


def imitation_loss(logps: Tensor, mask: Tensor, total: Scale, weights: Tensor | None = None) -> Tensor:
    """Return how unlikely a policy finds what was done, to be made small: it learns to do the same.

    Args:
        logps: Of what was done, under the policy that learns.
        mask: Which samples count, of bool.
        total: Number of samples of all micro-batches and processes.
        weights: What each sample counts; None: 1.
    """
    said = _kept(logps, mask)
    return -_mean(said if weights is None else said * _kept(weights, mask).to(said.dtype), mask, total)


def distillation_loss(
    logits: Tensor,
    teacher_logits: Tensor,
    mask: Tensor,
    total: Scale,
    allowed: Tensor | None = None,
    temperature: float = 1.0,
) -> Tensor:
    """Return the divergence of a teacher's choice from that of the policy that learns, to be made small [nats].

    Args:
        logits: Of each action, by the policy that learns, shape (..., A).
        teacher_logits: By the teacher, which does not learn; of the same shape.
        mask: Which samples count, of bool, shape (...).
        total: Number of samples of all micro-batches and processes.
        allowed: Which actions are possible, of bool, shape (..., A); None: all.
        temperature: Both choices are made at it: above 1 what the teacher finds unlikely counts more. The gradient
            keeps its size, for the result is multiplied by the square of it (Hinton and others, "Distilling the
            knowledge in a neural network", 2015).

    Raises:
        ValueError: the temperature is not above 0.
    """
    if not temperature > 0:
        raise ValueError(f"temperature={temperature!r} must be above 0")
    learner = possible(_kept(logits, mask[..., None]) / temperature, allowed)
    teacher = possible(_kept(teacher_logits.detach(), mask[..., None]) / temperature, allowed)
    apart = (teacher.exp() * (teacher - learner)).sum(-1)
    return temperature**2 * _mean(apart, mask, total)


def stale_weights(logps: Tensor, behaviour: Tensor, mask: Tensor, most: float = 2.0) -> Tensor:
    """Return what samples of an older policy count: their ratio of probabilities, at most so much, without gradient.

    Args:
        logps: Of what was done, under the policy as it is at the beginning of the update.
        behaviour: The same under the policy that did it, some versions ago.
        mask: Which samples count, of bool.
        most: Largest weight; what it cuts off is bias, what it leaves is variance.

    Returns:
        A weight a sample, 0 where none counts.

    Raises:
        ValueError: ``most`` is not above 0.
    """
    if not most > 0:
        raise ValueError(f"most={most!r} leaves no sample any weight; give a number above 0")
    ratio = (_kept(logps.detach(), mask) - _kept(behaviour.detach(), mask)).exp()
    return _kept(ratio.clamp(max=most), mask)


def clip_counts(
    logps: Tensor,
    old_logps: Tensor,
    clips: Scale,
    mask: Tensor,
    segments: Tensor | None = None,
    count: int = 4,
) -> Tensor:
    """Return how many samples lie outside their clip range, and how many there are, a segment.

    Args:
        logps: As for `policy_loss`.
        old_logps: As for `policy_loss`.
        clips: As for `policy_loss`.
        mask: Which samples count, of bool.
        segments: Segment of each sample, of whole numbers; None: all of segment 0.
        count: Segments there are.

    Returns:
        Counts of float64, shape (2, count): those outside, then all. They add up over micro-batches and processes; the
        share that was clipped is one over the other.

    Raises:
        ValueError: a segment is not below ``count``.
    """
    ratio = (_kept(logps.detach(), mask) - _kept(old_logps.detach(), mask)).exp()
    outside = ((ratio - 1).abs() > _each(clips, mask, ratio.dtype)) & mask
    places = torch.zeros(mask.shape, dtype=torch.int64, device=mask.device) if segments is None else segments
    all_of, some = (torch.bincount(places[which], minlength=count) for which in (mask, outside))
    if len(all_of) > count:
        raise ValueError(f"a sample is of segment {len(all_of) - 1}, but there are only {count}, from 0")
    return torch.stack([some, all_of]).double()


def _mean(samples: Tensor, mask: Tensor, total: Scale) -> Tensor:
    """Return the sum of the samples that count over the number of all.

    Raises:
        ValueError: the number is not above 0.
    """
    if not total > 0:
        raise ValueError(f"total={float(total)!r} samples: there is nothing to learn from; give their number")
    return _kept(samples, mask).sum() / total


def _kept(samples: Tensor, mask: Tensor) -> Tensor:
    """Return the samples that count, and 0 for the others: neither their values nor their gradients pass."""
    return torch.where(mask, samples, torch.zeros((), dtype=samples.dtype, device=samples.device))


def _each(scale: Scale, mask: Tensor, kind: torch.dtype) -> Tensor:
    """Return a number a sample as the samples are held."""
    told = torch.as_tensor(scale, dtype=kind, device=mask.device)
    return _kept(told, mask) if told.ndim else told
