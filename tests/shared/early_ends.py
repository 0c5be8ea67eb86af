"""A policy whose answers end early, at different moments."""

from __future__ import annotations

from typing import Any

import pytest
from file_tasks import words
from torch import Tensor

from rolf_adapters.ppo.language.policy import LanguagePolicy


def end_early(policy: LanguagePolicy, patch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Make the end of an answer likely at every token.

    Returns:
        The (rows, tokens) of each reading from now on.
    """
    scores, reads, shapes = policy.logits, policy.read, []

    def eager(hidden: Tensor) -> Tensor:
        found = scores(hidden)
        found[..., words().eos_token_id] = found.amax(-1) + 3.0
        return found

    def noted(ids: Tensor, **more: Any) -> Any:
        shapes.append((ids.shape[0], ids.shape[1]))
        return reads(ids, **more)

    patch.setattr(policy, "logits", eager)
    patch.setattr(policy, "read", noted)
    return shapes
