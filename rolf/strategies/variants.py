"""Variants: problems of a split, by the split's name."""

from __future__ import annotations

from hypothesis import strategies as st

from rolf.splitting import find_split
from rolf.variant import Split, Variant


def variants(split: str | Split) -> st.SearchStrategy[Variant]:
    """Return variants of a split.

    It shrinks to the split's first.

    Args:
        split: A name that ``rolf split list`` tells, such as ``"line-v1/iid"``; ``"line-v1/iid[:20]"`` are its first
            20. Or the path of a split file, or a split of your own.

    Raises:
        LookupError: no installed environment has it; the message suggests the nearest.
        ValueError: a file holds no split.

    Example::

        @given(variants("line-v1/validation"))
        def test_every_problem_can_be_made(variant):
            with contextlib.closing(variant.make()) as env:
                env.reset(seed=variant.attempt_seed(0))
    """
    found = split if isinstance(split, Split) else find_split(split)
    return st.sampled_from(found.variants)
