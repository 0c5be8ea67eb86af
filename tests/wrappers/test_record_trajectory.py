"""RecordTrajectory: what it writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest

from rolf_wrappers import MetricsInfo, RecordTrajectory


class Counter(gym.Env[int, int]):
    """Counts; knows what it costs and what state it is in, as the project's environments do."""

    observation_space = gym.spaces.Discrete(100)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, start: Any = 0) -> None:
        self.start = start
        self.count = 0

    @property
    def metrics(self) -> dict[str, Any]:
        return {"wall_s": 0.5}

    def state_digest(self) -> str:
        return f"digest-{self.count}"

    def diff(self) -> tuple[str, ...]:
        return (f"count is {self.count}",)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.count += 1
        return self.count, 1.0, self.count == 2, False, {"reward_terms": {"count": 1.0}}


gym.register("Counter-v0", entry_point=Counter)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_writes_a_line_for_everything_that_happens(tmp_path: Path) -> None:
    with RecordTrajectory(gym.make("Counter-v0", start=3), tmp_path / "t.jsonl") as env:
        env.reset(seed=5)
        env.step(0)
        env.step(1)
        env.reset()
    header, *rest = lines(tmp_path / "t.jsonl")
    assert header["kwargs"] == {"start": 3}
    assert header["packages"]["gymnasium"] == gym.__version__
    assert [line["type"] for line in rest] == ["reset", "step", "step", "final", "reset", "final"]
    assert rest[0]["seed"] == 5
    assert rest[1]["action"] == [0]
    assert rest[1]["info"]["reward_terms"] == {"count": 1.0}
    assert "reward_terms" not in rest[1], "each fact is told once"
    assert rest[2]["terminated"] is True
    assert rest[3] == {
        "type": "final",
        "steps": 2,
        "episode_return": 2.0,
        "state_digest": "digest-2",
        "diff": ["count is 2"],
    }
    assert rest[5]["steps"] == 0


def test_the_end_of_an_episode_is_on_disk_when_its_last_step_returns(tmp_path: Path) -> None:
    """A trainer may be killed at any time; what an episode left behind must not wait for the next reset."""
    env = RecordTrajectory(gym.make("Counter-v0"), tmp_path / "t.jsonl")
    env.reset(seed=5)
    env.step(0)
    env.step(1)
    assert lines(tmp_path / "t.jsonl")[-1]["type"] == "final"
    env.close()


def test_refuses_arguments_that_could_not_be_replayed(tmp_path: Path) -> None:
    """Better an error before the first step than a file that is worth nothing after the last."""
    with pytest.raises(ValueError, match=r"argument start=.* is not plain data"):
        RecordTrajectory(gym.make("Counter-v0", start=np.array([1])), tmp_path / "t.jsonl")
    assert not (tmp_path / "t.jsonl").exists()


def test_refuses_an_environment_that_was_not_made_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no spec"):
        RecordTrajectory(Counter(), tmp_path / "t.jsonl")


def test_refuses_a_wrapper_that_could_not_be_made_again(tmp_path: Path) -> None:
    class Silent(gym.Wrapper[Any, Any, Any, Any]):
        pass

    with pytest.raises(ValueError, match="Silent does not record its arguments"):
        RecordTrajectory(Silent(gym.make("Counter-v0")), tmp_path / "t.jsonl")


def test_changes_nothing_of_what_passes_through(tmp_path: Path) -> None:
    bare = gym.make("Counter-v0")
    with RecordTrajectory(gym.make("Counter-v0"), tmp_path / "t.jsonl") as env:
        assert env.reset(seed=1) == bare.reset(seed=1)
        assert env.step(0) == bare.step(0)
        env.close()
    bare.close()


def test_measured_figures_are_declared_volatile(tmp_path: Path) -> None:
    """What MetricsInfo adds differs in every run, so a replay must not stumble over it."""
    with RecordTrajectory(MetricsInfo(gym.make("Counter-v0")), tmp_path / "t.jsonl") as env:
        _, info = env.reset(seed=1)
    assert info == {"metrics": {"wall_s": 0.5}}
    assert lines(tmp_path / "t.jsonl")[0]["volatile"] == ["info.metrics"]


def test_what_could_not_be_measured_is_left_out() -> None:
    """None in one row and a number in the next is what Gymnasium's vector environments stumble over."""

    class Unmeasured(gym.Env[int, int]):
        metrics: ClassVar = {"wall_s": 0.5, "cpu_s": None}

        def reset(self, **_: Any) -> tuple[int, dict[str, Any]]:
            return 0, {}

    assert MetricsInfo(Unmeasured()).reset()[1] == {"metrics": {"wall_s": 0.5}}


def test_metrics_info_wants_something_to_copy() -> None:
    with pytest.raises(TypeError, match="has no metrics"):
        MetricsInfo(gym.make("CartPole-v1"))
