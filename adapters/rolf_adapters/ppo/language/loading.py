"""Loading: the model and the tokenizer that a configuration names."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import torch

try:
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer
except ImportError as error:
    raise ImportError(
        f"language models need transformers and safetensors ({error}): pip install 'rolf[ppo]'"
    ) from error


def loaded(name: str, seed: int) -> tuple[Any, Any]:
    """Return a model and its tokenizer.

    Nothing is fetched from anywhere: what is not in the folder is not there.

    Args:
        name: A folder that ``save_pretrained`` wrote, or ``module:function``, which is called with ``seed`` and returns
            the two.
        seed: For the weights of a model that is made anew.

    Raises:
        ValueError: there is no such folder or function, or it holds or returns no model and tokenizer.
    """
    if Path(name).is_dir():
        return _read(name)
    module, colon, function = name.partition(":")
    if not colon:
        raise ValueError(
            f"policy.model={name!r} is no folder here; give one that save_pretrained wrote for model and tokenizer, or "
            "module:function, which returns the two"
        )
    try:
        found = getattr(import_module(module), function, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ValueError(f"policy.model={name!r}: {error}; write module:function, or the path of a folder") from error
    if not callable(found):
        raise ValueError(
            f"policy.model={name!r}: {module!r} has no function {function!r}; write module:function, or the path of a "
            "folder"
        )
    made = found(seed=seed)
    if not isinstance(made, tuple) or len(made) != 2:
        raise ValueError(f"policy.model={name!r} returned {made!r:.80}; it must return (model, tokenizer)")
    return made


def _read(folder: str) -> tuple[Any, Any]:
    """Return the model and the tokenizer that lie in a folder."""
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
        return model, AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, SafetensorError) as error:
        said = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"policy.model={folder!r}: {said}; give a folder that save_pretrained wrote for model and tokenizer"
        ) from error
