"""The orchestrator seeks what the policy is uncertain of, within its support, and does the same whenever asked."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from rolf.splitting import find_split
from rolf_adapters.ppo.orchestrator import Orchestrator, families

ARMS = [f"v{number}" for number in range(10)]
ENTROPY = {arm: 0.1 * (number + 1) for number, arm in enumerate(ARMS)}
RULES = pytest.mark.parametrize("rule", ["ucb", "thompson"])


def played(orchestrator: Orchestrator, entropy: dict[str, float], iterations: range, rows: int = 8) -> list[str]:
    """Return what is chosen, iteration by iteration, where each variant's entropy is as given."""
    chosen = []
    for iteration in iterations:
        variants = orchestrator.choose(rows, iteration)
        orchestrator.learn(iteration, [(variant, entropy[variant]) for variant in variants])
        chosen += variants
    return chosen


def mean(chosen: list[str], entropy: dict[str, float]) -> float:
    return sum(entropy[each] for each in chosen) / len(chosen)


@RULES
def test_it_seeks_what_is_uncertain(rule: Any) -> None:
    """At an equal number of episodes it meets more entropy than choosing evenly does, and the best arm most."""
    evenly = played(Orchestrator(ARMS, 3, rule="uniform"), ENTROPY, range(60))
    chosen = played(Orchestrator(ARMS, 3, rule=rule, width=0.2), ENTROPY, range(60))
    assert mean(evenly, ENTROPY) == pytest.approx(0.55, abs=0.05)
    assert mean(chosen, ENTROPY) > 0.75
    assert Counter(chosen).most_common(1)[0][0] == "v9"
    assert set(chosen) == set(ARMS)


@RULES
def test_it_follows_when_doubts_move(rule: Any) -> None:
    """What is learned is no longer uncertain: the arm that was best becomes the worst, and another is sought."""
    orchestrator = Orchestrator(ARMS, 5, rule=rule, discount=0.8, width=0.2)
    before = played(orchestrator, ENTROPY, range(40))
    turned = {arm: 1.1 - entropy for arm, entropy in ENTROPY.items()}
    after = played(orchestrator, turned, range(40, 100))[-160:]
    assert Counter(before).most_common(1)[0][0] == "v9"
    assert mean(after, turned) > 0.75
    assert Counter(after)["v0"] > 5 * Counter(after)["v9"]


def test_every_arm_is_tried_before_any_is_tried_twice() -> None:
    assert sorted(Orchestrator(ARMS, 1).choose(10, 0)) == sorted(ARMS)


@RULES
@pytest.mark.parametrize("entropy", [0.0, 0.1])
def test_where_nothing_tells_arms_apart_each_is_tried_as_often(rule: Any, entropy: float) -> None:
    """A policy that is certain of everything, or as uncertain of everything: 40 episodes over 10 arms are 4 of each,
    and where one was met 3 times before, as many less."""
    orchestrator = Orchestrator(ARMS, 4, rule=rule, discount=1.0)
    orchestrator.learn(0, [(arm, entropy) for arm in ARMS])
    chosen = Counter(orchestrator.choose(40, 1))
    assert set(chosen.values()) == {4} if entropy == 0 or rule == "ucb" else max(chosen.values()) < 10
    orchestrator.learn(1, [("v3", entropy)] * 3)
    chosen = Counter(orchestrator.choose(37, 2))
    assert chosen["v3"] == 1 if entropy == 0 or rule == "ucb" else chosen["v3"] < 4
    assert len(chosen) >= 9


def test_ucb_by_hand() -> None:
    """After a: 1, 1, b: 2 the margins are 2 * sqrt(log 4 / 2) and 2 * sqrt(log 4 / 1): b is chosen, then, as tried once
    more, 2 * sqrt(log 5 / 2) above 2, b again."""
    orchestrator = Orchestrator(["a", "b"], 0, discount=1.0)
    orchestrator.learn(0, [("a", 1.0), ("a", 1.0), ("b", 2.0)])
    assert orchestrator.choose(2, 1) == ["b", "b"]
    first, second = orchestrator.decisions
    assert first["score"] == pytest.approx(2 + 2 * 1.3862943611**0.5)
    assert second["score"] == pytest.approx(2 + 2 * (1.6094379124 / 2) ** 0.5)
    assert (first["mean"], first["count"], first["iteration"]) == (2.0, 1.0, 1)


def test_the_record_of_decisions_is_arm_by_arm_and_bounded() -> None:
    """An arm's count, mean and score are those with which it was first chosen; json takes all of it."""
    orchestrator = Orchestrator(["a", "b", "c"], 0, discount=1.0)
    orchestrator.learn(0, [("a", 1.0), ("a", 1.0), ("b", 2.0)])
    orchestrator.choose(3, 1)
    record = orchestrator.record(10)
    assert [(arm["arm"], arm["variants"]) for arm in record["arms"]] == [("c", ["c"]), ("b", ["b", "b"])]
    assert record["arms"][0] | {"variants": []} == {"arm": "c", "count": 0, "mean": None, "score": None, "variants": []}
    assert record["arms"][1]["score"] == orchestrator.decisions[1]["score"]
    assert (record["rule"], record["left_out"]) == ("ucb", 0)
    assert json.loads(json.dumps(record)) == record
    short = orchestrator.record(2)
    assert ([arm["variants"] for arm in short["arms"]], short["left_out"]) == ([["c"], ["b"]], 1)


