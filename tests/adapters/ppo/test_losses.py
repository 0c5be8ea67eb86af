"""Losses against numbers worked out by hand, and what must not change them: masked slots, splits, shapes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rolf_adapters.ppo.losses import (
    clip_counts,
    distillation_loss,
    divergence,
    entropy,
    imitation_loss,
    policy_loss,
    possible,
    stale_weights,
    value_loss,
)
from rolf_adapters.ppo.segments import clip_ranges

ALL = torch.ones(4, dtype=torch.bool)
NAN = float("nan")


def gradient(loss: Callable[[Tensor], Tensor], at: Tensor) -> list[float]:
    """Return the gradient of a loss there."""
    leaf = at.clone().requires_grad_()
    loss(leaf).backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    found: list[float] = leaf.grad.tolist()
    return found


# ---- the policy


def test_each_segment_has_a_clip_range_of_its_own() -> None:
    """At a ratio of e^.1 = 1.105, what was good is clipped where the range is .08, and gains on where it is wider."""
    clips = torch.tensor(clip_ranges([0, 1, 2, 3]))
    at = torch.full((4,), 0.1)

    def loss(logps: Tensor) -> Tensor:
        return policy_loss(logps, torch.zeros(4), torch.ones(4), clips, ALL, 4)

    ratio = math.exp(0.1)
    assert float(loss(at)) == pytest.approx(-(ratio + 1.08 + ratio + ratio) / 4)
    assert gradient(loss, at) == pytest.approx([-ratio / 4, 0, -ratio / 4, -ratio / 4])


def test_what_was_bad_is_clipped_on_the_other_side_only() -> None:
    """With an advantage of -2: at a ratio of .5 there is nothing more to gain (-2 * .8), at 2 everything to mend."""
    at = torch.tensor([math.log(0.5), math.log(2.0)])

    def loss(logps: Tensor) -> Tensor:
        return policy_loss(logps, torch.zeros(2), torch.full((2,), -2.0), 0.2, ALL[:2], 2)

    assert float(loss(at)) == pytest.approx((1.6 + 4.0) / 2)
    assert gradient(loss, at) == pytest.approx([0, 2])


def test_before_any_step_the_gradient_is_that_of_the_plain_policy_gradient() -> None:
    """The ratio is 1: each sample pulls by its advantage."""
    advantages = torch.tensor([1.0, -2.0, 0.5, 0.0])
    logps = torch.tensor([-1.0, -2.0, -3.0, -4.0])
    pull = gradient(lambda new: policy_loss(new, logps, advantages, 0.2, ALL, 4), logps)
    assert pull == pytest.approx((-advantages / 4).tolist())


def test_stale_samples_count_by_their_truncated_weights() -> None:
    """Ratios of e^-1, 1, and e^3, of which 2 is left; no gradient flows through them."""
    now = torch.tensor([-2.0, -1.0, 0.0, NAN], requires_grad=True)
    then = torch.tensor([-1.0, -1.0, -3.0, NAN])
    mask = torch.tensor([True, True, True, False])
    weights = stale_weights(now, then, mask, most=2.0)
    assert not weights.requires_grad
    assert weights.tolist() == pytest.approx([math.exp(-1), 1, 2, 0])
    pull = gradient(lambda new: policy_loss(new, now.detach(), torch.ones(4), 0.2, mask, 3, weights), now.detach())
    assert pull == pytest.approx([-math.exp(-1) / 3, -1 / 3, -2 / 3, 0])


def test_how_much_was_clipped_is_counted_by_segment() -> None:
    ratio = torch.tensor([1.2, 1.0, 0.7, 1.1]).log()
    segments, mask = torch.tensor([0, 0, 3, 99]), torch.tensor([True, True, True, False])
    clips = torch.tensor([0.15, 0.15, 0.12, NAN])
    counts = clip_counts(ratio, torch.zeros(4), clips, mask, segments)
    assert counts.tolist() == [[1, 0, 0, 1], [2, 0, 0, 1]]
    assert clip_counts(ratio, torch.zeros(4), 0.25, mask).tolist() == [[1, 0, 0, 0], [3, 0, 0, 0]]


def test_a_segment_that_there_is_not_is_an_error() -> None:
    with pytest.raises(ValueError, match="a sample is of segment 7, but there are only 4"):
        clip_counts(torch.zeros(4), torch.zeros(4), 0.2, ALL, torch.tensor([0, 1, 7, 0]))


# ---- the critic


def test_the_critics_error_by_hand() -> None:
    """Half of (1 + 4 + 0 + 9) / 4."""
    said, target = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.0, 4.0, 3.0, 1.0])
    assert float(value_loss(said, target, ALL, 4)) == 1.75
    assert gradient(lambda values: value_loss(values, target, ALL, 4), said) == pytest.approx([0.25, -0.5, 0, 0.75])


def test_the_critics_errors_count_what_they_are_weighed_by() -> None:
    """Errors of 1 and 4: half of (1 * 1 + .25 * 4) over 2; the third weight is of a slot that is left out."""
    said, target = torch.tensor([1.0, 2.0, 0.0]), torch.tensor([0.0, 0.0, NAN])
    weights, mask = torch.tensor([1.0, 0.25, NAN]), torch.tensor([True, True, False])
    assert float(value_loss(said, target, mask, 2, weights=weights)) == 0.5
    found = gradient(lambda values: value_loss(values, target, mask, 2, weights=weights), said)
    assert found == pytest.approx([0.5, 0.25, 0])


def test_a_clipped_critic_gains_nothing_beyond_its_range() -> None:
    """From 0, to a target of 10, it said 3 where 1 is allowed: the error counts as (1 - 10)^2 and pulls no more. Where
    it went the wrong way, to -3, the plain error is larger and pulls."""
    said, target, before = torch.tensor([3.0, -3.0]), torch.tensor([10.0, 10.0]), torch.zeros(2)

    def loss(values: Tensor) -> Tensor:
        return value_loss(values, target, ALL[:2], 2, before, 1.0)

    assert float(loss(said)) == 0.5 * (81 + 169) / 2
    assert gradient(loss, said) == pytest.approx([0, -6.5])


def test_a_clip_needs_to_know_where_from() -> None:
    with pytest.raises(ValueError, match=r"clip=0\.2 needs old_values"):
        value_loss(torch.zeros(4), torch.zeros(4), ALL, 4, clip=0.2)


# ---- choices


def test_only_possible_actions_are_likely() -> None:
    allowed = torch.tensor([[True, False, True, False], [True, True, True, True]])
    logps = possible(torch.tensor([[0.0, 99.0, 0.0, NAN], [0.0, 0.0, 0.0, 0.0]]), allowed)
    assert logps.exp().tolist() == [[0.5, 0, 0.5, 0], [0.25] * 4]
    assert torch.isfinite(logps).all()


def test_entropy_is_that_of_the_possible_actions() -> None:
    """log 2 of two and log 4 of four, whatever the impossible ones' logits; and flat logits pull nowhere."""
    allowed = torch.tensor([[True, False, True, False], [True, True, True, True]])
    logits = torch.tensor([[0.0, 99.0, 0.0, NAN], [0.0, 0.0, 0.0, 0.0]])

    def loss(given: Tensor) -> Tensor:
        return entropy(given, ALL[:2], 2, allowed)

    assert float(loss(logits)) == pytest.approx((math.log(2) + math.log(4)) / 2)
    assert gradient(loss, logits) == [[0.0] * 4] * 2


