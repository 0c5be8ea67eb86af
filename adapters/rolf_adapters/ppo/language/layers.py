"""Layers: where the layers of a language model of Hugging Face's are, whatever its make calls them."""

from __future__ import annotations

from typing import Any

from torch import nn


def stack(body: Any) -> nn.ModuleList:
    """Return the layers of a model, from the lowest.

    Args:
        body: The model without its output layer.

    Raises:
        ValueError: its layers cannot be found.
    """
    found: nn.ModuleList = getattr(body, name(body))
    return found


def name(body: Any) -> str:
    """Return what a model calls its layers.

    Raises:
        ValueError: its layers cannot be found.
    """
    depth = int(body.config.num_hidden_layers)
    lists: dict[str, int] = {each: len(part) for each, part in body.named_children() if isinstance(part, nn.ModuleList)}
    found = [each for each, count in lists.items() if count == depth]
    if len(found) != 1:
        said = ", ".join(f"{each} of {count}" for each, count in lists.items()) or "none"
        raise ValueError(
            f"the {depth} layers of {type(body).__name__} cannot be found: it must have one list of as many parts, "
            f"and has {said}; give a model whose layers all stand in one list, as Llama's, Qwen's or GPT-2's do"
        )
    return found[0]


def upper(body: Any, count: int) -> list[nn.Module]:
    """Return the uppermost layers, and the norm behind them.

    Raises:
        ValueError: its layers cannot be found, or it has not so many.
    """
    depth = len(stack(body))
    if not 0 < count <= depth:
        raise ValueError(f"layers={count}: {type(body).__name__} has {depth} layers; give a number from 1, or None")
    order = [each for each, _ in body.named_children()]
    behind = [part for each, part in body.named_children() if order.index(each) > order.index(name(body))]
    return [*stack(body)[depth - count :], *behind]
