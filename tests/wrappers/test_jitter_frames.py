"""Load as frames: the AR(2) law, and what a decision is worth."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rolf_wrappers import Jitter, JitterFrames


class Clock(gym.Env[int, int]):
    """Counts; every step is worth its number."""

    observation_space = gym.spaces.Discrete(10**9)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, length: int = 10**8) -> None:
        self.length = length

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.count += 1
        return self.count, float(self.count), self.count == self.length, False, {"count": self.count}


def frames(jitter: Jitter, steps: int, nominal: int = 1000, seed: int = 0) -> np.ndarray[Any, Any]:
    env = JitterFrames(Clock(), jitter, frames=nominal)
    env.reset(seed=seed)
    return np.array([env._cycle() for _ in range(steps)])


def test_the_offset_is_the_mission_s_ar_2() -> None:
    """dT[n] = 0.7 dT[n-1] + 0.2 dT[n-2] + e, sd(e) = 0.05: sd(dT) = 0.105, and lag-one correlation 0.7 / 0.8."""
    offsets = frames(Jitter.at(1), 40_000, nominal=10_000) / 10_000 - 1
    assert offsets.std() == pytest.approx(0.1054, rel=0.05)
    assert np.corrcoef(offsets[1:], offsets[:-1])[0, 1] == pytest.approx(0.875, abs=0.015)
    noise = offsets[2:] - 0.7 * offsets[1:-1] - 0.2 * offsets[:-2]
    assert noise.std() == pytest.approx(0.05, rel=0.02)


def test_a_cycle_keeps_to_its_limits() -> None:
    lengths = frames(Jitter(deviation=5.0), 2000)
    assert (lengths.min(), lengths.max()) == (250, 4000)


def test_fractions_of_a_frame_are_carried_over() -> None:
    """Otherwise time would run fast or slow by up to a frame a decision."""
    few, many = frames(Jitter.at(1), 3000, nominal=4), frames(Jitter.at(1), 3000, nominal=4000)
    assert few.sum() == pytest.approx(many.sum() / 1000, abs=2)


def test_a_decision_takes_one_frame_at_least() -> None:
    assert frames(Jitter(deviation=1.0), 500, nominal=1).min() == 1


def test_a_decision_is_worth_all_its_frames() -> None:
    env = JitterFrames(Clock(), Jitter.at(5), frames=10)
    env.reset(seed=1)
    before = 0
    for _ in range(20):
        count, reward, *_, info = env.step(1)
        assert count - before == info["frames"]
        assert reward == sum(range(before + 1, count + 1))
        assert info["count"] == count
        before = count


def test_an_episode_ends_within_a_decision() -> None:
    env = JitterFrames(Clock(length=7), Jitter.at(0), frames=5)
    env.reset(seed=1)
    assert env.step(0)[4]["frames"] == 5
    count, _, terminated, truncated, info = env.step(0)
    assert (count, terminated, truncated, info["frames"]) == (7, True, False, 2)


def test_an_episode_begins_unloaded() -> None:
    """Neither offset nor fraction of the episode before is left."""
    env = JitterFrames(Clock(), Jitter.at(5), frames=10)
    env.reset(seed=1)
    first = [env.step(0)[4]["frames"] for _ in range(10)]
    env.reset(seed=1)
    assert [env.step(0)[4]["frames"] for _ in range(10)] == first
