"""What is seen and what is done, over a network that delays and loses."""

from __future__ import annotations

import itertools
import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rolf_wrappers import Network, NetworkAction, NetworkObservation
from rolf_wrappers.network import poisson

OFF = Network.at(0)
DEAD = Network(latency=0, to_bad=1, to_good=0, loss_bad=1)
"""Nothing ever arrives."""


class Echo(gym.Env[Any, Any]):
    """Shows the step, and what it was told to do; writes both into the same buffers at every step."""

    def __init__(self) -> None:
        number = gym.spaces.Box(-1e9, 1e9, (1,), np.float64)
        self.observation_space = gym.spaces.Dict({"step": number, "told": number})
        self.action_space = gym.spaces.Box(-1e9, 1e9, (1,), np.float64)
        self.buffers = {"step": np.zeros(1), "told": np.zeros(1)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        for buffer in self.buffers.values():
            buffer[:] = 0
        return self.buffers, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.buffers["step"] += 1
        self.buffers["told"][:] = action
        return self.buffers, 0.0, False, False, {}


def watch(network: Network, steps: int, seed: int = 0) -> tuple[list[int], list[int]]:
    """Return which step is seen at each step, and the age that is told."""
    env = NetworkObservation(Echo(), network)
    observation, info = env.reset(seed=seed)
    steps_seen, ages = [int(observation["step"][0])], [info["observation_age"]]
    for _ in range(steps):
        observation, *_, info = env.step(np.zeros(1))
        steps_seen.append(int(observation["step"][0]))
        ages.append(info["observation_age"])
    return steps_seen, ages


def command(env: gym.Env[Any, Any], steps: int, seed: int = 0) -> list[dict[str, Any]]:
    """Send the numbers 1, 2, … and return what the infos tell."""
    env.reset(seed=seed)
    return [env.step(np.array([step], np.float64))[4] for step in range(1, steps + 1)]


def test_the_age_tells_when_the_observation_was_made() -> None:
    """What is repeated lies in range and looks fresh; the age is what tells it apart. Nothing is invented."""
    steps_seen, ages = watch(Network(latency=2, to_bad=0.1, to_good=0.3), 3000)
    assert [step - age for step, age in enumerate(ages)] == steps_seen
    assert steps_seen == sorted(steps_seen), "an overtaken observation is of no use any more"
    assert max(ages) > 5
    assert 0 in ages[1:]


def test_latency_alone_is_poisson() -> None:
    """An observation is fresh when its own latency is 0."""
    _, ages = watch(Network(latency=1.5, to_bad=0), 20_000)
    assert np.mean(np.array(ages) == 0) == pytest.approx(math.exp(-1.5), abs=0.01)
    shares = [np.mean([poisson((draw + 0.5) / 5000, 1.5) == number for draw in range(5000)]) for number in range(6)]
    assert shares == pytest.approx([math.exp(-1.5) * 1.5**n / math.factorial(n) for n in range(6)], abs=2e-4)


def test_latency_is_longer_under_a_larger_mean_draw_by_draw() -> None:
    """Two runs that differ in latency alone can be compared packet by packet."""
    for draw in np.linspace(0, 1 - 2**-53, 200):
        latencies = [poisson(float(draw), mean) for mean in (0.0, 0.5, 1.0, 5.0, 100.0)]
        assert latencies == sorted(latencies)


def test_loss_comes_in_bursts() -> None:
    """Gilbert and Elliott's channel: the long-run share and the mean length of a burst are what the parameters say."""
    network = Network(latency=0, to_bad=0.05, to_good=0.25, loss_bad=1.0)
    _, ages = watch(network, 40_000)
    lost = np.array(ages) > 0
    assert network.loss == pytest.approx(1 / 6)
    assert np.mean(lost) == pytest.approx(1 / 6, abs=0.012)
    bursts = np.count_nonzero(lost[1:] & ~lost[:-1])
    assert np.count_nonzero(lost) / bursts == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize("rung", range(8))
def test_the_ladder_s_loss_is_what_it_says(rung: int) -> None:
    told = (0, 0.02, 0.04, 0.09, 0.15, 0.27, 0.37, 0.47)
    assert Network.at(rung).loss == pytest.approx(told[rung], abs=0.005)


def test_a_higher_intensity_is_older() -> None:
    means = [np.mean(watch(Network.at(rung), 3000)[1]) for rung in range(8)]
    assert means[0] == 0
    assert all(low < high for low, high in itertools.pairwise(means)), means


def test_mechanisms_do_not_move_each_other_s_draws() -> None:
    """What is lost is lost whatever the latency is."""
    slow = NetworkObservation(Echo(), Network(latency=3, to_bad=0.1))
    quick = NetworkObservation(Echo(), Network(latency=0, to_bad=0.1))
    for env in (slow, quick):
        env.reset(seed=1)
        for _ in range(50):
            env.step(np.zeros(1))
    for mechanism in ("channel", "loss", "latency"):
        assert slow.streams[mechanism].random() == quick.streams[mechanism].random()


def test_the_first_observation_arrives_and_then_perhaps_nothing() -> None:
    assert watch(DEAD, 3) == ([0, 0, 0, 0], [0, 1, 2, 3])


def test_one_entry_can_travel_alone() -> None:
    env = NetworkObservation(Echo(), DEAD, key="step")
    env.reset(seed=1)
    observation, *_, info = env.step(np.array([4.0]))
    assert (observation["step"], observation["told"]) == (0.0, 4.0)
    assert info == {"step_age": 1}


def test_nothing_is_under_way_after_a_reset() -> None:
    """Elsewhere the first observations of an episode came from the one before."""
    env = NetworkObservation(Echo(), Network(latency=5, to_bad=0))
    for _ in range(30):
        observation, _ = env.reset(seed=0)
        assert observation["step"] == 0
        for step in range(1, 6):
            assert env.step(np.zeros(1))[0]["step"] <= step


def test_a_buffer_that_the_environment_reuses_is_no_trap() -> None:
    """What was sent is what it was when it was sent, and what was returned belongs to the caller."""
    env = NetworkObservation(Echo(), DEAD)
    env.reset(seed=1)
    seen = [env.step(np.ones(1))[0] for _ in range(3)]
    seen[0]["step"][:] = 99
    assert [float(each["step"][0]) for each in seen[1:]] == [0.0, 0.0]
    assert env.step(np.ones(1))[0]["step"] == 0


def test_an_action_that_is_late_is_done_late() -> None:
    infos = command(NetworkAction(Echo(), Network(latency=2, to_bad=0.05)), 2000)
    done = [int(info["executed_action"][0]) for info in infos]
    ages = [info["action_age"] for info in infos]
    assert done == [step - age for step, age in enumerate(ages, start=1)]
    assert done == sorted(done)
    assert done[0] == 1, "the first action of an episode arrives at once"
    assert max(ages) > 2


def test_what_is_told_is_what_the_environment_was_told() -> None:
    env = NetworkAction(Echo(), Network(latency=2))
    env.reset(seed=3)
    for step in range(50):
        observation, *_, info = env.step(np.array([float(step)]))
        assert observation["told"] == info["executed_action"]


def test_idle_is_done_where_no_command_arrives() -> None:
    """A command such as "order a part" must not be repeated because the next one is late."""
    infos = command(NetworkAction(Echo(), Network(latency=2, to_bad=0.05), idle=[-7.0]), 2000)
    done = [int(info["executed_action"][0]) for info in infos]
    idle = [info["action_age"] == -1 for info in infos]
    assert [each == -7 for each in done] == idle
    commands = [each for each in done if each != -7]
    assert len(set(commands)) == len(commands), "no command is done twice"
    assert 0.2 < np.mean(idle) < 0.8
    assert [info["action_age"] for info in command(NetworkAction(Echo(), DEAD, idle=[0.0]), 3)] == [-1, -1, -1]


def test_an_action_that_the_caller_changes_is_done_as_it_was_sent() -> None:
    env = NetworkAction(Echo(), DEAD)
    env.reset(seed=1)
    action = np.array([5.0])
    env.step(action)
    action[:] = 6.0
    assert env.step(action)[0]["told"] == 5.0


def test_off_is_off() -> None:
    assert watch(OFF, 5) == ([0, 1, 2, 3, 4, 5], [0] * 6)
    assert [info["action_age"] for info in command(NetworkAction(Echo(), OFF, idle=[0.0]), 5)] == [0] * 5


def test_ages_of_many_are_whole_numbers() -> None:
    """Gymnasium's vector environments put them into one array."""
    envs = gym.make_vec(
        "CartPole-v1",
        3,
        vectorization_mode="sync",
        wrappers=(
            lambda env: NetworkObservation(env, Network.at(5)),
            lambda env: NetworkAction(env, Network.at(5), idle=0),
        ),
    )
    _, infos = envs.reset(seed=1)
    assert infos["observation_age"].dtype.kind == "i"
    _, _, _, _, infos = envs.step(np.array([0, 1, 0]))
    assert infos["action_age"].dtype.kind == "i"
    assert infos["executed_action"].shape == (3,)
