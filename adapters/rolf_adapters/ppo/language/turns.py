"""Turns: what a model has read and said in an episode, as token ids: never as text that would have to be read again.

A context grows by appending ids and in no other way. What the model chose is told by one mask, `Turn.chosen`, which is
made where the tokens are drawn; whatever learns from an episode takes it from here (`Episode.row`), and nothing
else ever guesses it, least of all from the id of the padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """One answer of the model, token by token.

    Raises:
        ValueError: the parts are not equally long, or a token that was forced has a log-probability.
    """

    ids: tuple[int, ...]
    """Sampled, as they were; the token that ends an answer among them, unless the answer was cut."""
    logps: NDArray[np.float32]  # (tokens,)
    """Log-probability of each under what was allowed, when it was drawn."""
    chosen: NDArray[np.bool_]  # (tokens,)
    """Where there was a choice. Elsewhere a grammar left one token alone: nothing is learned from those."""
    values: NDArray[np.float32]  # (tokens,)
    """What the critic thought before each token."""
    allowed: NDArray[np.int32] | None = None  # (tokens, words of 32 bits)
    """Which tokens the grammar let through, a bit each, from the lowest; None: there was no grammar."""

    def __post_init__(self) -> None:
        count = len(self.ids)
        lengths = [len(self.logps), len(self.chosen), len(self.values)]
        lengths += [] if self.allowed is None else [len(self.allowed)]
        if count == 0 or set(lengths) != {count}:
            raise ValueError(f"an answer of {count} tokens has parts of {lengths}; all are equally long, and not empty")
        if np.any(self.logps[~self.chosen] != 0):
            raise ValueError("a token without a choice must have the log-probability 0")


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """One exchange: what the model was told, what it answered, and what came of it."""

    prompt_ids: tuple[int, ...]
    """Appended to the context before the answer."""
    said: Said
    reward: float
    terminated: bool
    truncated: bool
    version: int
    """Of the policy that answered: the number of updates that it had seen."""
    segment: int = 3
    """Which part of the work it was (``rolf_adapters.ppo.segments``); an answer that was no call executes nothing, but
    has to be learned as one that should have."""
    malformed: bool = False
    """Whether the answer was no call."""
    timeout: bool = False
    """Whether a command ran past its time-out, and was stopped."""


class Row(NamedTuple):
    """An episode as one row of tokens."""

    ids: NDArray[np.int64]  # (tokens,)
    answered: NDArray[np.bool_]  # (tokens,)
    """Tokens of answers."""
    chosen: NDArray[np.bool_]  # (tokens,)
    """Tokens that the policy chose."""
    logps: NDArray[np.float32]  # (tokens,)
    values: NDArray[np.float32]  # (tokens,)
    turns: NDArray[np.int64]  # (tokens,)
    """Which turn each token is of."""
    allowed: NDArray[np.int32] | None  # (answered, words)
    """Of the tokens of answers alone, in their order."""


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """All turns of an episode that was played to its end."""

    turns: Sequence[Turn]
    final: float = 0.0
    """The critic's value of the observation after the last step, where that cut the episode off; else not looked at."""
    success: bool = False
    score: float = 0.0
    label: str = ""
    """What kind of task it was, for tables."""

    @property
    def rewards(self) -> NDArray[np.float64]:  # (turns,)
        """Of each turn."""
        return np.array([turn.reward for turn in self.turns], np.float64)

    @property
    def terminated(self) -> bool:
        """Whether it ended of itself: what comes after is worth nothing."""
        return self.turns[-1].terminated

    @property
    def tokens(self) -> int:
        """How long its row is."""
        return sum(len(turn.prompt_ids) + len(turn.said.ids) for turn in self.turns)

    def row(self) -> Row:
        """Return the episode as one row: prompts and answers in turn."""
        count = self.tokens
        ids, turns = np.zeros(count, np.int64), np.zeros(count, np.int64)
        answered, chosen = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        logps, values = np.zeros(count, np.float32), np.zeros(count, np.float32)
        at = 0
        for number, turn in enumerate(self.turns):
            begin = at + len(turn.prompt_ids)
            end = begin + len(turn.said.ids)
            ids[at:end] = (*turn.prompt_ids, *turn.said.ids)
            turns[at:end] = number
            answered[begin:end] = True
            chosen[begin:end] = turn.said.chosen
            logps[begin:end] = turn.said.logps
            values[begin:end] = turn.said.values
            at = end
        return Row(ids, answered, chosen, logps, values, turns, self._allowed())

    def _allowed(self) -> NDArray[np.int32] | None:
        masks = [turn.said.allowed for turn in self.turns]
        if all(mask is None for mask in masks):
            return None
        words = next(mask.shape[1] for mask in masks if mask is not None)
        free = np.full(words, -1, np.int32)
        return np.concatenate(
            [
                np.broadcast_to(free, (len(turn.said.ids), words)) if mask is None else mask
                for turn, mask in zip(self.turns, masks, strict=True)
            ]
        )


def unpacked(words: NDArray[np.int32], vocabulary: int) -> NDArray[np.bool_]:
    """Return which tokens masks let through.

    Args:
        words: (rows, words of 32 bits), the lowest bit first.
        vocabulary: Tokens that there are.

    Returns:
        (rows, vocabulary)
    """
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")
    return bits[..., :vocabulary].astype(np.bool_)