def test_what_was_seen_counts_less_each_iteration() -> None:
    orchestrator = Orchestrator(["a", "b"], 0, discount=0.5)
    for iteration in range(3):
        orchestrator.learn(iteration, [("a", 1.0), ("b", 4.0 * (iteration == 0))])
    state = orchestrator.state()
    assert state["counts"] == [1.75, 1.75]
    assert state["sums"] == [1.75, 1.0]


@pytest.mark.parametrize("rule", ["ucb", "thompson", "uniform"])
def test_what_is_chosen_is_a_function_of_seed_and_history(rule: Any) -> None:
    """Asked again it says the same; loaded from its state, by way of JSON, it goes the same way; with another seed
    it goes another one."""
    first, second = Orchestrator(ARMS, 7, rule=rule), Orchestrator(ARMS, 7, rule=rule)
    played(first, ENTROPY, range(5))
    assert first.choose(6, 5) == first.choose(6, 5)
    second.load(json.loads(json.dumps(first.state())))
    assert played(first, ENTROPY, range(5, 12)) == played(second, ENTROPY, range(5, 12))
    assert json.loads(json.dumps(first.decisions)) == second.decisions
    assert Orchestrator(ARMS, 8, rule=rule).choose(10, 0) != Orchestrator(ARMS, 7, rule=rule).choose(10, 0)


def test_groups_are_arms_of_which_any_member_is_played() -> None:
    """What is learned of one member holds for all."""
    groups = {variant: "dull" if variant in ARMS[:8] else "wild" for variant in ARMS}
    orchestrator = Orchestrator(ARMS, 2, groups=groups, width=0.1)
    orchestrator.learn(0, [("v0", 0.1), ("v8", 5.0)])
    assert set(orchestrator.choose(40, 1)) == {"v8", "v9"}
    assert {decision["arm"] for decision in orchestrator.decisions} == {"wild"}


def test_chance_is_even_over_variants_and_not_over_groups() -> None:
    groups = {variant: "one" if variant == "v0" else "rest" for variant in ARMS}
    drawn = Counter(Orchestrator(ARMS, 2, groups=groups, rule="uniform").choose(4000, 0))
    assert all(abs(count - 400) < 80 for count in drawn.values())
    assert len(drawn) == 10


def test_families_of_a_real_split_are_groups() -> None:
    """15 of the line: three families of disturbance at five levels."""
    split = find_split("line-v1/train[:400]")
    groups = families(split)
    orchestrator = Orchestrator(list(groups), 0, groups=groups)
    assert len(orchestrator.support) == 400
    assert 1 < len(orchestrator.arms) <= 15
    assert set(orchestrator.choose(30, 0)) <= set(orchestrator.support)


def test_nothing_from_outside_the_support_enters() -> None:
    """A held-out variant is refused, and nothing of that iteration is taken in."""
    orchestrator = Orchestrator(ARMS, 0)
    before = orchestrator.state()
    with pytest.raises(ValueError, match="variant 'v99' is not one of the 10 to train on; did you mean 'v9'"):
        orchestrator.learn(0, [("v1", 1.0), ("v99", 1.0)])
    with pytest.raises(ValueError, match="iteration 4: the entropy nan of an episode of 'v2' is not finite"):
        orchestrator.learn(4, [("v1", 1.0), ("v2", float("nan"))])
    assert orchestrator.state() == before


def test_a_state_of_something_else_is_refused() -> None:
    state = Orchestrator(ARMS, 0).state()
    with pytest.raises(ValueError, match="of other variants or groups"):
        Orchestrator(ARMS[:9], 0).load(state)
    with pytest.raises(ValueError, match="of other variants or groups"):
        Orchestrator(ARMS, 0, groups=dict.fromkeys(ARMS, "all")).load(state)
    with pytest.raises(ValueError, match="of rule 'ucb', not 'thompson'"):
        Orchestrator(ARMS, 0, rule="thompson").load(state)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"support": []}, "support has 0 variants"),
        ({"support": ["a", "a"]}, "support has 2 variants, 1 of them different"),
        ({"groups": {"a": "x"}}, "1 variants have no group, 'b' first"),
        ({"rule": "best"}, "rule='best' is not known; allowed are 'ucb', 'thompson', 'uniform'"),
        ({"discount": 0.0}, r"discount=0\.0 must be above 0"),
        ({"width": -1.0}, r"width=-1\.0 must be 0 or more"),
    ],
)
def test_an_orchestrator_that_cannot_be_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Orchestrator(**{"support": ["a", "b"], "seed": 0, **wrong})
