"""Disturbance Orchestrator: chooses what is trained on next, so that the policy meets what it is least certain of.

Variants, or groups of them, are the arms of a bandit, and an episode's reward to it is the policy's entropy there. The
policy changes and so do its doubts: what was seen counts a little less each iteration (Garivier and Moulines, "On
upper-confidence bound policies for switching bandit problems", 2011; for ``thompson``, a normal with the discounted
counts).

It knows the variants that it was given and refuses any other, so nothing held out can enter a training through it. What
it chooses is a function of its seed, the iteration and what it was told before.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rolf.variant import Split
from rolf_adapters.ppo import seeds

Rule = Literal["ucb", "thompson", "uniform"]
"""How arms are chosen; ``uniform`` is what the others are compared with."""
Numbers = NDArray[np.float64]
ROUNDING = 1e-9
"""Share of the largest entropy by which scores must differ to count as different."""


class Orchestrator:
    """A bandit over the variants of a training.

    Args:
        support: Ids of the variants that may be trained on.
        seed: The run's.
        groups: Group of each variant, whose members are one arm: what is learned of one holds for all, which matters
            where there are more variants than episodes. None: each variant is an arm.
        rule: How arms are chosen.
        discount: What an episode counts an iteration later; 1: the policy's doubts are taken to stay.
        width: How much what is little known is preferred; 0: not at all.

    Raises:
        ValueError: there are no variants or one is there twice, a variant has no group, or a number is out of range.
    """

    def __init__(
        self,
        support: Sequence[str],
        seed: int,
        *,
        groups: Mapping[str, str] | None = None,
        rule: Rule = "ucb",
        discount: float = 0.99,
        width: float = 1.0,
    ) -> None:
        _check(support, groups, rule, discount, width)
        self._seed, self._rule, self._discount, self._width = seed, rule, discount, width
        group_of = {variant: variant if groups is None else groups[variant] for variant in support}
        self.arms = tuple(dict.fromkeys(group_of.values()))
        """Names of the arms: of groups, or of variants."""
        places = {arm: place for place, arm in enumerate(self.arms)}
        self._arm_of = {variant: places[group] for variant, group in group_of.items()}
        members: list[list[str]] = [[] for _ in self.arms]
        for variant, place in self._arm_of.items():
            members[place].append(variant)
        self._members = tuple(map(tuple, members))
        self._counts, self._sums = np.zeros(len(self.arms)), np.zeros(len(self.arms))
        self._squares = 0.0
        self._most = 0.0
        self.decisions: list[dict[str, Any]] = []
        """What the latest `choose` decided and why, as plain JSON: ``variant``, ``arm``, ``score`` (null: never tried,
        or uniform), ``mean`` entropy [nats] and discounted ``count`` of the arm."""

    def record(self, most: int) -> dict[str, Any]:
        """Return the latest decisions for a log, as plain JSON, arm by arm in the order in which these were chosen.

        Args:
            most: Decisions that are told at most; what follows them is only counted, in ``left_out``.

        Returns:
            ``rule``, ``arms`` and ``left_out``; of each arm what `decisions` says of it as it was first chosen, and
            its ``variants`` in the order in which they were chosen.
        """
        arms: dict[str, dict[str, Any]] = {}
        for each in self.decisions[:most]:
            told = {name: each[name] for name in ("arm", "count", "mean", "score")}
            arms.setdefault(each["arm"], told | {"variants": []})["variants"].append(each["variant"])
        return {"rule": self._rule, "arms": [*arms.values()], "left_out": max(len(self.decisions) - most, 0)}

    @property
    def support(self) -> tuple[str, ...]:
        """The variants that may be chosen."""
        return tuple(self._arm_of)

    def choose(self, count: int, iteration: int) -> list[str]:
        """Return the variants of the next episodes; changes nothing but `decisions`.

        Within one call an arm that was chosen counts as tried, with its own mean: so many episodes at once are spread.

        Args:
            count: How many.
            iteration: Its number, from 0.
        """
        drawing = seeds.generator(self._seed, "orchestrator", iteration)
        ties = drawing.permutation(len(self.arms))
        counts = self._counts.copy()
        self.decisions = []
        for _ in range(count):
            scores = self._scores(counts, drawing)
            arm = self._best(scores, counts, ties)
            variant = self._members[arm][int(drawing.integers(len(self._members[arm])))]
            self._decided(variant, arm, float(scores[arm]), iteration)
            counts[arm] += 1.0
        return [decision["variant"] for decision in self.decisions]

    def learn(self, iteration: int, episodes: Iterable[tuple[str, float]]) -> None:
        """Take in how uncertain the policy was in the episodes of an iteration; call it once an iteration.

        Args:
            iteration: Its number; only for the error.
            episodes: Variant and mean entropy of each [nats], in an order that is the same in every run.

        Raises:
            ValueError: a variant is not in the support, or an entropy is not finite; nothing was changed then.
        """
        told = [(self._place(variant), _finite(variant, entropy, iteration)) for variant, entropy in episodes]
        for array in (self._counts, self._sums):
            array *= self._discount
        self._squares *= self._discount
        self._most *= self._discount
        for arm, entropy in told:
            self._counts[arm] += 1.0
            self._sums[arm] += entropy
            self._squares += entropy * entropy
            self._most = max(self._most, abs(entropy))

    def state(self) -> dict[str, Any]:
        """Return what later choices depend on, as plain JSON."""
        return {
            "rule": self._rule,
            "support": self._digest(),
            "counts": self._counts.tolist(),
            "sums": self._sums.tolist(),
            "squares": self._squares,
            "most": self._most,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Become what `state` described.

        Raises:
            ValueError: it is of another rule or of other variants; nothing was changed.
        """
        if state.get("rule") != self._rule:
            raise ValueError(f"the state is of rule {state.get('rule')!r}, not {self._rule!r}")
        if state.get("support") != self._digest():
            raise ValueError("the state is of other variants or groups; give those that it was made with")
        self._counts, self._sums = np.array(state["counts"], float), np.array(state["sums"], float)
        self._squares, self._most = float(state["squares"]), float(state["most"])

    # ---- how arms are scored

    def _scores(self, counts: Numbers, drawing: np.random.Generator) -> Numbers:
        """Return a score of each arm, of which the highest is chosen, when they have been tried so often."""
        if self._rule == "uniform":
            # Who comes first in a race of exponentials: each variant is as likely as any other, whatever its group.
            sizes = np.array([len(members) for members in self._members], float)
            raced: Numbers = -drawing.standard_exponential(len(self.arms)) / sizes
            return raced
        means = self._sums / np.maximum(self._counts, 1e-12)
        if self._rule == "ucb":
            margin = self._width * self._most * np.sqrt(math.log1p(counts.sum()) / np.maximum(counts, 1e-12))
            return np.where(counts > 0, means + margin, np.inf)
        # One more episode, as good as the best seen, is what is believed of an arm before any is seen.
        believed: Numbers = (self._sums + self._most) / (self._counts + 1.0)
        doubts: Numbers = drawing.standard_normal(len(self.arms)) * self._spread() / np.sqrt(counts + 1.0)
        return believed + self._width * doubts

    def _best(self, scores: Numbers, counts: Numbers, ties: NDArray[np.int64]) -> int:
        """Return the arm of the highest score; of equal ones, but for rounding, that which was tried least.

        Where the policy is as uncertain of all arms, or certain of all, no margin tells them apart, and a whole call
        would go to one of them. Of those that were tried as often, as all are at first, a drawn order decides.
        """
        if self._rule == "uniform":
            return int(np.argmax(scores))
        near = scores >= scores.max() - ROUNDING * self._most
        return int(ties[np.argmin(np.where(near, counts, np.inf)[ties])])

    def _spread(self) -> float:
        """Return the deviation of all episodes' entropy; before any, 1."""
        count = float(self._counts.sum())
        if count == 0.0:
            return 1.0
        mean = float(self._sums.sum()) / count
        return math.sqrt(max(self._squares / count - mean * mean, 0.0))

    def _decided(self, variant: str, arm: int, score: float, iteration: int) -> None:
        tried = float(self._counts[arm])
        self.decisions.append(
            {
                "iteration": iteration,
                "variant": variant,
                "arm": self.arms[arm],
                "score": score if math.isfinite(score) and self._rule != "uniform" else None,
                "mean": float(self._sums[arm]) / tried if tried else None,
                "count": tried,
            }
        )

    def _place(self, variant: str) -> int:
        if variant not in self._arm_of:
            near = get_close_matches(variant, self._arm_of, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"variant {variant!r} is not one of the {len(self._arm_of)} to train on{hint}")
        return self._arm_of[variant]

    def _digest(self) -> str:
        told = [(variant, self.arms[arm]) for variant, arm in self._arm_of.items()]
        return hashlib.sha256(repr(told).encode()).hexdigest()


