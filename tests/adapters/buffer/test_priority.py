"""Causal priorities, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolf_adapters.buffer import priority
from rolf_adapters.buffer.graph import Edge, Graph
from rolf_adapters.buffer.priority import dependants, later_variances, priorities

CHAIN = Graph.of([Edge(0, 1, "claim"), Edge(1, 3, "close"), Edge(0, 2, "order")])
REWARDS = np.array([0.0, 1.0, 0.0, 2.0])


def of_one(graph: Graph, rewards: np.ndarray) -> list[float]:
    return priorities([graph], [rewards])[0].tolist()


def test_priorities_worked_by_hand() -> None:
    """On step 0 hang 1, 3 and 2, and after it come 1, 0, 2 (mean 1, variance 2/3); on step 1 hangs 3, after it come 0
    and 2 (variance 1); on the others nothing."""
    assert dependants([CHAIN], np.array([4])).tolist() == [[3, 1, 0, 0]]
    assert later_variances([REWARDS])[0].tolist() == pytest.approx([2 / 3, 1.0, 0.0, 0.0], abs=1e-15)
    assert of_one(CHAIN, REWARDS) == [2.0, 1.0, 0.0, 0.0]


def test_what_hangs_on_a_step_in_two_ways_counts_once() -> None:
    """0 -> 1 -> 3 and 0 -> 2 -> 3: three steps depend on 0, not four."""
    diamond = Graph.of([Edge(0, 1, "a"), Edge(0, 2, "a"), Edge(1, 3, "a"), Edge(2, 3, "b"), Edge(2, 3, "a")])
    assert dependants([diamond], np.array([4])).tolist() == [[3, 1, 1, 0]]


def test_more_steps_than_a_word_has_bits() -> None:
    """A chain of 200, on each of whose steps hang all that come after it, beside a short one."""
    chain = Graph.of([Edge(step, step + 1, "a") for step in range(199)])
    counts = dependants([chain, CHAIN], np.array([200, 4]))
    assert counts[0].tolist() == list(range(199, -1, -1))
    assert counts[1].tolist() == [0] * 196 + [3, 1, 0, 0], "the last step is in the last column"


def test_equal_rewards_have_no_variance_whatever_came_before() -> None:
    """0.1 has no exact binary form: sums of squares would leave a rest, and it would be all that is sampled by."""
    rewards = np.array([1e6, *[0.1] * 50])
    assert later_variances([rewards])[0].tolist()[:3] == [0.0, 0.0, 0.0]
    assert not any(of_one(Graph.of([Edge(0, 9, "a")]), rewards))


def test_episodes_that_are_worked_on_together_have_the_bits_of_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is committed together depends on when that is asked for, and must not be seen in a draw."""
    draw = np.random.default_rng(0)
    rewards = [draw.normal(size=size) for size in (1, 7, 2, 30, 30, 4)]
    graphs = [Graph.of([Edge(0, len(each) - 1, "a")] if len(each) > 1 else []) for each in rewards]
    alone = [of_one(*each) for each in zip(graphs, rewards, strict=True)]
    assert [each.tolist() for each in priorities(graphs, rewards)] == alone
    monkeypatch.setattr(priority, "_NUMBERS", 70)  # two at a time
    assert [each.tolist() for each in priorities(graphs, rewards)] == alone
    assert priorities([], []) == []


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_priorities_are_what_their_definition_says(data: st.DataObject) -> None:
    """Beside a search of the graph and NumPy's variance."""
    steps = data.draw(st.integers(1, 12))
    pairs = data.draw(st.sets(st.tuples(st.integers(0, steps - 1), st.integers(0, steps - 1)), max_size=30))
    edges = [Edge(a, b, "x") for a, b in pairs if a < b]
    rewards = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=steps, max_size=steps)), np.float64)
    reached: list[set[int]] = []
    for start in range(steps):
        found, frontier = set(), {start}
        while frontier:
            frontier = {edge.effect for edge in edges if edge.cause in frontier} - found
            found |= frontier
        reached.append(found)
    expected = [len(reached[i]) * (rewards[i + 1 :].var() if i + 1 < steps else 0.0) for i in range(steps)]
    np.testing.assert_allclose(of_one(Graph.of(edges), rewards), expected, rtol=1e-6, atol=1e-9)
