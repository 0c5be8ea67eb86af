"""Attribution says what each family did: exact where it can be, checked by hand where it is small."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linegym import attribution
from linegym.attribution import COALITIONS, Attribution, dividend, explain, shapley
from linegym.errors import ArgumentError
from linegym.play import play
from linegym.policies import policy
from linegym.variants import FAMILIES, variant

ONE = variant("serial/thermocouple/profinet/bearing+sensor:4")
TWO = variant("parallel/current/opcua/tool-wear+sensor:3+load:4")


def test_a_family_that_is_off_did_nothing_to_the_last_bit() -> None:
    """Its four counterfactuals are the episode itself; no rounding may make an effect of that."""
    found = explain("threshold", ONE, seed=range(3))
    for runs in found.values.values():
        for place, group in enumerate(COALITIONS):
            assert np.array_equal(runs[:, place], runs[:, COALITIONS.index(group & {"sensor"})])
    returns = found.of("returns")
    assert returns.families["network"] == (0.0, 0.0)
    assert returns.families["load"] == (0.0, 0.0)
    assert all(effect.mean == 0 for effect in returns.interactions.values())
    assert returns.main() == "sensor"


def test_the_run_with_every_family_is_the_episode_itself() -> None:
    """What is explained must be what happened."""
    found = explain("cusum", TWO, seed=[2, 3], episode=1)
    assert np.array_equal(found.values["returns"][:, -1], play(policy("cusum"), [TWO] * 2, [2, 3], episode=1).returns)


def test_shares_add_up_to_the_difference() -> None:
    """Nothing of the loss is left over, and nothing is counted twice."""
    found = explain("cusum", TWO, seed=range(2))
    for measure in attribution.MEASURES:
        said = found.of(measure)
        total = sum(said.families[family].mean for family in FAMILIES)
        assert math.isclose(total, said.reached.mean - said.without.mean, abs_tol=1e-9)


def test_shares_and_interactions_of_a_worked_example() -> None:
    """Sensor alone costs 6, network 2, load nothing; sensor and load together 4 more.

    By hand: sensor 6 + 4/2, network 2, load 4/2.
    """
    cost = {"sensor": 6.0, "network": 2.0, "load": 0.0}
    runs = np.array(
        [[10.0 - sum(cost[name] for name in group) - 4.0 * ({"sensor", "load"} <= group) for group in COALITIONS]]
    )
    assert shapley(runs, "sensor") == pytest.approx([-8.0])
    assert shapley(runs, "network") == pytest.approx([-2.0])
    assert shapley(runs, "load") == pytest.approx([-2.0])
    assert dividend(runs, frozenset({"sensor", "load"})).tolist() == [-4.0]
    assert dividend(runs, frozenset({"sensor", "network"})).tolist() == [0.0]
    assert dividend(runs, frozenset(FAMILIES)).tolist() == [0.0]


def test_a_thing_that_only_three_do_together_is_shared_by_three() -> None:
    """Nobody alone, no two: each family gets a third, and the interaction of all three has the whole."""
    runs = np.array([[1.0 if len(group) == 3 else 0.0 for group in COALITIONS]])
    assert [shapley(runs, family)[0] for family in FAMILIES] == pytest.approx([1 / 3] * 3)
    assert dividend(runs, frozenset(FAMILIES)).tolist() == [1.0]


def test_several_seeds_say_how_certain_it_is() -> None:
    """Mean and standard error by hand: 1, 2, 3 have mean 2 and error 1/sqrt(3)."""
    runs = np.zeros((3, 8))
    runs[:, [COALITIONS.index(group) for group in COALITIONS if "load" in group]] = [[1.0], [2.0], [3.0]]
    found = Attribution("nobody", TWO, (0, 1, 2), {"returns": runs}).of("returns").families
    assert found["load"].mean == pytest.approx(2.0)
    assert found["load"].error == pytest.approx(1 / math.sqrt(3))
    assert found["load"].certain
    assert not found["sensor"].certain


def test_the_report_names_the_culprit() -> None:
    """A person reads it: every measure, every family, what did most harm."""
    text = str(explain("threshold", ONE, seed=1))
    assert text.startswith("threshold on serial/thermocouple/profinet/bearing+sensor:4, one seed")
    assert "returns:" in text
    assert "repaired:" in text
    assert "most harm: sensor" in text


def test_bad_input_is_refused() -> None:
    """Before anything is played."""
    with pytest.raises(ArgumentError, match="no policy is named 'nobody'"):
        explain("nobody", ONE)
    with pytest.raises(ArgumentError, match="seed is empty"):
        explain("no-op", ONE, seed=())
    with pytest.raises(ArgumentError, match="measure 'speed' is not known"):
        Attribution("nobody", ONE, (0,), {"returns": np.zeros((1, 8))}).of("speed")
