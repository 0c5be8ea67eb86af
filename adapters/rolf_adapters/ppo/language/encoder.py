"""TerminalEncoder: tells a language model what the words of a terminal's text are, and lets them look at each other.

It stands round a causal language model of Hugging Face's and leaves the model as it is. To the embeddings of tokens it
adds what they are marked as (`marks`) and what the number is worth that they end (`word_features`); in front of one
layer in the middle, marked words look along their rows and at their like in earlier sections (`relations`). It begins
by changing nothing: the logits are those of the model alone, to the bit.

What is read token by token, with what was read before kept, comes out as if all had been read at once.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rolf_adapters.ppo import seeds
from rolf_adapters.ppo.language.layers import stack
from rolf_adapters.ppo.language.marks import NOTHING, Mark, Reader, texts
from rolf_adapters.ppo.language.relations import Attention, Kept, Marked, looked_at, marked
from rolf_adapters.ppo.language.word_features import SIZE

HEADS, HEAD = 4, 32
"""Of each attention: how many, and their size."""


class Memory:
    """What was read of some contexts: the model's own keys and values, and the encoder's.

    Args:
        rows: Contexts.
    """

    def __init__(self, rows: int) -> None:
        self.cache: Any = None
        self.readers = [Reader() for _ in range(rows)]
        self.marked: Marked | None = None
        self.along: Kept | None = None
        """Of the attention along rows."""
        self.between: Kept | None = None
        """Of the attention between sections."""

    def narrow(self, rows: Tensor) -> None:
        """Let all but some rows go, ``(kept,)``; something was read of each."""
        self.cache.batch_select_indices(rows)
        self.readers = [self.readers[row] for row in rows.tolist()]
        if self.marked is not None:
            self.marked = Marked(*(each[rows] for each in self.marked))
        if self.along is not None:
            self.along = Kept(*(each[rows] for each in self.along))
        if self.between is not None:
            self.between = Kept(*(each[rows] for each in self.between))


class _Reading(NamedTuple):
    """What is being read now, for the layer that the encoder stands in front of."""

    encoder: TerminalEncoder
    memory: Memory
    every: Marked
    seen: tuple[Tensor, Tensor]


_READING: ContextVar[_Reading | None] = ContextVar("reading", default=None)
"""Of this thread: others may read with a model of their own meanwhile."""


class TerminalEncoder(nn.Module):  # type: ignore[misc]  # types are checked where torch is not installed
    """Reads terminals for a model.

    Args:
        model: A causal language model of Hugging Face's; a hook is put in front of one of its layers.
        tokenizer: Its tokenizer.
        layer: In front of which layer words look at each other, from 0; None: the one in the middle.
        seed: For the first weights.

    Raises:
        ValueError: its layers cannot be found, or it has no such layer.
    """

    def __init__(self, model: Any, tokenizer: Any, *, layer: int | None = None, seed: int = 0) -> None:
        super().__init__()
        body = model.base_model
        layers = stack(body)
        self.layer = len(layers) // 2 if layer is None else layer
        if not 0 <= self.layer < len(layers):
            raise ValueError(f"layer={layer}: {type(body).__name__} has the layers 0 to {len(layers) - 1}; give one")
        width = int(body.get_input_embeddings().weight.shape[1])
        self._texts = texts(tokenizer)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seeds.number(seed, "encoder"))
            self.marks = nn.Embedding(len(Mark), width, padding_idx=int(Mark.NONE))
            self.sizes = nn.Linear(SIZE, width, bias=False)
            self.along = Attention(width, HEADS, HEAD, same=False)
            self.between = Attention(width, HEADS, HEAD, same=True)
        nn.init.zeros_(self.marks.weight)
        nn.init.zeros_(self.sizes.weight)
        # A bound method: a copy of the policy that owns both has the copied encoder in front of its copied layer.
        layers[self.layer].register_forward_pre_hook(self._in_front, with_kwargs=True)

    def read(self, body: Any, ids: Tensor, **more: Any) -> tuple[Tensor, Memory | None]:
        """Return the hidden states of tokens, and what was kept if that was asked for.

        Args:
            body: The model without its output layer.
            ids: (rows, tokens)
            more: As of `LanguagePolicy.read`; ``past_key_values`` is what an earlier call returned, and is used up.
        """
        memory = more.pop("past_key_values", None) or Memory(len(ids))
        new = self._marked(memory, ids, more.get("attention_mask"))
        memory.marked = new if memory.marked is None else memory.marked.joined(new)
        embedded = body.get_input_embeddings()(ids)
        embedded = embedded + self.marks(new.mark) + self.sizes(new.features[..., :SIZE])
        reading = _Reading(self, memory, memory.marked, looked_at(memory.marked, ids.shape[1]))
        token = _READING.set(reading)
        try:
            output = body(inputs_embeds=embedded, past_key_values=memory.cache, **more)
        finally:
            _READING.reset(token)
        if not more.get("use_cache"):
            return output.last_hidden_state, None
        memory.cache = output.past_key_values
        return output.last_hidden_state, memory

    def _marked(self, memory: Memory, ids: Tensor, mask: Tensor | None) -> Marked:
        """Return what the new tokens are; those that fill up rows on the left are nothing."""
        count = ids.shape[1]
        real = torch.ones_like(ids) if mask is None else mask[:, mask.shape[1] - count :]
        notes = [
            [reader.read(self._text(each)) if there else NOTHING for each, there in zip(row, kept, strict=True)]
            for reader, row, kept in zip(memory.readers, ids.tolist(), real.tolist(), strict=True)
        ]
        return marked(notes)

    def _text(self, token: int) -> str | None:
        """Return what a token adds to a text; rows of an output layer that no token has add nothing."""
        return self._texts[token] if token < len(self._texts) else ""

    def _in_front(self, _layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Change the hidden states that the layer is given."""
        reading = _READING.get()
        if reading is None or reading.encoder is not self:  # the model is used by itself, or by another one
            return None
        hidden = args[0] if args else kwargs["hidden_states"]
        memory = reading.memory
        rows, sections = reading.seen
        # What fills up rows may be no number, and times a weight of 0 would be none either.
        unmarked = (reading.every.last(hidden.shape[1]).mark == Mark.NONE)[..., None]
        memory.along = _grown(memory.along, self.along.keep(hidden.masked_fill(unmarked, 0.0)))
        hidden = hidden + self.along(hidden, memory.along, reading.every, rows)
        memory.between = _grown(memory.between, self.between.keep(hidden.masked_fill(unmarked, 0.0)))
        hidden = hidden + self.between(hidden, memory.between, reading.every, sections)
        return ((hidden, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": hidden})


def _grown(before: Kept | None, new: Kept) -> Kept:
    if before is None:
        return new
    return Kept(torch.cat([before.keys, new.keys], 2), torch.cat([before.values, new.values], 2))
