"""What episodes of an older policy count, worked out by hand for a real model of four tokens or so."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from few_tokens import IDS, by_hand, policy, sample

from rolf_adapters.ppo.language.batches import likelihoods, scored
from rolf_adapters.ppo.language.settings import Training
from rolf_adapters.ppo.language.staleness import fresh, weighted
from rolf_adapters.ppo.language.turns import Episode, Said, Turn
from rolf_adapters.ppo.language.update import updated


def test_a_sample_counts_by_how_much_likelier_it_has_become() -> None:
    """Half as likely then: 2, cut off at 1.5; four times as likely then: a quarter; just as likely: 1."""
    speaker = policy()
    now = by_hand(speaker)
    then = [now[0] - math.log(2), now[1] + math.log(4), now[2]]
    (found,) = weighted(speaker, [sample(then)], Training(iterations=1, stale_weight=1.5))
    assert found.weights is not None
    assert found.weights.tolist() == pytest.approx([1.5, 0.25, 1.0], abs=1e-4)
    assert found.logps.tolist() == pytest.approx(now, abs=1e-4)
    (wider,) = weighted(speaker, [sample(then)], Training(iterations=1, stale_weight=3.0))
    assert wider.weights is not None
    assert wider.weights.tolist() == pytest.approx([2.0, 0.25, 1.0], abs=1e-4)


def test_the_loss_is_the_weighted_surrogate_round_the_policy_as_it_is() -> None:
    """At the beginning every ratio is 1, so the loss is minus the mean of weight times advantage: worked out here."""
    speaker = policy()
    now = by_hand(speaker)
    then = [now[0] - math.log(2), now[1] + math.log(4), now[2]]
    training = Training(iterations=1, epochs=1, stale_weight=1.5, normalise="none")
    optimiser = torch.optim.SGD([each for _, each in speaker.trained()], lr=0.0)
    data = weighted(speaker, [sample(then)], training)
    figures = updated(speaker, optimiser, data, training, seed=0, iteration=0)
    assert figures.steps[0]["loss"] == pytest.approx(-(1.5 * 1.0 + 0.25 * -2.0 + 1.0 * 0.5) / 3, abs=1e-4)
    assert figures.steps[0]["kl"] == pytest.approx(0, abs=1e-6), "of the policy as the update began"
    assert figures.clipped[0].sum() == 0, "and the clip range is laid round it, not round the older one"


def test_the_gradient_is_the_weighted_one() -> None:
    """Of a token that counts a quarter a quarter of the gradient comes."""
    parameters = []
    for advantages, weights in (((4.0, -8.0, 0.0), (0.25, 0.25, 1.0)), ((1.0, -2.0, 0.0), None)):
        speaker = policy()
        each = sample(by_hand(speaker), advantages)
        each = each._replace(weights=None if weights is None else np.array(weights, np.float32))
        optimiser = torch.optim.SGD([each for _, each in speaker.trained()], lr=0.1)
        training = Training(iterations=1, epochs=1, gradient=1e9, normalise="none")
        updated(speaker, optimiser, [each], training, seed=0, iteration=0)
        parameters.append([each.detach() for _, each in speaker.trained()])
    assert all(torch.allclose(one, other, atol=1e-7) for one, other in zip(*parameters, strict=True))
    untouched = [each.detach() for _, each in policy().trained()]
    assert not all(torch.equal(one, other) for one, other in zip(parameters[0], untouched, strict=True))


def test_likelihoods_are_told_sample_by_sample_whatever_the_budget() -> None:
    """They are computed by length, and told in the order that they were asked for."""
    speaker = policy()
    data = [sample([0.0] * 3), sample([0.0] * 3)._replace(ids=np.array((7, 1, 2, 9, 30, 4, 4, 4, 4), np.int64))]
    data.append(data[0]._replace(ids=np.array((*IDS[::-1], 7), np.int64)))
    for budget in (4096, 9):
        found = likelihoods(speaker, data, budget)
        for each, logps in zip(data, found, strict=True):
            with torch.no_grad():
                assert logps.tolist() == pytest.approx(scored(speaker, [each]).logps.tolist(), abs=1e-5)
    assert likelihoods(speaker, [], 100) == []


def test_episodes_of_a_policy_that_is_too_old_are_dropped() -> None:
    """As old as allowed is allowed; one answer that is older is enough."""

    def turn(version: int) -> Turn:
        said = Said((1,), np.zeros(1, np.float32), np.zeros(1, np.bool_), np.zeros(1, np.float32))
        return Turn((5,), said, 1.0, terminated=False, truncated=True, version=version)

    young, old, mixed = Episode((turn(5),)), Episode((turn(2),)), Episode((turn(2), turn(5)))
    assert fresh([young, old, mixed], 5, 3) == [young, old, mixed]
    assert fresh([young, old, mixed], 5, 2) == [young]
    assert fresh([young, old, mixed], 5, 0) == [young]
