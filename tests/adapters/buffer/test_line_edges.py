"""What came of what on a production line, beside a log that is kept by hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from linegym.actions import diagnose, inspect, order
from linegym.policies import policy
from linegym.policies.single import Single
from rolf_adapters.buffer.edges import NoEdges
from rolf_adapters.buffer.graph import Edge, Graph
from rolf_adapters.buffer.line_edges import LineEdges
from rolf_adapters.buffer.listening import listener

VARIANT = "serial/thermocouple/profinet/bearing"


class Played(NamedTuple):
    graph: Graph
    faults: list[tuple[int, int, int]]
    """(step, station, class), 0 where it ended."""
    calls: list[tuple[int, str, dict[str, Any]]]
    """Those that were possible."""
    closed: list[int]


def play(name: str, variant: str, seed: int, **settings: Any) -> Played:
    env = gym.make("linegym:LineEnv-v1", variant=variant, **settings)
    world: Any = env.unwrapped
    seen, info = env.reset(seed=seed)
    heard, player = LineEdges(world), Single(policy(name))
    player.begin(world.variant, info)
    heard.begin(seen, info)
    faults, calls, closed, over, step = [], [], [], False, 0
    while not over:
        before, action = info["true_faults"], player.act(seen, info)
        seen, _, _, over, info = env.step(action)
        heard.step(action, seen, info)
        changed = np.flatnonzero(info["true_faults"] != before)
        faults += [(step, int(each), int(info["true_faults"][each])) for each in changed]
        if not info["invalid_action"]:
            call = world.call_of(action)
            calls.append((step, call.tool, dict(call.arguments)))
        closed += [step] if info["closed_station"] >= 0 else []
        step += 1
    return Played(heard.graph(), faults, calls, closed)


def test_a_repair_from_the_fault_to_the_closing() -> None:
    """Who knows everything and says so at once: a jam at station 10, in step 95 of the shift of seed 0."""
    played = play("oracle", VARIANT, 0)
    assert played.faults[:2] == [(95, 10, 3), (111, 10, 0)]
    mine = [call for call in played.calls if call[2].get("station") == 10 and call[0] < 113]
    assert [(step, tool) for step, tool, _ in mine] == [
        (96, "inspect"),
        (100, "diagnose"),
        (101, "dispatch"),
        (112, "close"),
    ]
    chain = [edge for edge in played.graph if 95 <= edge.cause <= 112 and edge.effect <= 112]
    assert chain == [
        Edge(95, 100, "claim"),
        Edge(95, 111, "mended"),
        Edge(96, 99, "finding"),
        Edge(99, 100, "claim"),
        Edge(100, 101, "dispatch"),
        Edge(101, 103, "arrival"),
        Edge(103, 111, "repair"),
        Edge(111, 112, "close"),
    ]
    # A piece came in step 49, but the one that had lain there from the beginning is used first.
    assert Edge(2, 49, "delivery") in list(played.graph)
    assert [edge for edge in played.graph if edge.effect == 101] == [Edge(100, 101, "dispatch")]


@pytest.mark.parametrize("variant", [VARIANT, f"{VARIANT}+sensor:3"])
def test_every_edge_joins_what_it_says(variant: str) -> None:
    """An expert under noise, with alarms that are false and orders that are taken up again."""
    played = play("cusum", variant, 3)
    tools = {step: tool for step, tool, _ in played.calls}
    starts = {step for step, _, fault in played.faults if fault}
    ends = {step for step, _, fault in played.faults if not fault}
    causes = {"inspection": None, "finding": "inspect", "claim": None, "order": "diagnose", "delivery": "order"}
    causes |= {"part": None, "dispatch": "diagnose", "arrival": "dispatch", "repair": None, "close": None}
    effects = {"inspection": "inspect", "claim": "diagnose", "order": "order", "part": "dispatch"}
    effects |= {"dispatch": "dispatch", "close": "close"}
    for edge in played.graph:
        if edge.kind in ("alarm", "mended"):
            assert edge.cause in starts
            assert edge.kind == "alarm" or edge.effect in ends
        elif causes[edge.kind] is not None:
            assert tools[edge.cause] == causes[edge.kind], edge
        if edge.kind in effects:
            assert tools[edge.effect] == effects[edge.kind], edge
    kinds = {edge.kind for edge in played.graph}
    assert {"claim", "finding", "dispatch", "repair", "close", "mended", "delivery"} <= kinds
    assert set(played.closed) <= {edge.effect for edge in played.graph if edge.kind == "close"}


def test_parts_are_traced_to_their_order() -> None:
    """A piece that was there from the beginning has no order; those that come are used after it."""
    played = play("cusum", f"{VARIANT}+sensor:3", 3)
    deliveries = {edge.effect: edge.cause for edge in played.graph if edge.kind == "delivery"}
    parts = [edge for edge in played.graph if edge.kind == "part"]
    assert parts
    tools = {step: arguments for step, _, arguments in played.calls}
    for edge in parts:
        ordered = tools[deliveries[edge.cause]]["part"]
        station = tools[edge.effect]["station"]
        claims = [
            args["claim"]
            for step, tool, args in played.calls
            if tool == "diagnose" and args["station"] == station and step < edge.effect
        ]
        assert claims[-1] == ordered


def test_several_ticks_a_step_and_every_face_are_understood() -> None:
    """Coarser steps give coarser edges, and none from a step to itself."""
    coarse = play("cusum", VARIANT, 1, ticks_per_step=5).graph
    assert len(coarse) > 0
    assert all(edge.cause < edge.effect for edge in coarse)
    env = gym.make("linegym:LineEnv-v1", variant=VARIANT, action="multi", observation="dict")
    heard = listener(env)
    assert isinstance(heard, LineEdges)
    seen, info = env.reset(seed=0)
    heard.begin(seen, info)
    for action in ([3, 0, 0], [3, 0, 0], [0, 0, 5], [6, 23, 15]):  # order, again (not possible), nothing, nothing known
        seen, _, _, _, info = env.step(np.array(action))
        heard.step(np.array(action), seen, info)
    assert len(heard.graph()) == 0


def test_what_was_not_possible_has_no_effect() -> None:
    """A diagnosis without an alarm, and a second order of what is under way, are no causes."""
    env = gym.make("linegym:LineEnv-v1", variant=VARIANT)
    heard = LineEdges(env.unwrapped)
    seen, info = env.reset(seed=0)
    heard.begin(seen, info)
    actions = [order("bearing"), order("bearing"), diagnose(0, "jam"), inspect(0), *[0] * 150]
    impossible = []
    for step, action in enumerate(actions):
        seen, _, _, _, info = env.step(action)
        heard.step(action, seen, info)
        impossible += [step] if info["invalid_action"] else []
    assert impossible == [1, 2]
    edges = list(heard.graph())
    assert [edge.cause for edge in edges if edge.kind == "delivery"] == [0]
    assert [edge.cause for edge in edges if edge.kind == "finding"] == [3]
    assert {edge.cause for edge in edges}.isdisjoint({1, 2})


def test_an_environment_that_tells_nothing_has_no_edges() -> None:
    heard = listener(gym.make("CartPole-v1"))
    assert isinstance(heard, NoEdges)
    heard.begin(None, {})
    heard.step(0, None, {})
    assert len(heard.graph()) == 0
