"""Decoding: the likeliest answer of a causal language model, token by token, within a grammar if there is one.

What the model has read is kept: a conversation that grows costs only its new tokens. Greedy, in the weights' own
precision, on as many threads as torch has: the same weights, text and machine give the same answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

try:
    import llguidance.hf
    import llguidance.numpy
    import torch
    from llguidance import LLMatcher
    from transformers import DynamicCache
except ImportError as error:
    raise ImportError(
        f"language models need torch, transformers and llguidance ({error}): pip install 'rolf[llm]'"
    ) from error


class Decoder:
    """A model that answers.

    Args:
        model: A Hugging Face causal language model.
        tokenizer: Its tokenizer, a fast one.

    Raises:
        ValueError: the tokenizer has no end-of-text token, so no answer would end.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        if tokenizer.eos_token_id is None:
            raise ValueError("the tokenizer has no eos_token, so no answer would end; set tokenizer.eos_token")
        self.tokenizer = tokenizer
        self._model = model.eval()
        self._ends = {tokenizer.eos_token_id, *_listed(model.generation_config.eos_token_id)}
        self._vocabulary = int(model.get_output_embeddings().weight.shape[0])
        self._read: list[int] = []
        self._cache = DynamicCache()
        self._words: Any = None

    def forget(self) -> None:
        """Drop what was read: the next answer depends on its own prompt alone, down to the last bit of its sums."""
        self._read, self._cache = [], DynamicCache()

    def answer(self, prompt: Sequence[int], tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        """Return the likeliest continuation of a prompt.

        Args:
            prompt: Token ids, one at least.
            tokens: Most that the answer may have; longer ones are cut off.
            schema: JSON Schema of the answer; None: any text.

        Raises:
            ValueError: the schema cannot be made a grammar of.
        """
        grammar = None if schema is None else self._grammar(schema)
        mask = llguidance.numpy.allocate_token_bitmask(1, self._vocabulary)
        said: list[int] = []
        scores = self._scores(prompt)
        while True:
            if grammar is not None:
                llguidance.numpy.fill_next_token_bitmask(grammar, mask)
                llguidance.numpy.apply_token_bitmask_inplace(scores.numpy()[None], mask)
            token = int(scores.argmax())
            if token in self._ends:
                break
            said.append(token)
            if grammar is not None:
                grammar.consume_token(token)
            if len(said) == tokens or (grammar is not None and grammar.is_stopped()):
                break
            scores = self._scores([*prompt, *said])
        return str(self.tokenizer.decode(said, skip_special_tokens=True))

    def _scores(self, ids: Sequence[int]) -> torch.Tensor:  # (vocabulary,)
        """Return the logits of the token after these, reading only what was not read yet."""
        known = 0
        while known < min(len(self._read), len(ids) - 1) and self._read[known] == ids[known]:
            known += 1
        if known < len(self._read):
            self._cache.crop(known - len(self._read))  # negative: so many tokens less
        new = torch.tensor([list(ids[known:])])
        with torch.inference_mode():
            output = self._model(input_ids=new, past_key_values=self._cache, use_cache=True, logits_to_keep=1)
        self._read = list(ids)
        scores: torch.Tensor = output.logits[0, -1].float().contiguous()
        return scores

    def _grammar(self, schema: Mapping[str, Any]) -> Any:
        if self._words is None:  # a second of work, and of no use to whoever answers freely
            self._words = llguidance.hf.from_tokenizer(self.tokenizer, n_vocab=self._vocabulary)
        options = json.dumps({"whitespace_flexible": False})
        matcher = LLMatcher(self._words, LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=options))
        if matcher.is_error():
            raise ValueError(f"no grammar can be made of the schema {schema!r:.300}: {matcher.get_error()}")
        return matcher


def _listed(ids: int | Sequence[int] | None) -> tuple[int, ...]:
    return () if ids is None else (ids,) if isinstance(ids, int) else tuple(ids)
