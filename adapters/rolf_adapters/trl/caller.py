"""caller: a tiny model that makes one of several calls, each as readily, for tests and to try out TRL in minutes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import getmembers, isfunction
from typing import Any, NamedTuple

try:
    import torch
    from trl.chat_template_utils import qwen3_chat_template, qwen3_training_chat_template

    from rolf_adapters.ppo.language import tiny
except ImportError as error:
    raise ImportError(f"a model for TRL needs trl and transformers ({error}): pip install 'rolf[trl,ppo]'") from error

VOCABULARY = 900
"""Tokens of the tokenizer: the calls are a few each."""
RATE = 6e-3
"""Learning rate of the warm start."""


class Caller(NamedTuple):
    """What ``GRPOTrainer`` takes."""

    model: Any
    words: Any
    """Its tokenizer, with the chat template of Qwen3, which has words for tools."""


def caller(
    factory: Callable[[], Any],
    user: str,
    row: Mapping[str, Any],
    calls: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    steps: int = 160,
    seed: int = 0,
) -> Caller:
    """Return a model that was shown, over and over, episodes of one call each.

    Args:
        factory: Makes the environment, as ``GRPOTrainer`` is given it.
        user: The user's message, as the data set has it.
        row: The rest of the data set's row.
        calls: Name and arguments of each call.
        steps: Of the warm start.
        seed: Of the model's weights.
    """
    texts = [_conversation(factory(), user, row, name, arguments) for name, arguments in calls]
    words = tiny.tokenizer(texts, vocabulary=VOCABULARY)
    words.chat_template = qwen3_chat_template
    model = tiny.model(words, seed=seed, width=64, layers=2, window=2048)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    ids = words(texts, return_tensors="pt", padding=True).input_ids
    for _ in range(steps):
        optimizer.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
    return Caller(model, words)


def _conversation(tools: Any, user: str, row: Mapping[str, Any], name: str, arguments: Mapping[str, Any]) -> str:
    """Return what a model that makes one call reads and writes, as TRL lays it out."""
    begun = tools.reset(**row)
    call = {"type": "function", "function": {"name": name, "arguments": dict(arguments)}}
    told = getattr(tools, name)(**arguments)
    said = [
        {"role": "user", "content": user + (begun or "")},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": name, "content": told},
        {"role": "assistant", "content": "Done."},
    ]
    methods = [each for each, _ in getmembers(type(tools), isfunction) if not each.startswith("_")]
    shown = [getattr(tools, each) for each in methods if each not in ("reset", "get_reward")]  # in TRL's order
    words = tiny.tokenizer([])
    template = qwen3_training_chat_template
    return str(words.apply_chat_template(said, tools=shown, chat_template=template, tokenize=False))
