"""LanguagePolicy: a causal language model of Hugging Face's, and a head that says what a state is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rolf_adapters.ppo import seeds
from rolf_adapters.ppo.language.critic import Critic
from rolf_adapters.ppo.language.encoder import TerminalEncoder
from rolf_adapters.ppo.language.layers import upper

PROBE = 8
"""Tokens on which it is seen whether the model's parts make up the model."""
AGREED = 1e-3
"""How far logits may be apart there: rounding, and no scale or bound that the parts leave out."""


class Read(NamedTuple):
    """What comes of reading tokens."""

    hidden: Tensor  # (rows, tokens, width)
    cache: Any
    """Keys and values of all that was read; None: not asked for."""


class LanguagePolicy(nn.Module):  # type: ignore[misc]  # types are checked where torch is not installed
    """Says which tokens are likely, and what is to be expected.

    Dropout is off, always: what is drawn and what is learned from are the same distribution.

    Args:
        model: A causal language model in 32-bit floats, with an output layer on top of its hidden states.
        seed: For the first weights of the critic.
        width: Of the critic's hidden layer.
        layers: How many of the upper layers are trained, the norm behind them too; embeddings and the layers below
            keep their values. None: everything is trained.
        temperature: Logits are divided by it, where tokens are drawn and where they are learned.
        encoder: Made for this model; reads with it, and is always trained. None: the model reads by itself.

    Raises:
        ValueError: its layers cannot be found, or it has not so many; its weights are no 32-bit floats; its logits are
            not its output layer applied to its hidden states.
    """

    def __init__(
        self,
        model: Any,
        *,
        seed: int = 0,
        width: int = 64,
        layers: int | None = None,
        temperature: float = 1.0,
        encoder: TerminalEncoder | None = None,
    ) -> None:
        super().__init__()
        self.model = model.eval()
        self.temperature = temperature
        self.encoder = encoder
        self._body = model.base_model
        self._head = model.get_output_embeddings()
        _check(model, self._body, self._head)
        self.vocabulary = int(self._head.weight.shape[0])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seeds.number(seed, "critic"))
            self.critic = Critic(int(self._head.weight.shape[1]), width)
        for parameter in self.model.parameters():
            parameter.requires_grad_(layers is None)
        for part in () if layers is None else upper(self._body, layers):
            for parameter in part.parameters():
                parameter.requires_grad_(True)

    @property
    def longest(self) -> int | None:
        """Most tokens that the model was made to read; None: it does not say."""
        found = getattr(self.model.config, "max_position_embeddings", None)
        return None if found is None else int(found)

    def check_window(self, window: int) -> None:
        """See that contexts of so many tokens are none that the model was not made for.

        Raises:
            ValueError: they are longer than `longest`.
        """
        if self.longest is not None and window > self.longest:
            raise ValueError(
                f"rollout.window={window} is longer than what {type(self.model).__name__} was made to read, "
                f"{self.longest} tokens (max_position_embeddings); give a window of 16 to {self.longest}, or a model "
                "that reads more"
            )

    def read(self, ids: Tensor, **more: Any) -> Read:
        """Return the hidden states of tokens.

        Args:
            ids: (rows, tokens); padding on the right needs no mask, for nothing looks there.
            more: ``attention_mask``, ``position_ids``, ``past_key_values``, ``use_cache`` as of the model;
                what was read before is what an earlier call returned as ``cache``.
        """
        if self.encoder is not None:
            return Read(*self.encoder.read(self._body, ids, **{"use_cache": False, **more}))
        output = self._body(input_ids=ids, **{"use_cache": False, **more})
        return Read(output.last_hidden_state, output.past_key_values if more.get("use_cache") else None)

    def narrowed(self, cache: Any, rows: Tensor) -> Any:
        """Return of what was read only some rows; the cache itself is used up.

        Args:
            cache: Of `read`.
            rows: Which, in this order, ``(kept,)``.
        """
        if self.encoder is not None:
            cache.narrow(rows)
        else:
            cache.batch_select_indices(rows)
        return cache

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the scores of the next token, ``(..., vocabulary)``."""
        scores: Tensor = self._head(hidden).float() / self.temperature
        return scores

    def trained(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Yield the parameters that are trained, by name."""
        return ((name, each) for name, each in self.named_parameters() if each.requires_grad)


def padded(rows: Sequence[Sequence[int]], *, left: bool = False) -> Tensor:
    """Return rows of ids as one tensor; what fills the shorter ones is never looked at.

    Args:
        rows: One a row, none empty.
        left: Whether they end together instead of beginning together.
    """
    longest = max(map(len, rows))
    filled = [[0] * (longest - len(row)) + list(row) if left else [*row, *[0] * (longest - len(row))] for row in rows]
    return torch.tensor(filled, dtype=torch.long)


def _check(model: Any, body: Any, head: Any) -> None:
    kind = type(model).__name__
    if body is model or head is None:
        raise ValueError(f"{kind} is no causal language model with an output layer; load it by AutoModelForCausalLM")
    types = {parameter.dtype for parameter in model.parameters()}
    if types != {torch.float32}:
        said = ", ".join(sorted(map(str, types)))
        raise ValueError(f"{kind} has weights of type {said}; load it with dtype=torch.float32")
    ids = torch.arange(PROBE)[None] % int(head.weight.shape[0])
    with torch.inference_mode():
        whole = model(input_ids=ids, use_cache=False).logits
        apart = head(body(input_ids=ids, use_cache=False).last_hidden_state)
    worst = float((whole - apart).abs().max())
    if not math.isfinite(worst) or worst > AGREED:
        raise ValueError(
            f"the logits of {kind} are not its output layer applied to its hidden states (apart by {worst:g}): it "
            "scales or bounds them, which is not supported"
        )
