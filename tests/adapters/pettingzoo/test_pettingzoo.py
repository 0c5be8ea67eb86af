"""The roles of a line pass PettingZoo's own tests, together and in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.test.state_test import state_test

from rolf_adapters.pettingzoo import aec_env, parallel_env

LINE = "linegym:LineEnv-v1"
SETTINGS: dict[str, Any] = {"variant": "parallel/current/opcua/jam+sensor:5", "horizon": 40}


def test_passes_the_test_of_parallel_environments(capsys: pytest.CaptureFixture[str]) -> None:
    parallel_api_test(parallel_env(LINE, **SETTINGS), num_cycles=100)
    assert "Passed" in capsys.readouterr().out


@pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably should be:UserWarning",
    "ignore:We recommend agents to be named in the format:UserWarning",
    "ignore:Agents have different observation space sizes:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observations are different shapes:UserWarning",
)
def test_passes_the_test_of_environments_in_turn(capsys: pytest.CaptureFixture[str]) -> None:
    """It advises agents with numbers and one kind of observation for all; roles are no such. All else is an error."""
    api_test(aec_env(LINE, **SETTINGS), num_cycles=200)
    assert "Passed" in capsys.readouterr().out


def test_passes_the_tests_of_seeds() -> None:
    parallel_seed_test(lambda: parallel_env(LINE, **SETTINGS), num_cycles=30)
    seed_test(lambda: aec_env(LINE, **SETTINGS), num_cycles=90)


def test_passes_the_test_of_the_state() -> None:
    together = parallel_env(LINE, **SETTINGS)
    state_test(aec_env(LINE, **SETTINGS), together, num_cycles=30)


def test_agents_in_turn_do_what_they_do_together() -> None:
    """The same actions: the same observations, rewards and end, once all have acted."""
    together, turns = parallel_env(LINE, **SETTINGS), aec_env(LINE, **SETTINGS)
    seen, _ = together.reset(seed=7)
    turns.reset(seed=7)
    rng = np.random.default_rng(1)
    while together.agents:
        agents = [*together.agents]
        actions = {agent: int(rng.choice(np.flatnonzero(seen[agent]["action_mask"]))) for agent in agents}
        for agent in agents:
            assert turns.agent_selection == agent
            observation, *_ = turns.last()
            assert np.array_equal(observation["observation"], seen[agent]["observation"])
            assert np.array_equal(observation["action_mask"], seen[agent]["action_mask"])
            turns.step(actions[agent])
        seen, rewards, _, truncated, _ = together.step(actions)
        assert turns.rewards == rewards
        assert {agent: turns.truncations[agent] for agent in agents} == truncated
    assert all(turns.truncations.values())


def test_what_is_done_in_the_wrong_order_is_told() -> None:
    env = aec_env(LINE, **SETTINGS)
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before step"):
        env.step(0)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("LineEnv-v1", ValueError, "names no module; give one before it, as in 'linegym:LineEnv-v1'"),
        ("termgym:TermEnv-v1", LookupError, "for one agent alone: there is no module 'termgym.parallel'"),
        ("linegym:LineEnv-v9", LookupError, "'linegym.parallel' is for 'linegym:LineEnv-v1'"),
        ("linegym:", LookupError, "'linegym:' has no agents that act at the same time"),
        ("nothing_there:Env-v0", LookupError, "no module 'nothing_there.parallel'"),
    ],
)
def test_says_what_is_wrong(name: str, error: type[Exception], said: str) -> None:
    for make in (parallel_env, aec_env):
        with pytest.raises(error, match=said):
            make(name)
