"""The line's actions as calls, and its observations in words."""

from __future__ import annotations

from typing import Any, get_args

import gymnasium as gym
import numpy as np
import pytest

from linegym.actions import CLAIM_NAMES, COMMANDS
from linegym.plant import ACTIONS, Crew
from linegym.policies import policy
from linegym.policies.single import Single
from linegym.tools import TOOLS, Claim, Part, action_of, call_of, impossible
from rolf.interface import HELD_OUT, TRAINING, Choice, Interface, Tooled


@pytest.fixture(scope="module")
def env() -> Any:
    with gym.make("linegym:LineEnv-v1", horizon=250) as made:
        yield made


def test_every_action_is_a_call() -> None:
    for action in range(ACTIONS):
        assert action_of(call_of(action, "flat"), "flat") == action
        assert (action_of(call_of(COMMANDS[action], "multi"), "multi") == COMMANDS[action]).all()


@pytest.mark.parametrize("names", ["own", "function", "device"])
@pytest.mark.parametrize("style", [*TRAINING, *HELD_OUT])
def test_every_call_can_be_written_in_every_style(style: str, names: str) -> None:
    interface = Interface(Choice(style, "terse", "json", names, "all"), TOOLS, "")
    for action in range(0, ACTIONS, 7):
        call = call_of(action, "flat")
        assert interface.read(interface.write(call)) == call


def test_three_numbers_that_name_nothing_are_no_call() -> None:
    """``MultiDiscrete`` has them; a policy that calls tools cannot mean them."""
    with pytest.raises(ValueError, match=r"\(1, 0, 15\) names nothing"):
        call_of(np.array([1, 0, 15]), "multi")


def test_claims_have_the_plant_s_names() -> None:
    assert get_args(Claim) == CLAIM_NAMES
    assert get_args(Part) == CLAIM_NAMES[:8]


def test_names_of_a_naming_are_told_apart() -> None:
    for names in ("own", "function", "device"):
        offered = Interface(Choice("react", "terse", "json", names, "all"), TOOLS, "").tools
        assert len({tool.name for tool in offered}) == len(TOOLS)


def test_what_stands_for_no_call_is_never_possible(env: gym.Env[Any, Any]) -> None:
    """Throttled or not, with commands on their way or not: it costs what an impossible command costs."""
    rng = np.random.default_rng(3)
    seen, info = env.reset(seed=5)
    over = False
    throttled = set()
    while not over:
        throttled.add(bool(seen[19]))
        stand_in = impossible(seen, "flat")
        assert info["action_mask"][stand_in] == 0
        assert (impossible(seen, "multi") == COMMANDS[stand_in]).all()
        # Station 0 is told to change its speed now and then, or it would never be throttled.
        possible = [action for action in (497, 498) if info["action_mask"][action]]
        action = rng.choice(possible) if possible and rng.random() < 0.2 else 0
        seen, _, _, over, info = env.step(int(action))
    assert throttled == {False, True}


def test_an_answer_that_is_no_call_costs_what_an_impossible_command_costs(env: gym.Env[Any, Any]) -> None:
    world: Any = env.unwrapped
    env.reset(seed=1)
    _, reward, _, _, info = env.step(world.malformed("what?"))
    env.reset(seed=1)
    _, idle, _, _, free = env.step(0)
    assert (info["invalid_action"], free["invalid_action"]) == (True, False)
    assert float(reward) == pytest.approx(float(idle) - 0.01)


def test_the_environment_is_tooled(env: gym.Env[Any, Any]) -> None:
    assert isinstance(env.unwrapped, Tooled)
    assert env.unwrapped.tools is env.unwrapped.tools


def test_what_is_told_is_in_the_observation(env: gym.Env[Any, Any]) -> None:
    """Nothing of ``info`` is, for ``info`` holds the truth; and a dictionary tells what the numbers in it tell."""
    seen, info = env.reset(seed=2)
    told = env.unwrapped.told(seen, {})
    assert told == env.unwrapped.told(seen, info)
    assert told == env.unwrapped.told({"observation": seen, "action_mask": info["action_mask"]}, info)


