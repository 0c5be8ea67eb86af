"""Support: what a training may meet. What is held out stays so, for whoever has trained on it measures nothing."""

from __future__ import annotations

from rolf.evaluation.origin import origins
from rolf.variant import shortened


def check_support(split: str, *, held_out: bool) -> None:
    """See that a split is there to be trained on.

    Args:
        split: Its name, of all of it or of its first variants. Of one that no installed environment has, nobody knows.
        held_out: Whether it may be any.

    Raises:
        ValueError: it is there for something else; says for what, and which ones are for training.
    """
    name, _ = shortened(split)
    for module in origins().values():
        entries = {entry.name: entry for entry in module.splits()}
        if name not in entries or entries[name].training is not False or held_out:
            continue
        allowed = [each for each, entry in entries.items() if entry.training]
        raise ValueError(
            f"environment.split is {split!r}, which is not there to be trained on: {entries[name].summary}; give "
            f"{' or '.join(map(repr, allowed)) or 'another split'}, or say environment.held_out: true, after which no "
            "score on it is worth anything"
        )
