"""The hardest variants are found, and what was managed in them is learned again."""

from __future__ import annotations

import math

import pytest
import torch

from rolf_adapters.ppo.hard_variants import best, hardest
from rolf_adapters.ppo.losses import imitation_loss, possible

MEANS = {"easy": 1.0, "hard": 0.25, "b": 0.5, "a": 0.5}


def test_the_hardest_come_first_and_names_decide_between_equals() -> None:
    assert hardest(MEANS, 3) == ["hard", "a", "b"]
    assert hardest(MEANS) == ["hard", "a", "b", "easy"]


def test_the_missions_five_hundred() -> None:
    scores = {f"v{number:04}": number / 1000 for number in reversed(range(1000))}
    assert hardest(scores) == [f"v{number:04}" for number in range(500)]


def test_scores_must_be_numbers() -> None:
    with pytest.raises(ValueError, match="the mean score of 'a' is no number"):
        hardest({"a": math.nan})
    with pytest.raises(ValueError, match="count=0 leaves no variant"):
        hardest(MEANS, 0)
    with pytest.raises(ValueError, match="an episode of 'a' is no number"):
        best([("a", math.nan)], lambda each: each[0], lambda each: each[1])


def test_the_best_episode_of_each_variant_is_kept() -> None:
    """The first of equals, and none where nothing was managed."""
    played = [("a", 0.2, 1), ("b", 0.0, 2), ("a", 0.9, 3), ("a", 0.9, 4), ("c", 0.1, 5)]
    kept = best(played, lambda each: each[0], lambda each: each[1], above=0.0)
    assert [number for _, _, number in kept] == [3, 5]
    assert [number for _, _, number in best(played, lambda each: each[0], lambda each: each[1])] == [3, 2, 5]


def test_a_policy_learns_its_best_episodes_by_heart() -> None:
    """Four variants, eight actions, one of which is right in each: what was once found by chance is what it then does
    most often."""
    generator = torch.Generator().manual_seed(0)
    right = torch.tensor([3, 1, 7, 4])
    logits = torch.zeros(4, 8, requires_grad=True)
    tries = [
        (variant, int(action), float(action == right[variant]))
        for variant in range(4)
        for action in torch.randint(8, (40,), generator=generator)
    ]
    kept = best(tries, lambda each: str(each[0]), lambda each: each[2], above=0.0)
    rows, actions = torch.tensor([each[0] for each in kept]), torch.tensor([each[1] for each in kept])
    optimiser = torch.optim.SGD([logits], lr=4.0)
    for _ in range(50):
        optimiser.zero_grad()
        logps = possible(logits[rows]).gather(1, actions[:, None])[:, 0]
        imitation_loss(logps, torch.ones(len(kept), dtype=torch.bool), len(kept)).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert actions.tolist() == right.tolist()
    assert (possible(logits).exp().gather(1, right[:, None]) > 0.9).all()
