"""The line as a PettingZoo environment of three roles."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from linegym import plant as P
from linegym import variant
from linegym.actions import COMMANDS, close, diagnose, dispatch, inspect, order, throttle
from linegym.env import LineEnv
from linegym.layout import FACTS
from linegym.parallel import LineParallelEnv, parallel_env
from linegym.plant import ACTIONS, Crew, Order
from linegym.roles import roles
from linegym.spaces import obs_spec

VARIANTS = (
    "serial/thermocouple/profinet/bearing",
    "parallel/current/opcua/jam+sensor:5",
    "hybrid/thermocouple/profinet/sensor-drift+network:5",
    "rework-loop/pressure/mqtt/leak+load:5",
)
PLACE = {entry.name: entry.index for entry in obs_spec()}
IDLE = {"diagnosis": 0, "logistics": 0, "dispatch": 0}


def choose(rng: np.random.Generator, mask: np.ndarray[Any, Any]) -> int:
    """Return an action that is possible, mostly."""
    return int(rng.choice(np.flatnonzero(mask)) if rng.random() < 0.8 else rng.integers(len(mask)))


def crowd(env: LineParallelEnv, rng: np.random.Generator, seen: Any) -> dict[str, int]:
    """Return actions with which the roles meet at one station, mostly: there the order of their commands matters."""
    actions = {agent: choose(rng, seen[agent]["action_mask"]) for agent in env.agents}
    station, claim, who = int(rng.integers(8)), int(rng.integers(10)), int(rng.integers(6))
    asked = (inspect(station), diagnose(station, claim))[int(rng.integers(2))]
    done = (close(station), dispatch(who, station), throttle(station))[int(rng.integers(3))]
    if rng.random() < 0.6:
        actions["diagnosis"] = own(env, "diagnosis", asked)
    if rng.random() < 0.6:
        actions["dispatch"] = own(env, "dispatch", done)
    return actions


def own(env: LineParallelEnv, agent: str, flat: int) -> int:
    """Return the role's number of a flat action."""
    (number,) = np.flatnonzero(env.role(agent).actions == flat)
    return int(number)


def do(env: LineParallelEnv, **flat: int) -> Any:
    return env.step(IDLE | {agent: own(env, agent, action) for agent, action in flat.items()})


def alarmed(seed: int = 0) -> tuple[LineParallelEnv, int]:
    """Return an environment in which nothing was done until an alarm came, and the station that raised it."""
    env = LineParallelEnv(VARIANTS[0])
    env.reset(seed=seed)
    while True:
        alarms = [station for station in range(24) if env.state()[PLACE[f"station[{station}].alarm"]]]
        if alarms:
            return env, alarms[0]
        env.step(IDLE)


def test_passes_pettingzoo_s_api_test(capsys: pytest.CaptureFixture[str]) -> None:
    """Warnings are errors here, so nothing it only warns of is wrong either."""
    parallel_api_test(LineParallelEnv(VARIANTS[1], horizon=60), num_cycles=100)
    assert "Passed" in capsys.readouterr().out


def test_passes_pettingzoo_s_seed_test() -> None:
    parallel_seed_test(lambda: parallel_env(VARIANTS[2], horizon=60), num_cycles=30)


@pytest.mark.parametrize("agent", IDLE)
@pytest.mark.parametrize("name", VARIANTS)
def test_one_role_acting_alone_is_the_single_agent_environment(agent: str, name: str) -> None:
    """To the last bit: state, observation and reward, over three episodes, of possible and impossible actions."""
    many, one = LineParallelEnv(name, horizon=150), LineEnv(name, horizon=150)
    rng = np.random.default_rng(5)
    for seed in (0, None, 2**63 - 1):
        seen, _ = many.reset(seed=seed)
        one.reset(seed=seed)
        while many.agents:
            action = choose(rng, seen[agent]["action_mask"])
            seen, rewards, _, truncated, infos = many.step(IDLE | {agent: action})
            whole, reward, _, over, info = one.step(int(many.role(agent).actions[action]))
            np.testing.assert_array_equal(many.state(), whole)
            assert many.state_digest() == one.state_digest()
            assert set(rewards.values()) == {reward}
            assert set(truncated.values()) == {over}
            mine = infos[agent]
            assert {key: np.array(mine[key]).tolist() for key in info if key != "action_mask"} == {
                key: np.array(info[key]).tolist() for key in info if key != "action_mask"
            }


def test_three_roles_share_the_545_actions() -> None:
    """Each belongs to exactly one role, but for doing nothing, which is everybody's."""
    owned = np.concatenate([role.actions[1:] for role in roles()])
    assert sorted(owned.tolist()) == list(range(1, ACTIONS))
    assert all(role.actions[0] == 0 for role in roles())


