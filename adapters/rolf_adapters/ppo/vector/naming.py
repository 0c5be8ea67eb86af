"""Naming: what a configuration names as ``module:object``."""

from __future__ import annotations

from typing import Any

from rolf.evaluation.errors import NoPolicyError
from rolf.evaluation.loading import Spec, load


def object_of(key: str, text: str) -> Any:
    """Return what ``module:object`` makes, or is where nothing can make it.

    Args:
        key: Of the configuration: ``environment.score``.
        text: What it says.

    Raises:
        ValueError: there is no such thing, or it cannot be made without arguments.
        PolicyError: what is there raised an error, whose traceback is its author's to see.
    """
    try:
        return load(Spec(text, text))
    except NoPolicyError as error:
        # The evaluation's words, which know of policies alone.
        said = str(error).removeprefix(f"policy {text!r}").replace("such as my_agent:Agent", "such as my_module:made")
        said = said.replace("give --policy-arg NAME=VALUE", "name what can be made without")
        raise ValueError(f"{key} {text!r}{said}") from error
