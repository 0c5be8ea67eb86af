"""Loading: the model and the tokenizer that a configuration names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch

try:
    from transformers import AutoModelForCausalLM, AutoTokenizer
except ImportError as error:
    raise ImportError(f"language models need transformers ({error}): pip install 'rolf[ppo]'") from error


def loaded(name: str, seed: int) -> tuple[Any, Any]:
    """Return a model and its tokenizer.

    Args:
        name: A folder that ``save_pretrained`` wrote (or what else ``from_pretrained`` takes), or ``module:function``,
            which is called with ``seed`` and returns the two.
        seed: For the weights of a model that is made anew.

    Raises:
        ValueError: there is no such function, or it returns no model and tokenizer.
        OSError: there is no such folder.
    """
    if ":" not in name:
        model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
        return model, AutoTokenizer.from_pretrained(name)
    module, _, function = name.partition(":")
    try:
        found = getattr(import_module(module), function)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ValueError(f"policy.model={name!r}: {error}; write module:function, or the path of a folder") from error
    made = found(seed=seed)
    if not isinstance(made, tuple) or len(made) != 2:
        raise ValueError(f"policy.model={name!r} returned {made!r:.80}; it must return (model, tokenizer)")
    return made