def test_what_is_told_is_what_is_there(env: gym.Env[Any, Any]) -> None:
    """A table that slipped by a column would mislead every policy that reads."""
    seen, info = env.reset(seed=53)
    player = Single(policy("oracle"), 250)
    player.begin(env.unwrapped.variant, info)
    alarms, orders, timers = 627, slice(14, 24 * 24, 24), slice(579, 600, 4)
    # Until somebody is on a longer way to a work order, while another alarm is on.
    while not (seen[alarms] and (seen[orders] > 0.25).any() and seen[timers].max() > 0.1):
        seen, _, _, over, info = env.step(player.act(seen, info))
        assert not over
    told = {section.name: section.value for section in env.unwrapped.told(seen, {})}
    spec = {entry.name: float(seen[entry.index]) for entry in env.unwrapped.obs_spec}
    rows = str(told["stations"]).splitlines()
    head = rows[0].split()
    assert len(rows) == 1 + round(spec["line.stations"] * 24)
    for number, row in enumerate(rows[1:]):
        cells = dict(zip(head, row.split(), strict=True))
        station = f"station[{number}]."
        assert cells["station"] == f"S{number}"
        for name, entry, unit in (
            ("order-age[ticks]", "order_age", 100),
            ("inspection-age[ticks]", "inspection_age", 100),
            ("sample-age[ticks]", "age", 16),
            ("gaps[samples]", "gaps", 8),
            ("scan[nominal]", "scan", 1),
            ("cycle[nominal]", "cycle", 1),
            ("passed[parts]", "done", 100),
            ("upstream[full]", "upstream", 1),
            ("downstream[full]", "downstream", 1),
        ):
            assert float(cells[name]) == pytest.approx(unit * spec[station + entry], abs=1e-3, rel=1e-2), name
        for name, entry in (("readings", "value"), ("spreads", "spread"), ("inspected", "clean")):
            values = [float(each) for each in cells[f"{name}[usual-spreads]"].split("/")]
            assert values == pytest.approx([spec[f"{station}{entry}[{k}]"] for k in range(3)], abs=1e-3, rel=1e-2)
        assert (cells["alarm"] == "ALARM") == (spec[station + "alarm"] == 1)
        assert (cells["throttled"] == "throttled") == (spec[station + "throttled"] == 1)
        assert cells["claim"] == (
            CLAIM_NAMES[round(8 * spec[station + "claim"]) - 1] if spec[station + "claim"] else "-"
        )
    assert told["idle_technicians"] == round(spec["line.idle_technicians"] * 6)
    assert len(str(told["technicians"]).splitlines()) == 6
    assert told["open_orders"] == round(spec["line.open_orders"] * 24) > 0
    assert told["alarms"] == round(spec["line.alarms"] * 24) > 0
    waited = set()
    for number, row in enumerate(str(told["parts"]).splitlines()):
        part = f"part[{number}]."
        stock, coming, ticks = 10 * spec[f"{part}stock"], 10 * spec[f"{part}coming"], 200 * spec[f"{part}arrival"]
        when = f" in {ticks:.0f} ticks" if coming else ""
        assert row == f"{CLAIM_NAMES[number]} {stock:.0f} in store, {coming:.0f} coming{when}"
        waited.add(bool(coming))
    assert waited == {False, True}
    for number, row in enumerate(str(told["technicians"]).splitlines()):
        technician = f"technician[{number}]."
        state = Crew(round(4 * spec[f"{technician}state"])).name.lower()
        assert row.startswith(f"T{number} {state} at S{24 * spec[f'{technician}at']:.0f}, ")
        assert row.endswith(f", {50 * spec[f'{technician}timer']:.0f} ticks left")
        assert (f", to S{24 * spec[f'{technician}to'] - 1:.0f}, " in row) is (spec[f"{technician}to"] > 0)