def families(split: Split) -> dict[str, str]:
    """Return a group for each variant of a split: its family, and its level where there is one."""
    pairs = zip(split.variants, split.labels, strict=True)
    return {
        variant.name: labels.family if labels.level is None else f"{labels.family}:{labels.level}"
        for variant, labels in pairs
    }


def _finite(variant: str, entropy: float, iteration: int) -> float:
    if not math.isfinite(entropy):
        raise ValueError(f"iteration {iteration}: the entropy {entropy!r} of an episode of {variant!r} is not finite")
    return float(entropy)


def _check(support: Sequence[str], groups: Mapping[str, str] | None, rule: str, discount: float, width: float) -> None:
    if not support or len(set(support)) != len(support):
        raise ValueError(f"support has {len(support)} variants, {len(set(support))} of them different; give each once")
    if groups is not None and (missing := [variant for variant in support if variant not in groups]):
        raise ValueError(f"{len(missing)} variants have no group, {missing[0]!r} first; give every variant one")
    if rule not in get_args(Rule):
        raise ValueError(f"rule={rule!r} is not known; allowed are {', '.join(map(repr, get_args(Rule)))}")
    if not 0.0 < discount <= 1.0:
        raise ValueError(f"discount={discount!r} must be above 0 and at most 1")
    if not width >= 0.0:
        raise ValueError(f"width={width!r} must be 0 or more")
