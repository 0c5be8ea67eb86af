"""Batches: episodes as what is learned from, put together so that little padding is computed.

How episodes are put together has no effect on what is learned: every sum is divided by the number of samples of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rolf_adapters.ppo.credit import over_tokens
from rolf_adapters.ppo.language.policy import LanguagePolicy, padded
from rolf_adapters.ppo.language.settings import Reward
from rolf_adapters.ppo.language.turns import Episode, unpacked
from rolf_adapters.ppo.losses import possible

CALL = 128
"""What calling a model takes, whatever it then reads: as much as so many tokens, measured with one of a million weights
on a processor. Larger ones take less of their tokens."""


class Sample(NamedTuple):
    """One episode, and what is learned of the tokens in it that were chosen."""

    ids: NDArray[np.int64]  # (tokens,)
    places: NDArray[np.int64]  # (chosen,)
    """Where the chosen tokens are; none is the first of all."""
    logps: NDArray[np.float32]  # (chosen,)
    """When they were drawn."""
    advantages: NDArray[np.float64]  # (chosen,)
    returns: NDArray[np.float64]  # (chosen,)
    values: NDArray[np.float32]  # (chosen,)
    """When they were drawn."""
    valued: NDArray[np.bool_]  # (chosen,)
    """Where the critic learns."""
    segments: NDArray[np.int64]  # (chosen,)
    allowed: NDArray[np.int32] | None  # (chosen, words)
    weights: NDArray[np.float32] | None = None  # (chosen,)
    """What each counts in the policy's loss (`rolf_adapters.ppo.language.staleness`); None: 1."""
    reference: NDArray[np.float32] | None = None  # (chosen,)
    """Log-probabilities under the policy that is stayed near; None: there is none."""


class Scored(NamedTuple):
    """What a policy says of the chosen tokens of some samples, one after another."""

    logits: Tensor  # (chosen, vocabulary)
    allowed: Tensor | None  # (chosen, vocabulary)
    logps: Tensor  # (chosen,)
    values: Tensor  # (chosen,)


def sample(episode: Episode, reward: Reward) -> Sample | None:
    """Return what is learned from an episode; None: nothing was chosen in it.

    Args:
        episode: Played to its end.
        reward: How its rewards become credit.
    """
    row = episode.row()
    if not row.chosen.any():
        return None
    credit = over_tokens(
        episode.rewards,
        row.values,
        row.chosen,
        row.turns,
        episode.final,
        episode.terminated,
        credit=reward.credit,
        discount=reward.discount,
        trace=reward.trace,
        token_discount=reward.token_discount,
        token_trace=reward.over_tokens,
    )
    places = np.flatnonzero(row.chosen)
    segments = np.array([turn.segment for turn in episode.turns], np.int64)
    return Sample(
        row.ids,
        places,
        row.logps[places],
        credit.advantages[places],
        credit.returns[places],
        row.values[places],
        credit.valued[places],
        segments[row.turns[places]],
        None if row.allowed is None else row.allowed[row.chosen[row.answered]],
    )


def bucketed(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Return indices in groups of similar lengths, none of which is larger than a budget when it is padded.

    Among all such groups of neighbours by length it is those that take the least: what is computed, padding included,
    and `CALL` for each group. One row that is much longer than the others so does not make all of them long.

    Args:
        lengths: Of rows [tokens].
        budget: Rows times longest row; a row that is longer by itself is a group of its own.
    """
    order = sorted(range(len(lengths)), key=lambda each: (-lengths[each], each))
    # Of the first rows by length: the least that they take, and where the last of their groups begins.
    least = [(0, 0)]
    for end in range(1, len(order) + 1):
        found: list[tuple[int, int]] = []
        for begin in range(end - 1, -1, -1):
            size = (end - begin) * lengths[order[begin]]
            if found and size > budget:
                break
            found.append((least[begin][0] + size + CALL, begin))
        least.append(min(found))
    groups: list[list[int]] = []
    end = len(order)
    while end:
        groups.append(order[least[end][1] : end])
        end = least[end][1]
    return groups[::-1]


def scored(policy: LanguagePolicy, samples: Sequence[Sample]) -> Scored:
    """Return what a policy says of samples now."""
    hidden = policy.read(padded([each.ids.tolist() for each in samples])).hidden
    rows = torch.from_numpy(np.repeat(np.arange(len(samples)), [len(each.places) for each in samples]))
    # What predicts a token is what was known before it.
    last = joined(samples, "places") - 1
    before, noticed = hidden[rows, last], policy.critic.noticed(hidden).cumsum(1)[rows, last]
    logits = policy.logits(before)
    allowed = _allowed(samples, policy.vocabulary)
    tokens = torch.from_numpy(np.concatenate([each.ids[each.places] for each in samples]))
    logps = possible(logits, allowed).gather(1, tokens[:, None])[:, 0]
    return Scored(logits, allowed, logps, policy.critic(before, noticed))


def likelihoods(policy: LanguagePolicy, samples: Sequence[Sample], budget: int) -> list[NDArray[np.float32]]:
    """Return the log-probabilities of the chosen tokens of each sample under a policy, ``(chosen,)``.

    Args:
        policy: As it is now.
        samples: What is looked at.
        budget: Most tokens, padding included, that are computed at once.
    """
    found: dict[int, NDArray[np.float32]] = {}
    for group in bucketed([len(each.ids) for each in samples], budget):
        with torch.no_grad():
            logps = scored(policy, [samples[index] for index in group]).logps.numpy()
        ends = np.cumsum([len(samples[index].places) for index in group])
        found.update(zip(group, np.split(logps, ends[:-1]), strict=True))
    return [found[index] for index in range(len(samples))]


def joined(samples: Sequence[Sample], name: str) -> Any:
    """Return a part of samples as one tensor, ``(chosen of all,)``."""
    return torch.from_numpy(np.concatenate([getattr(each, name) for each in samples]))


def _allowed(samples: Sequence[Sample], vocabulary: int) -> Tensor | None:
    masks = [each.allowed for each in samples]
    if all(mask is None for mask in masks):
        return None
    rows = [
        np.ones((len(each.places), vocabulary), np.bool_) if mask is None else unpacked(mask, vocabulary)
        for each, mask in zip(samples, masks, strict=True)
    ]
    return torch.from_numpy(np.concatenate(rows))