@pytest.mark.parametrize("name", VARIANTS)
def test_shares_add_up_to_the_reward(name: str) -> None:
    """Of whatever three roles do at once, also where they come in each other's way."""
    env, rng = LineParallelEnv(name, horizon=400), np.random.default_rng(1)
    met = set()
    for seed in range(3):
        seen, infos = env.reset(seed=seed)
        while env.agents:
            actions = crowd(env, rng, seen)
            seen, rewards, _, _, infos = env.step(actions)
            shared = {info["shared_reward"] for info in infos.values()}
            assert len(shared) == 1
            total = shared.pop() + sum(info["own_reward"] for info in infos.values())
            assert total == pytest.approx(rewards["dispatch"], abs=1e-12)
            assert all(info["own_reward"] <= 0 for info in infos.values())
            impossible = [info["invalid_action"] for info in infos.values()]
            assert env._batch.facts[0, FACTS.index("invalid")] == any(impossible)
            met.add((COMMANDS[env.role("dispatch").actions[actions["dispatch"]], 0], *impossible))
    assert len(met) > 20, "otherwise little was tried"


def test_what_a_role_does_is_laid_to_its_account() -> None:
    """One cost at a time."""
    env, station = alarmed()
    _, _, _, _, infos = do(env, diagnosis=inspect(station), logistics=order("jam", 3))
    assert infos["diagnosis"]["own_reward"] == pytest.approx(-P.REWARD_INSPECT - P.REWARD_TRAVEL), (
        "an inspection, and a step of the way"
    )
    assert infos["logistics"]["own_reward"] == pytest.approx(-3 * P.REWARD_PART)
    assert infos["dispatch"]["own_reward"] == 0
    _, _, _, _, infos = do(env, logistics=order("jam", 1), dispatch=close(23))
    assert infos["logistics"]["own_reward"] == pytest.approx(-P.REWARD_INVALID), "one order of a kind at a time"
    assert infos["dispatch"]["own_reward"] == pytest.approx(-P.REWARD_INVALID)
    assert [info["invalid_action"] for info in infos.values()] == [False, True, True]


def test_diagnosis_comes_first() -> None:
    """A technician can be sent on the order that is opened in the same step, whoever is asked first."""
    results = []
    for agents in itertools.permutations(IDLE):
        env, station = alarmed()
        actions = IDLE | {
            "diagnosis": own(env, "diagnosis", diagnose(station, "bearing")),
            "dispatch": own(env, "dispatch", dispatch(2, station)),
        }
        before, _ = env.possible_agents, env.state()
        _, rewards, _, _, infos = env.step({agent: actions[agent] for agent in agents})
        assert before == [*IDLE]
        assert not infos["dispatch"]["invalid_action"]
        assert round(env.state()[PLACE[f"station[{station}].order"]] * 4) in (Order.TRAVEL, Order.REPAIR)
        results.append((rewards["dispatch"], env.state_digest()))
    assert len(set(results)) == 1


def test_a_technician_called_to_an_inspection_cannot_be_sent_elsewhere() -> None:
    """The mask told what was possible before the others acted; who lost the race is told."""
    lost = []
    for who in range(6):
        env, station = alarmed()
        seen, *_ = do(env, diagnosis=diagnose(station, "bearing"))
        assert seen["dispatch"]["action_mask"][own(env, "dispatch", dispatch(who, station))]
        _, _, _, _, infos = do(env, diagnosis=inspect(station), dispatch=dispatch(who, station))
        state = round(env.state()[PLACE[f"technician[{who}].state"]] * 4)
        assert infos["dispatch"]["invalid_action"] == (state in (Crew.TO_INSPECT, Crew.INSPECT))
        lost.append(infos["dispatch"]["invalid_action"])
    assert sum(lost) == 1


def test_a_role_sees_its_part_and_what_it_may_do() -> None:
    """Views are numbers of the whole observation, within their bounds; masks those of the whole mask."""
    env = LineParallelEnv(VARIANTS[3], horizon=100)
    names = [entry.name for entry in obs_spec()]
    seen, _ = env.reset(seed=1)
    rng = np.random.default_rng(1)
    while env.agents:
        seen, *_ = env.step(crowd(env, rng, seen))
        for agent in env.possible_agents:
            role = env.role(agent)
            assert seen[agent] in env.observation_space(agent)
            np.testing.assert_array_equal(seen[agent]["observation"], env.state()[role.places])
            np.testing.assert_array_equal(seen[agent]["action_mask"], env._batch.masks[0][role.actions])
    views = {agent: {names[place] for place in env.role(agent).places} for agent in env.possible_agents}
    assert "station[3].value[0]" in views["diagnosis"]
    assert not any(name.startswith(("part", "technician")) for name in views["diagnosis"])
    assert "part[7].arrival" in views["logistics"]
    assert not any("value" in name for name in views["logistics"] | views["dispatch"])
    assert "technician[5].timer" in views["dispatch"]
    assert "line.time" in set.intersection(*views.values())


