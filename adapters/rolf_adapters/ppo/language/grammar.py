"""Grammar: which tokens may come next, so that an answer is a call; the same where tokens are drawn and learned."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import llguidance.hf
    import llguidance.numpy
    from llguidance import LLMatcher
except ImportError as error:
    raise ImportError(f"grammars need llguidance ({error}): pip install 'rolf[ppo]'") from error

OPTIONS = json.dumps({"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "})
"""JSON as ``json.dumps`` writes it: what a model has seen."""


class Grammar:
    """Makes masks of JSON Schemas for the vocabulary of a model.

    Args:
        tokenizer: A fast tokenizer of Hugging Face's.
        vocabulary: Tokens that the model scores.
        end: Id of the token that ends an answer.
    """

    def __init__(self, tokenizer: Any, vocabulary: int, end: int) -> None:
        self._words = llguidance.hf.from_tokenizer(tokenizer, n_vocab=vocabulary, eos_token=end)
        self._vocabulary = vocabulary
        self._made: dict[str, Any] = {}

    def follow(self, schema: Mapping[str, Any]) -> Path:
        """Return a path through the grammar, at its beginning.

        Raises:
            ValueError: no grammar can be made of the schema.
        """
        text = json.dumps(schema, sort_keys=True)
        if text not in self._made:
            matcher = LLMatcher(self._words, LLMatcher.grammar_from_json_schema(text, overrides=OPTIONS))
            if matcher.is_error():
                raise ValueError(f"no grammar can be made of the schema {schema!r:.300}: {matcher.get_error()}")
            self._made[text] = matcher
        return Path(self._made[text].deep_copy(), self._vocabulary)


class Path:
    """One answer on its way through a grammar."""

    def __init__(self, matcher: Any, vocabulary: int) -> None:
        self._matcher = matcher
        self._mask = llguidance.numpy.allocate_token_bitmask(1, vocabulary)

    def allowed(self) -> NDArray[np.int32]:  # (words of 32 bits,)
        """Return which tokens may come next, a bit each."""
        llguidance.numpy.fill_next_token_bitmask(self._matcher, self._mask, 0)
        found: NDArray[np.int32] = self._mask[0].copy()
        return found

    def take(self, token: int) -> None:
        """Go on by a token that may come."""
        if not self._matcher.consume_token(token):
            raise ValueError(f"token {token} does not go on what was said under the grammar")

    def forced(self, most: int) -> list[int]:
        """Go on by the tokens that nobody chooses, as only one may come, and return them; at most so many."""
        found: list[int] = []
        while len(found) < most:
            possible = np.flatnonzero(np.unpackbits(self.allowed().view(np.uint8), bitorder="little"))
            if len(possible) != 1:
                break
            found.append(int(possible[0]))
            self.take(found[-1])
        return found


def masks(path: Path, ids: Sequence[int]) -> NDArray[np.int32]:  # (tokens, words)
    """Return what was allowed before each token of an answer."""
    found = []
    for token in ids:
        found.append(path.allowed())
        path.take(token)
    return np.stack(found)
