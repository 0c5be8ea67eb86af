"""What a family cost of a score: sums and zeros exact, figures as attribution and baselines have them."""

from __future__ import annotations

from math import fsum, isclose

import numpy as np
import pytest

from linegym import catalogue
from linegym.attribution import COALITIONS, explain
from linegym.evaluation import entry, line, measure
from linegym.policies import policy
from linegym.scores import score
from linegym.variants import FAMILIES, variant

ONE = entry(variant("serial/thermocouple/profinet/bearing+sensor:4"))
TWO = entry(variant("parallel/current/opcua/tool-wear+sensor:3+load:4"))
THREE = entry(variant("serial/pressure/ethercat/leak+sensor:3+network:3+load:3"))
CLEAN = entry(variant("serial/current/profinet/jam"))


def test_costs_add_up_to_what_the_score_lost() -> None:
    """What is left without any family, less what was reached: nothing is left over, and nothing counted twice."""
    rows = [ONE, TWO, THREE, CLEAN]
    seeds = [each.attempt_seed(0) for each in rows]
    costs = list(catalogue.attributed(policy("cusum"), rows, seeds))
    without = [entry(line(played).without(*FAMILIES)) for played in rows]
    runs = catalogue.play(policy("cusum"), rows + without, seeds * 2)
    scores = [measure(played, run.ending).score for played, run in zip(rows + without, runs, strict=True)]
    for place, cost in enumerate(costs):
        lost = scores[place + len(rows)] - scores[place]
        assert isclose(fsum(cost.values()), lost, abs_tol=1e-12)
        assert set(cost) == set(FAMILIES)


def test_what_was_not_there_cost_nothing_to_the_last_bit() -> None:
    """And nothing is what a line costs that no family disturbs."""
    one, clean = catalogue.attributed(policy("threshold"), [ONE, CLEAN], [3, 3])
    assert one["sensor"] != 0.0
    assert (one["network"], one["load"]) == (0.0, 0.0)
    assert clean == dict.fromkeys(FAMILIES, 0.0)


def test_shares_are_those_of_the_eight_runs() -> None:
    """Worked by hand from the returns that ``linegym.attribution`` plays, by the definition over orders of families."""
    (cost,) = catalogue.attributed(policy("cusum"), [THREE], [11])
    returns = explain("cusum", line(THREE), seed=11).values["returns"][0]
    runs = {
        group: score(line(THREE).without(*(set(FAMILIES) - group)), float(total))
        for group, total in zip(COALITIONS, returns, strict=True)
    }
    for family in FAMILIES:
        others = sorted(set(FAMILIES) - {family})
        first = runs[frozenset({family})] - runs[frozenset()]
        last = runs[frozenset(FAMILIES)] - runs[frozenset(others)]
        between = [runs[frozenset({other, family})] - runs[frozenset({other})] for other in others]
        assert cost[family] == pytest.approx(-(first / 3 + last / 3 + sum(between) / 6), abs=1e-9)


def test_who_knows_the_faults_loses_nothing_to_a_sensor() -> None:
    """Scores are taken against who knows everything, so that what a family takes from everybody is no failure."""
    rows = [entry(variant(f"{name}/thermocouple/profinet/bearing+sensor:5")) for name in ("serial", "parallel")] * 4
    seeds = list(range(len(rows)))
    costs = {name: list(catalogue.attributed(policy(name), rows, seeds)) for name in ("threshold", "oracle")}
    means = {name: np.mean([each["sensor"] for each in found]) for name, found in costs.items()}
    assert abs(means["oracle"]) < 0.05
    assert means["threshold"] > 0.2
