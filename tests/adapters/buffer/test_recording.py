"""Episodes of real environments, on their way into a buffer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import termgym
from rolf_adapters.buffer import Edge, KeepTrajectories, TrajectoryBuffer


def test_a_shift_is_kept_as_it_was_played(tmp_path: Path) -> None:
    """Observations, actions, rewards, what was asked for of info, and the environment's own seeds are untouched."""
    plain = gym.make("linegym:LineEnv-v1", horizon=40)
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        env = KeepTrajectories(gym.make("linegym:LineEnv-v1", horizon=40), buffer, env_id="line", keep=("phase",))
        rewards, phases = [], []
        for made, seed in ((env, 3), (plain, 3)):
            seen, info = made.reset(seed=seed)
            for step in range(40):
                if made is plain:
                    phases.append(info["phase"])
                seen, reward, _, over, info = made.step(step)
                rewards.append(reward)
        assert over
        assert rewards[:40] == rewards[40:]
        buffer.commit()
        kept = buffer.episode(0)
        assert (kept.env_id, kept.timestamp, len(kept), kept.terminated) == ("line", 0, 40, False)
        assert kept.rewards.tolist() == rewards[40:]
        assert np.asarray(kept.actions["action"]).tolist() == list(range(40))
        assert np.asarray(kept.extras["phase"]).tolist() == phases
        assert np.array_equal(kept.states["observation"][40], seen)
        env.reset()
        env.step(0)
        env.reset()
        for _ in range(40):
            env.step(0)
        buffer.commit()
        assert len(buffer) == 2, "what is not played to its end is left out"
        assert buffer.episode(1).timestamp == 1
        assert env.timestamp == 2


def test_a_terminals_texts_and_edges_are_kept(tmp_path: Path) -> None:
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        env = KeepTrajectories(gym.make("termgym:TermEnv-v1"), buffer, env_id="shell", timestamp=70)
        env.reset(seed=0)
        for action in (termgym.plan("echo größer > a"), termgym.plan("cat a"), termgym.submit()):
            _, _, terminated, _, _ = env.step(action)
        env.close()
        assert terminated
        buffer.commit()
        node = buffer.node("shell:1:70")
        assert node.action["action"] == termgym.plan("cat a")
        assert node.next_state["stdout"] == "größer\n"
        assert list(buffer.graph(0)) == [Edge(0, 1, "file")]


class Faulty(gym.Env[Any, Any]):
    """Ends after two steps; the machine fails in every second episode."""

    observation_space = gym.spaces.Text(9)
    action_space = gym.spaces.Discrete(2)
    episode = steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.episode, self.steps = self.episode + 1, 0
        return "begin", {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        over = self.steps == 2
        return "x" * self.steps, 1.0, over, False, {"masked": over and self.episode % 2 == 0}


def test_what_the_machine_failed_is_left_out(tmp_path: Path) -> None:
    """A fault of the infrastructure is no experience."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        env = KeepTrajectories(Faulty(), buffer, env_id="f")
        for _ in range(4):
            env.reset()
            env.step(0)
            env.step(1)
        buffer.commit()
        assert [each.timestamp for each in buffer.episodes(buffer.numbers)] == [0, 1]
        assert list(buffer.episode(1).states["observation"]) == ["begin", "x", "xx"]


def test_what_cannot_be_kept_is_told_at_once(tmp_path: Path) -> None:
    """At the reset, not after an hour of playing."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        env = KeepTrajectories(Faulty(), buffer, env_id="f", keep=("phase",))
        with pytest.raises(KeyError, match="info has no 'phase', which is to be kept"):
            env.reset()

        class Nested(Faulty):
            def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
                return {"a": {"b": 1}}, {}

        with pytest.raises(TypeError, match=r"'a' is .*a buffer keeps numbers, arrays, texts"):
            KeepTrajectories(Nested(), buffer, env_id="n").reset()
