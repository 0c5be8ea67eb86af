"""Stages: the gates between the stages of a training: when it is done, and when it has to go back or to give up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from rolf_adapters.ppo.groups import Gate
from rolf_adapters.ppo.reading import ConfigError


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

    def see(self, iteration: int, values: Mapping[str, float]) -> Verdict | None:
        """Look at what an iteration measured, and return what is to be done.

        Returns:
            What the first gate says whose condition holds; None: the training goes on.
        """
        verdict = None
        for gate, watch in zip(self._gates, self._watches, strict=True):
            value = values.get(gate.measure, math.nan)
            if iteration < gate.after or math.isnan(value):
                continue
            if _holds(gate, watch, value) and verdict is None:
                verdict = Verdict(gate.then, f"{gate.measure} is {value:.6g}: {_condition(gate)}")
        return verdict

    @property
    def calm(self) -> bool:
        """Whether nothing speaks for going back or giving up: what a good checkpoint is."""
        pairs = zip(self._gates, self._watches, strict=True)
        return all(gate.then == "stop" or not _uneasy(gate, watch) for gate, watch in pairs)

    def check(self, measured: Mapping[str, float], *, evaluated: bool) -> None:
        """See that what the gates look at is measured at all: a gate with a slip in its name would never close.

        Args:
            measured: What an iteration measured.
            evaluated: Whether it was evaluated.

        Raises:
            ConfigError: one is not; suggests the nearest name.
        """
        for gate in self._gates:
            group = gate.measure.partition("/")[0]
            due = evaluated if group == "evaluation" else group != "family"  # not all families come in an iteration
            if due and gate.measure not in measured:
                near = get_close_matches(gate.measure, measured, n=1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                raise ConfigError(
                    f"stages.gates: nothing measures {gate.measure!r}; {hint}measured: {', '.join(sorted(measured))}"
                )

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
        return watch.streak > 0 and gate.when != "stalls"
    latest = watch.recent[-1] if watch.recent else math.inf
    return watch.best is not None and latest <= watch.best - gate.value / 2


def _condition(gate: Gate) -> str:
    times = f" {gate.patience} times in a row" if gate.patience > 1 else ""
    if gate.when == "falls":
        return f"fallen by {gate.value:g} or more below its best"
    if gate.when == "stalls":
        return f"not better by more than {gate.value:g}{times}"
    return f"{gate.when} {gate.value:g}{times}"
