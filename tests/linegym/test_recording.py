"""Recorded shifts play again, bit by bit."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from line_play import action

from rolf.replay import replay
from rolf_wrappers import RecordTrajectory

HARD = "hybrid/current/opcua/bearing+sensor:3+network:4"


@pytest.mark.parametrize("seed", [5, None])
def test_a_recorded_shift_plays_again(tmp_path: Path, seed: int | None) -> None:
    """Without a seed too: the one that was drawn is in the file."""
    path = tmp_path / "shift.jsonl"
    rng = np.random.default_rng(1)
    with RecordTrajectory(gym.make("linegym:LineEnv-v1", variant=HARD, horizon=40), path) as env:
        for options in (None, None, {"variant": "serial/current/profinet/jam"}):
            _, info = env.reset(seed=seed, options=options)
            for _ in range(40):
                *_, info = env.step(action(info["action_mask"], rng))
            seed = None
    report = replay(path)
    assert report.equal, str(report)
    assert (report.episodes, report.steps) == (3, 120)


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "shift.jsonl"
    with RecordTrajectory(gym.make("linegym:LineEnv-v1", horizon=10), path) as env:
        env.reset(seed=1)
        for _ in range(10):
            env.step(0)
    lines = path.read_text().splitlines()
    lines[8] = lines[8].replace('"tick":7', '"tick":8')
    path.write_text("\n".join(lines) + "\n")
    report = replay(path)
    assert report.divergence is not None
    assert report.divergence.field == "info.tick"


def test_three_numbers_and_dictionaries_are_recorded_too(tmp_path: Path) -> None:
    path = tmp_path / "shift.jsonl"
    made = gym.make("linegym:LineEnv-v1", action="multi", observation="dict", horizon=20)
    made.action_space.seed(2)
    with RecordTrajectory(made, path) as env:
        env.reset(seed=1)
        for _ in range(20):
            env.step(made.action_space.sample())
    assert replay(path).equal
