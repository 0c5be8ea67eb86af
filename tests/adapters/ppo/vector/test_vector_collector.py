"""What is collected is what happened: ends, resets, previous actions, and the value where an episode was cut off."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rolf_adapters.ppo.vector.asking import UnknownVariant
from rolf_adapters.ppo.vector.collector import Collector, Telling
from rolf_adapters.ppo.vector.making import made
from rolf_adapters.ppo.vector.network import Network, Seen, Size
from rolf_adapters.ppo.vector.settings import Policy

ID, DRIFTS, ONCE = "rolf-test/Steps-v0", "rolf-test/Drifts-v0", "rolf-test/Once-v0"
TELLING = Telling("action_mask", "phase")


class Steps(gym.Env[Any, Any]):
    """Counts its steps from the seed on; terminates after 3 where the seed is even, is cut off after 2 otherwise."""

    observation_space = gym.spaces.Box(0, 1000, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._first = seed
        self._step = 0
        return self._seen(), {"phase": 1}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._step += 1
        even = self._first % 2 == 0
        ended, cut = even and self._step == 3, not even and self._step == 2
        return self._seen(), float(self._step), ended, cut, {"phase": 2, "success": ended}

    def _seen(self) -> Any:
        return np.array([10 * self._first + self._step], np.float32)


gym.register(ID, entry_point=Steps, disable_env_checker=True)


class Reads(nn.Module):
    """Values an observation as what it is, and prefers action 1."""

    def forward(self, seen: Seen, normal: Tensor) -> tuple[Tensor, Tensor]:
        return torch.tensor([[0.0, 1.0]]).expand(len(normal), 2), seen.features[:, 0]


class Drifts(Steps):
    """Plays the variant that it is asked for once, and another one from its second episode on."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        seen, info = super().reset(seed=seed)
        return seen, info | {"variant_id": (options or {}).get("variants", ["other"])[0]}


gym.register(DRIFTS, entry_point=Drifts, disable_env_checker=True)


