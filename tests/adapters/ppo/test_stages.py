"""Gates close when they should, in the iteration in which they should, and never by a slip."""

from __future__ import annotations

import json
import math

import pytest

from rolf_adapters.ppo.groups import Gate
from rolf_adapters.ppo.reading import ConfigError
from rolf_adapters.ppo.stages import Gates


def closes(gate: Gate, values: list[float]) -> int | None:
    """Return after which of the values a gate closes."""
    gates = Gates([gate])
    for iteration, value in enumerate(values):
        if gates.see(iteration, {gate.measure: value}) is not None:
            return iteration
    return None


def gate(when: str, value: float, *, patience: int = 1, after: int = 0, then: str = "stop") -> Gate:
    return Gate(measure="rollout/return", when=when, value=value, patience=patience, after=after, then=then)


@pytest.mark.parametrize(
    ("made", "values", "last"),
    [
        (gate("above", 5), [4, 5, 6], 2),
        (gate("above", 5, patience=2), [6, 4, 6, 6], 3),
        (gate("below", 5), [5, 6, 4], 2),
        (gate("below", 5, patience=3), [4, 4, 5, 4, 4, 4], 5),
        (gate("below", 5, after=3), [1, 1, 1, 1], 3),
        (gate("stalls", 0, patience=2), [1, 2, 2, 2], 3),
        (gate("stalls", 0, patience=2), [1, 2, 2, 3, 3], None),
        (gate("stalls", 1, patience=2), [1, 2, 1.5], 2),  # better, but not by more than 1
        (gate("falls", 2), [1, 5, 4, 3.5, 3], 4),
        (gate("falls", 2, patience=2), [5, 5, 1, 5, 3, 2], 2),  # means 5, 3
        (gate("falls", 2, patience=2), [5, 5, 2, 5, 5], None),  # means 5, 3.5, 3.5, 5
        (gate("falls", 2, patience=2), [5], None),
        (gate("falls", 2), [math.nan, 5, math.nan, 3], 3),
        (gate("falls", 2), [math.inf, 5, -math.inf, 3], 3),
        (gate("stalls", 0, patience=2), [math.inf, 1, 2, -math.inf, 2, 2], 5),
        (gate("above", 5, patience=2), [math.inf, 6], 1),
        (gate("below", 5, patience=2), [4, math.nan, 4], 2),  # what was not measured breaks no row
    ],
)
def test_closes_at_the_right_measurement(made: Gate, values: list[float], last: int | None) -> None:
    """Worked out by hand."""
    assert closes(made, values) == last


def test_the_first_gate_that_closes_is_acted_upon_and_all_of_them_see() -> None:
    """Each remembers what it saw, whatever another said."""
    gates = Gates([gate("below", 5), gate("below", 3, patience=2, then="fail")])
    assert gates.see(0, {"rollout/return": 2.0}).then == "stop"
    assert gates.see(1, {"rollout/return": 2.0}).then == "stop"
    assert gates.state()[1]["streak"] == 2


def test_says_why() -> None:
    """The reason goes to the terminal and into the metrics."""
    verdict = Gates([gate("below", 5, then="roll back")]).see(0, {"rollout/return": 2.0})
    assert (verdict.then, verdict.reason) == ("roll back", "rollout/return is 2: below 5")


def test_is_not_calm_once_a_gate_has_begun_to_close() -> None:
    """A checkpoint of such a moment is none to go back to."""
    gates = Gates([gate("below", 5, patience=3, then="roll back")])
    for value, calm in ((6, True), (4, False), (4, False), (6, True)):
        gates.see(0, {"rollout/return": value})
        assert gates.calm is calm
    falling = Gates([gate("falls", 4, patience=1, then="roll back")])
    for value, calm in ((10, True), (9, True), (8, False), (10, True)):
        falling.see(0, {"rollout/return": value})
        assert falling.calm is calm
    stalling = Gates([gate("stalls", 1, patience=3, then="roll back")])
    for value, calm in ((4, True), (4, False), (5, False), (6, True)):
        stalling.see(0, {"rollout/return": value})
        assert stalling.calm is calm


@pytest.mark.parametrize("when", ["below", "stalls"])
def test_is_calm_while_it_is_about_to_be_done(when: str) -> None:
    """A training that is done is in order, whether it has come far enough or comes no further."""
    ending = Gates([gate(when, 5, patience=3)])
    for _ in range(2):
        ending.see(0, {"rollout/return": 4})
        assert ending.calm


@pytest.mark.parametrize("when", ["above", "below", "falls", "stalls"])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_it_remembers_is_json_whatever_was_measured(when: str, value: float) -> None:
    """It is written into the next checkpoint."""
    gates = Gates([gate(when, 1, patience=3)])
    gates.see(0, {"rollout/return": value})
    assert json.loads(json.dumps(gates.state(), allow_nan=False)) == gates.state()


@pytest.mark.parametrize("when", ["above", "below", "falls", "stalls"])
def test_goes_on_from_its_state_as_if_nothing_had_been(when: str) -> None:
    """Resuming at any moment changes no verdict."""
    made = gate(when, 1, patience=3)
    values = [3, 2, 0, 4, 1, 1, 0, 0, 0, 5, 5, 5, 5, 0, 0, 0]
    whole = Gates([made])
    expected = [whole.see(at, {"rollout/return": float(value)}) for at, value in enumerate(values)]
    assert any(expected)
    gates, found = Gates([made]), []
    for at, value in enumerate(values):
        state = json.loads(json.dumps(gates.state()))
        gates = Gates([made])
        gates.load(state)
        found.append(gates.see(at, {"rollout/return": float(value)}))
    assert found == expected


def test_a_gate_that_nothing_measures_is_an_error() -> None:
    """With a slip in its name it would never close."""
    gates = Gates([Gate(measure="evaluation/sucess", when="above", value=1, then="stop")])
    gates.check(None)
    with pytest.raises(ConfigError, match="nothing measures 'evaluation/sucess'; did you mean 'evaluation/success'"):
        gates.check(["rollout/return", "evaluation/success"])
    with pytest.raises(ConfigError, match="nothing measures 'rollout/return'"):
        Gates([gate("above", 1)]).check(["value/loss", "rollout/family/*"])


@pytest.mark.parametrize("name", ["family/remove", "rollout/family/remove", "value/loss", "time/iteration"])
def test_a_gate_may_look_at_whatever_is_measured(name: str) -> None:
    """Names, groups whose names are not known beforehand, and what the loop measures itself."""
    Gates([Gate(measure=name, when="above", value=1, then="stop")]).check(
        ["family/*", "rollout/family/*", "value/loss"]
    )


def test_the_state_of_other_gates_is_refused() -> None:
    """It would be read as something else."""
    with pytest.raises(ValueError, match="of 1 gates, and there are 2"):
        Gates([gate("above", 1), gate("above", 2)]).load(Gates([gate("above", 1)]).state())
