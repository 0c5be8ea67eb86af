"""Solo: a policy for many lines, alone before one environment, as ``rolf.evaluation.policy.Policy``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linegym.contest import lineup, truth_for
from linegym.policies.policy import Policy
from linegym.templates import template
from linegym.variants import Variant
from rolf.evaluation.policy import Start


class Solo:
    """Plays one environment after the other with a policy; does what it would do in a batch.

    A function without arguments that returns one is what ``rolf eval --policy module:function`` takes:

    >>> from linegym.policies import policy
    >>> from linegym.solo import Solo
    >>> def expert():
    ...     return Solo(policy("cusum"))

    Raises:
        ArgumentError: the policy wants to know the faults and does not say that it is ``privileged``.
    """

    def __init__(self, inner: Policy) -> None:
        self.inner = inner
        self.name = inner.name
        self.privileged = truth_for(inner)

    def begin(self, start: Start) -> None:
        """Get ready for an episode: of the line, what anybody knows who sees the plant."""
        plant = Variant(template(start.info["template_id"]))
        self.inner.begin(lineup([plant], [start.seed]))

    def act(self, observation: NDArray[np.float32], info: Mapping[str, Any]) -> int:
        """Return a flat action."""
        infos = {"true_faults": info["true_faults"][None]} if self.privileged else {}
        return int(self.inner.act(observation[None], info["action_mask"][None] == 1, infos)[0])