def test_entropy_pulls_as_its_derivative_says() -> None:
    """Against finite differences, in 64 bits, with an impossible action and a masked row that is no number."""
    allowed = torch.tensor([[True, True, False], [True, True, True], [False, False, False]])
    mask = torch.tensor([True, True, False])
    logits = torch.tensor([[0.3, -1.0, 2.0], [1.0, 0.0, -0.5], [NAN, NAN, NAN]], dtype=torch.float64)
    found = torch.tensor(gradient(lambda given: entropy(given, mask, 2, allowed), logits))
    for row, place in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0)]:
        step = torch.zeros_like(logits)
        step[row, place] = 1e-6
        high, low = (float(entropy(logits + sign * step, mask, 2, allowed)) for sign in (1, -1))
        assert float(found[row, place]) == pytest.approx((high - low) / 2e-6, abs=1e-6)


# ---- how far apart two policies are


def test_a_policy_is_no_way_from_itself() -> None:
    """What the first minibatch of an update must show, before any step: exactly 0, and no pull."""
    logps = torch.tensor([-1.0, -20.0, -0.001, -3.0])
    assert float(divergence(logps, logps, ALL, 4)) == 0
    assert gradient(lambda given: divergence(given, logps, ALL, 4), logps) == [0] * 4
    assert clip_counts(logps, logps, 0.08, ALL)[0].sum() == 0