class Once(Steps):
    """Tells a mask and a phase as an episode begins, and neither in its steps."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        seen, _ = super().reset(seed=seed)
        return seen, {"action_mask": np.array([1, 0], np.int8), "phase": 1}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return *super().step(action)[:4], {}


gym.register(ONCE, entry_point=Once, disable_env_checker=True)


@pytest.fixture
def network() -> Network:
    found = Network(Size(1, 1, 0, (2,)), Policy(), None)
    found.body = Reads()
    return found


@pytest.fixture
def collector() -> Any:
    envs = made(ID, 2, {})
    yield Collector(envs, (2,), True, None, TELLING)
    envs.close()


def test_variants_are_held_against_what_each_episode_tells(network: Network) -> None:
    """Not the first episode of a row alone: what it plays after that is learned from too."""
    envs = made(DRIFTS, 1, {})
    collector = Collector(envs, (2,), True, None, TELLING)
    assert collector.collect(network, 2, [7], options={"variants": ["mine"]}).rewards.tolist() == [[1], [2]]
    with pytest.raises(UnknownVariant, match="asked for the variant 'mine' in row 0 and tells 'other'"):
        collector.collect(network, 3, [7], options={"variants": ["mine"]})
    assert len(collector.collect(network, 3, [7]).episodes) == 1, "where nothing is asked for, it may play anything"
    envs.close()


def test_a_mask_and_a_phase_hold_for_the_step_that_tells_them(network: Network) -> None:
    """Where none is told all actions are possible, as for whoever plays what was learned; the neighbour's reset in step
    2 or 3 changes nothing."""
    envs = made(ONCE, 2, {})
    kept = Collector(envs, (2,), True, None, TELLING).collect(network, 5, [4, 7])
    envs.close()
    begins = np.array([[1, 1], [0, 0], [0, 1], [1, 0], [0, 1]]) == 1
    assert (kept.allowed[:, :, 1] != begins).all()
    assert kept.allowed[:, :, 0].all()
    assert (kept.actions[:, :, 0] != begins).all()
    assert (kept.phases == begins).all()


def test_waits_after_each_decision_until_a_row_ends(network: Network) -> None:
    """Row 0 has seed 4 and terminates with its third step, row 1 has seed 7 and is cut off with its second."""
    envs = made(ID, 2, {})
    kept = Collector(envs, (2,), True, None, TELLING, waits=1).collect(network, 4, [4, 7])
    envs.close()
    assert kept.features[:, :, 0].tolist() == [[40, 70], [42, 70], [40, 71], [41, 70]]
    assert kept.time.tolist() == [[0, 0], [1, 0], [0, 1], [1, 0]]
    assert kept.rewards.tolist() == [[3, 3], [3, 1], [1, 2], [5, 3]]
    assert np.argwhere(kept.terminated).tolist() == [[1, 0], [3, 0]]
    assert np.argwhere(kept.truncated).tolist() == [[0, 1], [2, 1], [3, 1]]
    assert kept.actions.all(), "what was decided, and not that it waited"
    assert [each.total for each in kept.episodes] == [3, 6, 3, 6, 3]


def test_ends_resets_and_values_are_what_happened(network: Network, collector: Collector) -> None:
    """Row 0 has seed 4 and terminates with its third step, row 1 has seed 7 and is cut off with its second."""
    kept = collector.collect(network, 5, [4, 7])
    assert kept.features[:, :, 0].tolist() == [[40, 70], [41, 71], [42, 70], [40, 71], [41, 70]]
    assert kept.values.tolist() == kept.features[:, :, 0].tolist()
    assert kept.rewards.tolist() == [[1, 1], [2, 2], [3, 1], [1, 2], [2, 1]]
    assert np.argwhere(kept.terminated).tolist() == [[2, 0]]
    assert np.argwhere(kept.truncated).tolist() == [[1, 1], [3, 1]]
    assert kept.finals[kept.truncated].tolist() == [72, 72]
    assert kept.last.tolist() == [42, 71]
    assert kept.after[:, 0].tolist() == [42, 71]
    assert kept.time.tolist() == [[0, 0], [1, 1], [2, 0], [0, 1], [1, 0]]
    assert kept.previous[:, :, 0].tolist() == [[0, 0], [2, 2], [2, 0], [0, 2], [2, 0]]
    assert kept.phases.tolist() == [[1, 1], [2, 2], [2, 1], [1, 2], [2, 1]]
    assert kept.logps == pytest.approx(np.log(np.e / (1 + np.e)))


def test_episodes_are_told_as_they_end(network: Network, collector: Collector) -> None:
    kept = collector.collect(network, 5, [4, 7])
    assert [(each.row, each.total, each.length, each.success) for each in kept.episodes] == [
        (1, 3.0, 2, 0.0),
        (0, 6.0, 3, 1.0),
        (1, 3.0, 2, 0.0),
    ]
    assert kept.episodes[0].entropy == pytest.approx(kept.entropies[0, 1], abs=1e-6)


def test_an_episode_that_ends_with_the_last_step_is_not_begun_anew(network: Network, collector: Collector) -> None:
    """Nobody would see its beginning, and the value after the end is not read."""
    kept = collector.collect(network, 2, [4, 7])
    assert kept.truncated[1].tolist() == [False, True]
    assert kept.after[:, 0].tolist() == [42, 72]


def test_once_stops_when_every_row_has_ended(network: Network, collector: Collector) -> None:
    kept = collector.collect(network, 1000, [4, 7], once=True)
    assert [each.row for each in kept.episodes] == [1, 0]
    assert len(kept.rewards) == 1


def test_who_guides_is_followed_where_it_guides(network: Network, collector: Collector) -> None:
    class Zero:
        def __init__(self) -> None:
            self.begun: list[list[bool]] = []

        def begin(self, envs: Any, rows: Any) -> None:
            self.begun.append(rows.tolist())

        def act(self, observations: Any, infos: Any) -> Any:
            assert observations.shape == (2, 1)
            return np.zeros(2, np.int64)

    teacher = Zero()
    kept = collector.collect(network, 3, [4, 7], teacher=teacher, guided=np.array([True, False]))
    assert kept.taught[:, :, 0].tolist() == [[0, 0]] * 3
    assert kept.actions[:, :, 0].tolist() == [[0, 1]] * 3
    assert kept.logps[0] == pytest.approx(np.log([1 / (1 + np.e), np.e / (1 + np.e)]))
    assert teacher.begun == [[True, True], [False, True]]


def test_an_environments_own_vector_environment_is_taken_where_it_can_leave_rows_alone() -> None:
    line = made("linegym:LineEnv-v1", 2, {"variants": "fit"})
    pole = made("CartPole-v1", 2, {})
    assert type(line.unwrapped).__name__ == "LineVectorEnv"
    assert type(pole.unwrapped).__name__ == "SyncVectorEnv"
    for each in (line, pole):
        assert each.metadata["autoreset_mode"].value == "Disabled"
        each.close()
