"""Three chosen tokens of a real model, few enough to be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import torch
from file_tasks import tiny

from rolf_adapters.ppo.language.batches import Sample
from rolf_adapters.ppo.language.policy import LanguagePolicy

IDS = (5, 9, 14, 3, 21, 8)
PLACES = (2, 3, 5)
"""Of the tokens that were chosen."""


def policy() -> LanguagePolicy:
    return LanguagePolicy(tiny(seed=3)[0])


def by_hand(speaker: LanguagePolicy) -> list[float]:
    """Return the log-probability of each chosen token, from the whole model's own output."""
    with torch.no_grad():
        logits = speaker.model(input_ids=torch.tensor([IDS])).logits[0].double()
    return [float(logits[place - 1, IDS[place]] - math.log(logits[place - 1].exp().sum().item())) for place in PLACES]


def sample(logps: list[float], advantages: tuple[float, ...] = (1.0, -2.0, 0.5)) -> Sample:
    count = len(PLACES)
    return Sample(
        np.array(IDS, np.int64),
        np.array(PLACES, np.int64),
        np.array(logps, np.float32),
        np.array(advantages),
        np.zeros(count),
        np.zeros(count, np.float32),
        np.ones(count, np.bool_),
        np.full(count, 3, np.int64),
        None,
    )