def test_divergence_by_hand() -> None:
    """q/p = 2: 2 - 1 - log 2; q/p = 1/2: 1/2 - 1 + log 2."""
    far = divergence(torch.zeros(2), torch.tensor([2.0, 0.5]).log(), ALL[:2], 2)
    assert float(far) == pytest.approx((1 - math.log(2) - 0.5 + math.log(2)) / 2)


@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6))
def test_divergence_is_right_on_average(numbers: list[float]) -> None:
    """Weighed by how often the first policy does each of three things, it is the divergence itself."""
    mine, other = (possible(torch.tensor(half, dtype=torch.float64)) for half in (numbers[:3], numbers[3:]))
    weighed = sum(float(mine[i].exp() * divergence(mine[i], other[i], ALL[0], 1)) for i in range(3))
    assert weighed == pytest.approx(float((mine.exp() * (mine - other)).sum()), abs=1e-9)
    assert float(divergence(mine, other, ALL[:3], 3)) >= 0


# ---- learning from what was done


def test_imitation_by_hand() -> None:
    """The mean of 1 and 3, or of 1 and 3 * 2; each pulls by its weight."""
    logps, mask = torch.tensor([-1.0, -3.0, NAN]), torch.tensor([True, True, False])
    weights = torch.tensor([1.0, 2.0, NAN])
    assert float(imitation_loss(logps, mask, 2)) == 2
    assert float(imitation_loss(logps, mask, 2, weights)) == 3.5
    assert gradient(lambda given: imitation_loss(given, mask, 2, weights), logps) == [-0.5, -1, 0]


def test_distillation_by_hand() -> None:
    """A teacher at 3/4 and 1/4, a learner at 1/2 each: 3/4 log 3/2 + 1/4 log 1/2, and the gradient is the difference
    of probabilities; a third action is impossible, whatever both say of it."""
    teacher, learner = torch.tensor([[math.log(3.0), 0.0, 9.0]]), torch.tensor([[0.0, 0.0, NAN]])
    allowed = torch.tensor([[True, True, False]])

    def loss(given: Tensor) -> Tensor:
        return distillation_loss(given, teacher, ALL[:1], 1, allowed)

    assert float(loss(learner)) == pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    assert gradient(loss, learner) == [pytest.approx([-0.25, 0.25, 0.0])]
    assert float(loss(teacher + 5.0)) == pytest.approx(0, abs=1e-6)


def test_distillation_at_a_temperature() -> None:
    """At 2 the teacher's logits count half; the gradient is 2 times the difference of probabilities there."""
    teacher, learner = torch.tensor([[2 * math.log(3.0), 0.0]]), torch.zeros(1, 2)
    pull = gradient(lambda given: distillation_loss(given, teacher, ALL[:1], 1, temperature=2.0), learner)
    assert pull == [pytest.approx([-0.5, 0.5])]
    with pytest.raises(ValueError, match=r"temperature=0\.0 must be above 0"):
        distillation_loss(learner, teacher, ALL[:1], 1, temperature=0.0)


# ---- what must not change anything

