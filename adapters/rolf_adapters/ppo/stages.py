"""Stages: the gates between the stages of a training: when it is done, and when it has to go back or to give up."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from rolf_adapters.ppo import metrics
from rolf_adapters.ppo.groups import Gate
from rolf_adapters.ppo.reading import ConfigError

ENOUGH = 2
"""Iterations after which it is said that a gate's measure has not come: the first one may have been a warm start."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A gate whose condition holds."""

    then: str
    """``stop``, ``roll back`` or ``fail``."""
    reason: str


@dataclass(slots=True)
class _Watch:
    """What a gate remembers."""

    best: float | None = None
    """Of the measure, or of its mean."""
    streak: int = 0
    """How many measurements in a row spoke for it."""
    recent: list[float] = field(default_factory=list)
    """The latest measurements, for a mean."""


class Gates:
    """All gates of a training. What they say is a function of what was measured.

    Args:
        gates: In the order in which they are asked.
    """

    def __init__(self, gates: Sequence[Gate]) -> None:
        self._gates = tuple(gates)
        self._watches = [_Watch() for _ in gates]
        self._seen: set[str] = set()
        self._looks = 0
        self._doubted: set[str] = set()

    def see(self, iteration: int, values: Mapping[str, float]) -> Verdict | None:
        """Look at what an iteration measured, and return what is to be done.

        Returns:
            What the first gate says whose condition holds; None: the training goes on.
        """
        self._seen.update(values)
        self._looks += 1
        verdict = None
        for gate, watch in zip(self._gates, self._watches, strict=True):
            value = values.get(gate.measure, math.nan)
            if iteration < gate.after or not _measured(gate, value):
                continue
            if _holds(gate, watch, value) and verdict is None:
                verdict = Verdict(gate.then, f"{gate.measure} is {value:.6g}: {_condition(gate)}")
        return verdict

    @property
    def calm(self) -> bool:
        """Whether nothing speaks for going back or giving up: what a good checkpoint is."""
        pairs = zip(self._gates, self._watches, strict=True)
        return all(gate.then == "stop" or not _uneasy(gate, watch) for gate, watch in pairs)

    def check(self, measures: Collection[str] | None) -> None:
        """See that what the gates look at can be measured at all: a gate with a slip in its name would never close.

        Args:
            measures: All that the learner may measure, sooner or later; None: it does not say.

        Raises:
            ConfigError: one cannot; suggests the nearest name.
        """
        known = None if measures is None else {*measures, *metrics.OF_THE_LOOP}
        for gate in self._gates:
            try:
                metrics.check({gate.measure: 0.0})
            except ValueError as error:
                raise ConfigError(f"stages.gates: {error}") from error
            groups = tuple(name.removesuffix("*") for name in known or () if name.endswith("/*"))
            if known is not None and gate.measure not in known and not gate.measure.startswith(groups):
                raise ConfigError(_unmeasured(gate.measure, sorted(known)))

    def doubts(self, *, evaluated: bool) -> list[str]:
        """Return what is to be said of gates whose measure has not come in this run; of each once.

        Args:
            evaluated: Whether the latest iteration was evaluated.
        """
        found = []
        for name in dict.fromkeys(gate.measure for gate in self._gates):
            due = evaluated if name.startswith("evaluation/") else self._looks >= ENOUGH
            if due and name not in self._seen | self._doubted:
                self._doubted.add(name)
                found.append(_unmeasured(name, sorted(self._seen), so_far=" so far, and its gate stays open"))
        return found

    def state(self) -> list[dict[str, Any]]:
        """Return what they remember, as plain JSON."""
        return [{"best": each.best, "streak": each.streak, "recent": list(each.recent)} for each in self._watches]

    def load(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Remember what `state` returned.

        Raises:
            ValueError: it is of other gates.
        """
        if len(state) != len(self._gates):
            raise ValueError(f"the state is of {len(state)} gates, and there are {len(self._gates)}")
        self._watches = [_Watch(each["best"], each["streak"], list(each["recent"])) for each in state]


def _measured(gate: Gate, value: float) -> bool:
    """Return whether a measurement counts.

    What is no number never does. Infinity is above or below anything; a best that is infinite, or a mean, says nothing
    more, and is no JSON.
    """
    return math.isfinite(value) or (gate.when in ("above", "below") and not math.isnan(value))


def _holds(gate: Gate, watch: _Watch, value: float) -> bool:
    """Return whether a gate's condition holds, now that this was measured."""
    if gate.when == "falls":
        watch.recent = [*watch.recent, value][-gate.patience :]
        if len(watch.recent) < gate.patience:
            return False
        mean = math.fsum(watch.recent) / gate.patience
        watch.best = mean if watch.best is None else max(watch.best, mean)
        return mean <= watch.best - gate.value and gate.value > 0
    if gate.when == "stalls":
        better = watch.best is None or value > watch.best + gate.value
        watch.best = value if better else watch.best
        watch.streak = 0 if better else watch.streak + 1
    else:
        wrong = value > gate.value if gate.when == "above" else value < gate.value
        watch.streak = watch.streak + 1 if wrong else 0
    return watch.streak >= gate.patience


def _uneasy(gate: Gate, watch: _Watch) -> bool:
    """Return whether a gate has begun to close."""
    if gate.when != "falls":
        return watch.streak > 0
    latest = watch.recent[-1] if watch.recent else math.inf
    return watch.best is not None and latest <= watch.best - gate.value / 2


def _unmeasured(name: str, known: Sequence[str], *, so_far: str = "") -> str:
    """Return, for people, that nothing measures what a gate looks at."""
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"stages.gates: nothing measures {name!r}{so_far}; {hint}measured: {', '.join(known)}"


def _condition(gate: Gate) -> str:
    times = f" {gate.patience} times in a row" if gate.patience > 1 else ""
    if gate.when == "falls":
        return f"fallen by {gate.value:g} or more below its best"
    if gate.when == "stalls":
        return f"not better by more than {gate.value:g}{times}"
    return f"{gate.when} {gate.value:g}{times}"
