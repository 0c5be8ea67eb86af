"""Generation: answers of a model to many contexts at once, drawn or the likeliest ones.

What one answer is does not depend on which others are made beside it: each draws from a generator of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rolf_adapters.ppo.language.grammar import Path
from rolf_adapters.ppo.language.policy import LanguagePolicy, padded
from rolf_adapters.ppo.language.turns import Said, unpacked
from rolf_adapters.ppo.learner import Diverged

WORTH = 0.9
"""Once no more than this share of the rows still speak, the others are let go: that copies what was read of them."""


@dataclass(slots=True, eq=False)
class Asked:
    """A context that wants an answer, and what has been said so far."""

    context: Sequence[int]
    draws: np.random.Generator | None
    """What tokens are drawn with; None: the likeliest is taken."""
    path: Path | None = None
    """Through the grammar that holds for the answer; None: anything may be said."""
    ids: list[int] = field(default_factory=list)
    logps: list[float] = field(default_factory=list)
    chosen: list[bool] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    allowed: list[NDArray[np.int32]] = field(default_factory=list)

    def said(self) -> Said:
        """Return the answer."""
        return Said(
            tuple(self.ids),
            np.array(self.logps, np.float32),
            np.array(self.chosen, np.bool_),
            np.array(self.values, np.float32),
            np.stack(self.allowed) if self.path is not None else None,
        )


def answered(policy: LanguagePolicy, asked: Sequence[Asked], *, end: int, most: int, rows: int) -> list[Said]:
    """Return an answer to each context.

    Args:
        policy: Who answers.
        asked: The contexts, none empty; each is used up.
        end: Id of the token that ends an answer.
        most: Tokens that an answer may have; longer ones are cut.
        rows: Contexts that are answered together.

    Raises:
        Diverged: what the policy says is no number.
    """
    order = sorted(range(len(asked)), key=lambda index: (len(asked[index].context), index))
    with torch.inference_mode():
        for begin in range(0, len(order), rows):
            _answer(policy, [asked[index] for index in order[begin : begin + rows]], end, most)
    return [each.said() for each in asked]


def valued(policy: LanguagePolicy, contexts: Sequence[Sequence[int]], *, rows: int) -> list[float]:
    """Return what the critic expects after each context."""
    found: list[float] = []
    for begin in range(0, len(contexts), rows):
        part = contexts[begin : begin + rows]
        last = torch.tensor([len(context) - 1 for context in part])
        with torch.inference_mode():
            hidden = policy.read(padded(part)).hidden
            noticed = policy.critic.noticed(hidden).cumsum(1)
            each = torch.arange(len(part))
            found += policy.critic(hidden[each, last], noticed[each, last]).tolist()
    return found


def _answer(policy: LanguagePolicy, asked: Sequence[Asked], end: int, most: int) -> None:
    """Say one token after another until every answer has ended.

    Those that have ended are said on, and not listened to, until they are many enough to be let go.
    """
    lengths = torch.tensor([len(each.context) for each in asked])
    ids = padded([each.context for each in asked], left=True)
    seen = (torch.arange(ids.shape[1])[None] >= ids.shape[1] - lengths[:, None]).long()
    places = (seen.cumsum(1) - 1).clamp(min=0)
    cache, noticed = None, torch.zeros(len(asked), 1)
    going = list(range(len(asked)))
    for number in range(most):
        read = policy.read(ids, attention_mask=seen, position_ids=places, past_key_values=cache, use_cache=True)
        cache = read.cache
        # Of the first tokens some fill up; what the model makes of those may be no number.
        real = seen[:, -ids.shape[1] :, None].bool()
        noticed = noticed + policy.critic.noticed(read.hidden).masked_fill(~real, 0.0).sum(1)
        hidden = read.hidden[going, -1]
        values = policy.critic(hidden, noticed[going])
        spoken = _spoken(policy.logits(hidden), values, [asked[row] for row in going])
        following = torch.zeros(len(asked), 1, dtype=torch.long)
        following[going, 0] = spoken
        going = [row for row, token in zip(going, spoken.tolist(), strict=True) if token != end]
        if not going or number == most - 1:
            return
        ids, places = following, places[:, -1:] + 1
        if len(going) <= WORTH * len(asked):
            rows = torch.tensor(going)
            cache, asked, going = policy.narrowed(cache, rows), [asked[row] for row in going], list(range(len(going)))
            ids, seen, places, noticed = ids[rows], seen[rows], places[rows], noticed[rows]
        seen = torch.cat([seen, torch.ones(len(asked), 1, dtype=torch.long)], 1)


def _spoken(logits: Tensor, values: Tensor, asked: Sequence[Asked]) -> Tensor:
    """Return the next token of each answer, and note it down."""
    words = [None if each.path is None else each.path.allowed() for each in asked]
    constrained = [row for row, word in enumerate(words) if word is not None]
    counts = torch.full((len(asked),), logits.shape[-1])
    if constrained:
        stacked = np.stack([word for word in words if word is not None])
        allowed = torch.from_numpy(unpacked(stacked, logits.shape[-1]))
        logits[constrained] = logits[constrained].masked_fill(~allowed, -torch.inf)
        counts[constrained] = allowed.sum(1)
    logps = torch.log_softmax(logits, -1)
    tokens = _drawn(logps, asked)
    likely = logps.gather(1, tokens[:, None])[:, 0]
    if not (torch.isfinite(likely).all() and torch.isfinite(values).all()):
        raise Diverged("the model's scores, or the critic's values, are no finite numbers")
    notes = (tokens.tolist(), likely.tolist(), counts.tolist(), values.tolist(), words)
    for each, token, logp, count, value, word in zip(asked, *notes, strict=True):
        each.ids.append(token)
        each.chosen.append(count > 1)
        each.logps.append(logp if count > 1 else 0.0)
        each.values.append(value)
        if each.path is not None and word is not None:
            each.allowed.append(word)
            each.path.take(token)
    return tokens


def _drawn(logps: Tensor, asked: Sequence[Asked]) -> Tensor:
    """Return a token for each row: where its number falls among the probabilities, laid end to end."""
    tokens = logps.argmax(-1)
    drawing = [row for row, each in enumerate(asked) if each.draws is not None]
    if drawing:
        numbers = torch.tensor([each.draws.random() for each in asked if each.draws is not None], dtype=torch.float64)
        ends = logps[drawing].double().exp().cumsum(-1)
        # As many ends lie at or below the number as there are tokens before the one that it falls on.
        tokens[drawing] = (ends <= numbers[:, None] * ends[:, -1:]).sum(-1).clamp(max=logps.shape[-1] - 1)
    return tokens