Loss = Callable[[Tensor, Tensor, Tensor, Tensor, float], Tensor]
SEGMENTS = torch.tensor([0, 1, 2, 3, 0, 1, 2, 3])
CLIPS = torch.tensor(clip_ranges(SEGMENTS.tolist()))
LOSSES: dict[str, Loss] = {
    "policy": lambda x, y, z, mask, n: policy_loss(x, y, z, CLIPS[: len(x)], mask, n, stale_weights(y, z, mask)),
    "value": lambda x, y, _, mask, n: value_loss(x, y, mask, n),
    "clipped value": lambda x, y, z, mask, n: value_loss(x, y, mask, n, z, 0.2),
    "divergence": lambda x, y, _, mask, n: divergence(x, y, mask, n),
    "entropy": lambda x, y, z, mask, n: entropy(torch.stack([x, y, z], -1), mask, n),
    "imitation": lambda x, y, _, mask, n: imitation_loss(x, mask, n, y),
    "distillation": lambda x, y, z, mask, n: distillation_loss(
        torch.stack([x, y], -1), torch.stack([y, z], -1), mask, n
    ),
}
each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def drawn(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x, y, z = torch.randn(3, 8, generator=generator, dtype=torch.float64).unbind()
    mask = torch.rand(8, generator=generator) < 0.6
    mask[0] = True
    return x, y, z, mask


@each_loss
@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([NAN, math.inf, -math.inf, 1e30]))
def test_masked_slots_have_no_effect(loss: Loss, seed: int, junk: float) -> None:
    """Neither on the loss nor on any gradient, though 0 times what is no number is no number."""
    x, y, z, mask = drawn(seed)
    count = float(mask.sum())
    spoilt = [torch.where(mask, each, torch.tensor(junk, dtype=each.dtype)) for each in (x, y, z)]
    assert float(loss(*spoilt, mask, count)) == float(loss(x, y, z, mask, count))
    clean = gradient(lambda new: loss(new, y, z, mask, count), x)
    assert gradient(lambda new: loss(new, spoilt[1], spoilt[2], mask, count), spoilt[0]) == clean
    assert all(pull == 0 for pull, counts in zip(clean, mask.tolist(), strict=True) if not counts)


@each_loss
@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_a_split_into_micro_batches_has_no_effect(loss: Loss, seed: int) -> None:
    """Losses and gradients of two uneven parts add up to those of the whole, for the number divided by is the whole's.

    The parts begin at multiples of 4, since the clip ranges here go by place."""
    x, y, z, mask = drawn(seed)
    count = float(mask.sum())
    whole = gradient(lambda new: loss(new, y, z, mask, count), x)
    parts = [slice(0, 4), slice(4, 8)]
    apart = [gradient(lambda new, p=p: loss(new, y[p], z[p], mask[p], count), x[p]) for p in parts]  # type: ignore[misc]
    assert [*apart[0], *apart[1]] == pytest.approx(whole, abs=1e-15)
    summed = sum(float(loss(x[p], y[p], z[p], mask[p], count)) for p in parts)
    assert summed == pytest.approx(float(loss(x, y, z, mask, count)), abs=1e-12)


@each_loss
def test_any_shape_will_do(loss: Loss) -> None:
    """Tokens of episodes or steps of rows: a table gives what its numbers in a row give."""
    x, y, z, mask = drawn(3)
    flat = float(loss(x[:4], y[:4], z[:4], mask[:4], 4))
    if loss is LOSSES["policy"]:
        clips = CLIPS[:4].reshape(2, 2)
        weights = stale_weights(y[:4], z[:4], mask[:4]).reshape(2, 2)
        shaped = [each[:4].reshape(2, 2) for each in (x, y, z)]
        assert float(policy_loss(*shaped, clips, mask[:4].reshape(2, 2), 4, weights)) == pytest.approx(flat)
    else:
        assert float(loss(*(each[:4].reshape(2, 2) for each in (x, y, z, mask)), 4)) == pytest.approx(flat)


@each_loss
def test_a_process_without_samples_adds_nothing(loss: Loss) -> None:
    x, y, z, _ = drawn(4)
    assert gradient(lambda new: loss(new, y, z, torch.zeros(8, dtype=torch.bool), 5.0), x) == [0] * 8


@each_loss
def test_no_sample_at_all_is_an_error(loss: Loss) -> None:
    x, y, z, mask = drawn(5)
    with pytest.raises(ValueError, match=r"total=0\.0 samples"):
        loss(x, y, z, mask, 0.0)