def test_what_was_returned_is_the_caller_s() -> None:
    env = LineParallelEnv(horizon=20)
    seen, infos = env.reset(seed=1)
    kept = {agent: view["observation"].copy() for agent, view in seen.items()}
    for _ in range(10):
        env.step(IDLE)
    assert all(np.array_equal(kept[agent], view["observation"]) for agent, view in seen.items())
    assert len({id(info["true_faults"]) for info in infos.values()}) == 3


def test_all_end_together_and_a_step_after_the_end_says_so() -> None:
    env = LineParallelEnv(horizon=3)
    with pytest.raises(gym.error.ResetNeeded, match="no episode has begun; call reset"):
        env.step(IDLE)
    env.reset(seed=1)
    for step in range(3):
        assert env.agents == [*IDLE]
        _, _, terminated, truncated, infos = env.step(IDLE)
        assert not any(terminated.values())
        assert set(truncated.values()) == {step == 2}
    assert env.agents == []
    assert "success" in infos["diagnosis"]
    with pytest.raises(gym.error.ResetNeeded, match="the episode has ended; call reset"):
        env.step(IDLE)


def test_the_variant_changes_with_an_episode() -> None:
    env = LineParallelEnv(VARIANTS[0], horizon=5)
    _, infos = env.reset(seed=1, options={"variant": VARIANTS[1]})
    assert infos["logistics"]["variant_id"] == variant(VARIANTS[1]).id
    assert infos["logistics"]["episode_index"] == 0
    _, infos = env.reset()
    assert infos["logistics"]["variant_id"] == variant(VARIANTS[1]).id
    assert infos["logistics"]["episode_index"] == 1


def test_draws_a_seed_where_none_was_given() -> None:
    one, two = LineParallelEnv(horizon=5), LineParallelEnv(horizon=5)
    _, infos = one.reset()
    two.reset(seed=infos["dispatch"]["seed"])
    one.step(IDLE)
    two.step(IDLE)
    assert one.state_digest() == two.state_digest()


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_shows_the_line(mode: str) -> None:
    env = LineParallelEnv(horizon=5, render_mode=mode)
    with pytest.raises(gym.error.ResetNeeded):
        env.render()
    env.reset(seed=1)
    first = env.render()
    do(env, diagnosis=inspect(0), logistics=order("jam"))
    assert isinstance(first, str if mode == "ansi" else np.ndarray)
    assert not np.array_equal(first, env.render())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("actions", "error", "told"),
    [
        ({"diagnosis": 0}, ValueError, "got actions of diagnosis; give one of each of diagnosis, logistics, dispatch"),
        ({}, ValueError, "got actions of nobody"),
        (IDLE | {"technician": 0}, ValueError, "give one of each of"),
        (IDLE | {"logistics": 17}, ValueError, "action of logistics is 17, which is out of range; .* from 0 to 16"),
        (IDLE | {"logistics": -1}, ValueError, "action of logistics is -1"),
        (IDLE | {"dispatch": 1.0}, TypeError, "action of dispatch is 1.0 of type float; give a whole number"),
    ],
)
def test_refuses_what_is_no_action(actions: dict[str, Any], error: type[Exception], told: str) -> None:
    env = LineParallelEnv(horizon=5)
    env.reset(seed=1)
    digest = env.state_digest()
    with pytest.raises(error, match=told):
        env.step(actions)
    assert env.state_digest() == digest


def test_refuses_what_is_no_environment() -> None:
    with pytest.raises(ValueError, match="did you mean"):
        LineParallelEnv("serial/thermocouple/profinet/bering")
    with pytest.raises(ValueError, match="seed=-1"):
        LineParallelEnv().reset(seed=-1)
    with pytest.raises(KeyError, match="agent is 'worker'; there are diagnosis, logistics, dispatch"):
        LineParallelEnv().action_space("worker")


def test_says_what_to_install_where_pettingzoo_is_missing() -> None:
    code = "import sys; sys.modules['pettingzoo'] = None; import linegym.parallel"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "pip install 'rolf[pettingzoo]'" in done.stderr
