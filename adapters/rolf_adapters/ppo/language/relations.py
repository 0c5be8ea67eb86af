"""Relations: attention between the marked words of a terminal's text, along its rows and between its sections.

What a table says stands in rows: process 812 belongs to `root` because both stand in one line. What is asked of it
stands elsewhere. So there are two attentions, one behind the other. *Rows*: a word looks at words of other kinds before
it in its line; its process id learns the user. *Sections*: a word looks at the same kind of word in earlier sections,
and agrees most with the same word; the process that is asked for learns what the table's has learned. All else is
masked, as is everything that comes later: a token looks only at words that had ended before it.

At first neither changes anything: what they add goes through weights that begin at 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from rolf_adapters.ppo.language.marks import Mark, Note
from rolf_adapters.ppo.language.word_features import IDENTITY, PLACES, features

SHARP = 2.0
"""How much it counts at first that one more place of two words is the same [logit]."""
DOUBT = SHARP * (PLACES - 0.5)
"""What looking nowhere counts at first between sections: more than a word that differs, less than the same [logit]."""


class Marked(NamedTuple):
    """What is known of the tokens of a context, padding included."""

    mark: Tensor  # (rows, tokens)
    word: Tensor  # (rows, tokens)
    line: Tensor  # (rows, tokens)
    section: Tensor  # (rows, tokens)
    features: Tensor  # (rows, tokens, SIZE + IDENTITY)

    def joined(self, later: Marked) -> Marked:
        """Return these tokens and those that follow."""
        return Marked(*(torch.cat([one, other], 1) for one, other in zip(self, later, strict=True)))

    def last(self, count: int) -> Marked:
        """Return the last tokens."""
        return Marked(*(each[:, each.shape[1] - count :] for each in self))


def marked(notes: Sequence[Sequence[Note]]) -> Marked:
    """Return what is known of some contexts' tokens, (rows, tokens), as tensors."""
    numbers = torch.tensor([[(note.mark, note.word, note.line, note.section) for note in row] for row in notes])
    mark, word, line, section = numbers.unbind(-1)
    told = np.stack([np.stack([features(note.mark, note.text) for note in row]) for row in notes])
    return Marked(mark, word, line, section, torch.from_numpy(told))


class Kept(NamedTuple):
    """Keys and values of the tokens of a context."""

    keys: Tensor  # (rows, heads, tokens, size)
    values: Tensor  # (rows, heads, tokens, size)


def looked_at(every: Marked, new: int) -> tuple[Tensor, Tensor]:
    """Return what the last tokens look at, along rows and between sections, ``(rows, new, tokens)`` each.

    Args:
        every: All tokens of the contexts.
        new: How many of them look.
    """
    looking = every.last(new)
    count = every.mark.shape[1]
    order = torch.arange(count)
    # A word that another token follows has ended; the very last token is looked at by none.
    ended = torch.ones_like(every.mark, dtype=torch.bool)
    ended[:, :-1] = every.word[:, 1:] != every.word[:, :-1]
    mine, theirs = looking.mark[:, :, None], every.mark[:, None]
    seen = (order[None, count - new :, None] > order[None, None]) & ended[:, None]
    seen = seen & (mine != Mark.NONE) & (theirs != Mark.NONE) & (looking.word[:, :, None] != every.word[:, None])
    rows = seen & (mine != theirs) & (looking.line[:, :, None] == every.line[:, None])
    sections = seen & (mine == theirs) & (looking.section[:, :, None] != every.section[:, None])
    return rows, sections


class Attention(nn.Module):  # type: ignore[misc]  # types are checked where torch is not installed
    """Looks at some words, or at none.

    Args:
        width: Of the hidden states.
        heads: How many.
        size: Of a head.
        same: Whether it counts that words are the same.
    """

    def __init__(self, width: int, heads: int, size: int, *, same: bool) -> None:
        super().__init__()
        self.shape = (heads, size)
        self.norm = nn.LayerNorm(width)
        self.ask, self.key, self.value = (nn.Linear(width, heads * size, bias=False) for _ in range(3))
        self.gate = nn.Linear(heads * size, width, bias=False)
        nn.init.zeros_(self.gate.weight)
        self.nowhere = nn.Parameter(torch.full((heads,), DOUBT if same else 0.0))
        self.sharp = nn.Parameter(torch.full((heads,), SHARP)) if same else None
        self.same = nn.Parameter(torch.ones(IDENTITY)) if same else None

    def keep(self, hidden: Tensor) -> Kept:
        """Return keys and values of tokens, whose hidden states are ``(rows, tokens, width)``."""
        seen = self.norm(hidden)
        return Kept(self._heads(self.key(seen)), self._heads(self.value(seen)))

    def forward(self, hidden: Tensor, kept: Kept, every: Marked, seen: Tensor) -> Tensor:
        """Return what is added to the hidden states of the last tokens, ``(rows, new, width)``.

        Args:
            hidden: Theirs.
            kept: Keys and values of all tokens.
            every: All tokens.
            seen: What each of the last looks at, ``(rows, new, tokens)``.
        """
        asked = self._heads(self.ask(self.norm(hidden)))
        scores = asked @ kept.keys.mT / math.sqrt(self.shape[1])
        if self.sharp is not None:
            words = every.features[..., -IDENTITY:]
            alike = (words[:, words.shape[1] - hidden.shape[1] :] * self.same) @ words.mT
            scores = scores + self.sharp[None, :, None, None] * alike[:, None]
        scores = scores.masked_fill(~seen[:, None], -torch.inf)
        nowhere = self.nowhere[None, :, None, None].expand(*scores.shape[:3], 1)
        weights = torch.cat([nowhere, scores], -1).softmax(-1)[..., 1:]
        found: Tensor = self.gate((weights @ kept.values).transpose(1, 2).flatten(2))
        return found

    def _heads(self, states: Tensor) -> Tensor:
        heads, size = self.shape
        return states.unflatten(-1, (heads, size)).transpose(1, 2)
