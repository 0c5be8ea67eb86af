"""Contest: a split as it is installed here, with what makes numbers of endings and the policies that come with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rolf.evaluation.episode import Ending, Measured
from rolf.evaluation.policy import PolicyEntry
from rolf.variant import Split, Variant, shortened


@dataclass(frozen=True, slots=True)
class Contest:
    """What submissions to one split are held against."""

    split: Split
    measure: Callable[[Variant, Ending], Measured]
    policies: Mapping[str, PolicyEntry] = field(default_factory=dict)
    """Those that come with the environment."""
    bounds: tuple[float, float] | None = None
    """Least and greatest score that there can be; None: nobody knows."""


Find = Callable[[str], Contest]
"""Finds a split by its name; LookupError or ValueError says why not."""


class Contests:
    """The splits that submissions may be made to.

    Args:
        own: Splits of one's own, beside those that installed environments offer.
    """

    def __init__(self, own: Sequence[Split] = ()) -> None:
        self._own = {split.name: split for split in own}
        self._found: dict[str, Contest] = {}

    def __call__(self, name: str) -> Contest:
        """Return the split of that name; a stranger's name is never taken for that of a file.

        Raises:
            LookupError: there is none.
            ValueError: it is no name.
        """
        if name not in self._found:
            self._found[name] = _contest(self._split(name))
        return self._found[name]

    def _split(self, name: str) -> Split:
        from rolf.splitting import find_split

        whole, count = shortened(name)
        if whole in self._own:
            return self._own[whole] if count is None else self._own[whole].first(count)
        if whole.endswith(".json"):
            raise LookupError("no split is named like a file; give a file of your own by --split-file")
        return find_split(name)


def _contest(split: Split) -> Contest:
    from rolf.evaluation.origin import bounds, measure, origin

    policies: dict[str, PolicyEntry] = {}
    for env_id in sorted({variant.env_id for variant in split.variants}):
        found = origin(env_id)
        policies |= found.policies() if found is not None else {}
    return Contest(split, measure, policies, bounds(split.variants))
