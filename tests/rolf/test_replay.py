"""Replay: the same actions in a fresh environment, and the first difference by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rolf.replay import replay
from rolf.trajectory import TrajectoryError
from rolf_wrappers import RecordCast, RecordTrajectory


def record(path: Path, *, steps: int = 30, seed: int | None = 7, **settings: Any) -> Path:
    with RecordTrajectory(gym.make("CartPole-v1", **settings), path) as env:
        env.reset(seed=seed)
        for step in range(steps):
            *_, terminated, truncated, _ = env.step(step % 2)
            if terminated or truncated:
                env.reset()
    return path


def edit(path: Path, line: int, field: str, value: object) -> None:
    lines = path.read_text().splitlines()
    content = json.loads(lines[line - 1])
    content[field] = value
    lines[line - 1] = json.dumps(content)
    path.write_text("\n".join(lines) + "\n")


def test_finds_nothing_where_nothing_differs(tmp_path: Path) -> None:
    report = replay(record(tmp_path / "t.jsonl", steps=120))
    assert report.equal
    assert report.exit_code == 0
    assert report.steps == 120
    assert report.episodes > 1
    assert str(report) == f"equal: 120 steps in {report.episodes} episodes of gymnasium:CartPole-v1"


def test_a_seed_drawn_by_chance_is_written_down(tmp_path: Path) -> None:
    """`reset()` without a seed begins somewhere nobody chose; the file must still be replayable."""
    assert replay(record(tmp_path / "t.jsonl", seed=None)).equal


def test_names_the_first_divergence(tmp_path: Path) -> None:
    path = record(tmp_path / "t.jsonl")
    edit(path, 10, "reward", 0.25)
    edit(path, 12, "reward", 0.5)
    report = replay(path)
    assert report.exit_code == 1
    assert report.divergence is not None
    found = report.divergence
    assert (found.line, found.episode, found.step, found.field) == (10, 0, 7, "reward")
    assert (found.recorded, found.got) == ("0.25", "1.0")
    assert report.steps == 7
    assert "episode 0, step 7: reward differs (line 10 of the file)" in str(report)


def test_names_a_field_deep_inside(tmp_path: Path) -> None:
    path = record(tmp_path / "t.jsonl")
    edit(path, 4, "info", {"nested": [{"a": 1}]})
    report = replay(path)
    assert report.divergence is not None
    assert report.divergence.field == "info.nested"
    assert report.divergence.got == "nothing"


def test_a_file_of_the_first_version_is_read(tmp_path: Path) -> None:
    """Those said a step's reward terms twice, in the line and in its info; they must stay good for a replay."""
    path = record(tmp_path / "t.jsonl")
    edit(path, 4, "reward_terms", {"upright": 1.0})
    assert replay(path).equal


def test_an_observation_is_named_before_the_reward_that_follows_from_it(tmp_path: Path) -> None:
    path = record(tmp_path / "t.jsonl")
    edit(path, 5, "reward", 9.0)
    edit(path, 5, "observation", [0.0, 0.0, 0.0, 0.0])
    report = replay(path)
    assert report.divergence is not None
    assert report.divergence.field == "observation[0]"


def test_shows_long_values_around_their_difference(tmp_path: Path) -> None:
    """Two outputs of 30 kB that differ in one byte: the byte is what a person wants to see."""
    path = record(tmp_path / "t.jsonl")
    edit(path, 4, "info", "x" * 5000 + "HERE" + "y" * 5000)
    report = replay(path)
    assert report.divergence is not None
    assert len(report.divergence.recorded) < 250
    assert report.divergence.got == "{}"


def test_compares_what_a_crash_left(tmp_path: Path) -> None:
    path = record(tmp_path / "t.jsonl")
    path.write_bytes(path.read_bytes()[:-400])
    report = replay(path)
    assert report.equal
    assert report.cut is not None
    assert "the file is not whole: line" in str(report)


def test_says_that_there_is_nothing_to_replay(tmp_path: Path) -> None:
    with RecordTrajectory(gym.make("CartPole-v1"), tmp_path / "t.jsonl"):
        pass
    with pytest.raises(TrajectoryError, match="holds no episode: it ends after its header"):
        replay(tmp_path / "t.jsonl")


def test_wrappers_inside_the_recorder_are_made_again(tmp_path: Path) -> None:
    env = gym.wrappers.ClipReward(gym.make("CartPole-v1", max_episode_steps=5), 0.0, 0.5)
    with RecordTrajectory(env, tmp_path / "t.jsonl") as recorder:
        recorder.reset(seed=1)
        for _ in range(5):
            *_, truncated, _ = recorder.step(0)
    assert truncated
    report = replay(tmp_path / "t.jsonl")
    assert report.equal, report
    assert report.steps == 5


def test_recorders_inside_do_not_write_again(tmp_path: Path) -> None:
    """A replay that overwrote the films and casts of the run it is about would destroy evidence."""
    env = RecordCast(gym.make("termgym:TermEnv-v1"), tmp_path / "t.cast")
    with RecordTrajectory(env, tmp_path / "t.jsonl") as recorder:
        recorder.reset(seed=1)
        recorder.step('{"command": "echo hello"}')
    before = (tmp_path / "t.cast").read_bytes()
    assert replay(tmp_path / "t.jsonl").equal
    assert (tmp_path / "t.cast").read_bytes() == before


class WholeNumbers(gym.Env[int, int]):
    """Pays in whole numbers and says NumPy's truth, as some of Gymnasium's own do."""

    observation_space = gym.spaces.Discrete(3)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, Any, Any, Any, dict[str, Any]]:
        return 1, 1, np.False_, np.False_, {}


gym.register("WholeNumbers-v0", entry_point=WholeNumbers, disable_env_checker=True)


def test_a_reward_in_whole_numbers_is_no_divergence(tmp_path: Path) -> None:
    with RecordTrajectory(gym.make("WholeNumbers-v0"), tmp_path / "t.jsonl") as env:
        env.reset(seed=1)
        env.step(0)
    edit(tmp_path / "t.jsonl", 1, "env_id", "WholeNumbers-v0")  # this module cannot be imported by name
    assert replay(tmp_path / "t.jsonl").equal


@pytest.mark.parametrize(("line", "field"), [(1, "env_id"), (1, "kwargs"), (2, "seed"), (3, "action")])
def test_says_what_a_damaged_file_lacks(tmp_path: Path, line: int, field: str) -> None:
    path = record(tmp_path / "t.jsonl", steps=2)
    lines = [json.loads(each) for each in path.read_text().splitlines()]
    del lines[line - 1][field]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    with pytest.raises(TrajectoryError, match=f"line {line}: a .* needs '{field}'"):
        replay(path)


def test_says_which_package_a_file_wants(tmp_path: Path) -> None:
    path = record(tmp_path / "t.jsonl")
    edit(path, 1, "env_id", "no_such_package:CartPole-v1")
    with pytest.raises(TrajectoryError, match=r"'no_such_package', which .* cannot be imported here"):
        replay(path)


def test_an_unknown_environment_is_an_error_of_its_own(tmp_path: Path) -> None:
    path = record(tmp_path / "t.jsonl")
    edit(path, 1, "env_id", "gymnasium:NoSuchEnv-v9")
    with pytest.raises(gym.error.Error, match="NoSuchEnv"):
        replay(path)


def record_terminal(path: Path, **settings: Any) -> Path:
    """Record an episode in the real terminal, its end included."""
    with RecordTrajectory(gym.make("termgym:TermEnv-v1", **settings), path) as env:
        env.reset(seed=11)
        for command in ("ls -la ~", "cd /tmp; echo $$; false", "exit 3", "cat"):
            env.step(json.dumps({"command": command}))
        env.step('{"keys": "C-d"}')
        env.step("no plan")
        env.step('{"submit": true}')
    return path


def test_a_terminal_episode_is_done_again_to_the_same_files(tmp_path: Path) -> None:
    """The promise of termgym: same task, seed and actions give the same observations and the same final digest."""
    path = record_terminal(tmp_path / "t.jsonl", task="permission-denied", limits={"memory_bytes": 1 << 28})
    report = replay(path)
    assert report.equal, report
    assert report.steps == 7
    final = json.loads(path.read_text().splitlines()[-1])
    assert final["type"] == "final"
    assert len(final["state_digest"]) == 64


@pytest.mark.parametrize("moment", ["in a step", "between steps", "at the end"])
def test_a_recorder_outlives_the_machine(tmp_path: Path, moment: str) -> None:
    """A machine that fails is masked by the environment; the recorder must not turn that into an exception."""
    env = RecordTrajectory(gym.make("termgym:TermEnv-v1", backend="local-unsafe"), tmp_path / "t.jsonl")
    env.reset(seed=1)
    env.step(json.dumps({"command": "true"}))
    world: Any = env.unwrapped
    supervisor = world.episode._sandbox._supervisor._process
    supervisor.kill()
    supervisor.wait()
    if moment == "in a step":
        assert env.step(json.dumps({"command": "exit"}))[4]["masked"]
    if moment != "at the end":
        env.reset(seed=1)
        env.step(json.dumps({"command": "true"}))
    env.close()
    finals = [
        each for each in map(json.loads, (tmp_path / "t.jsonl").read_text().splitlines()) if each["type"] == "final"
    ]
    assert finals[0]["unknown"]
    assert len(finals) == 1 if moment == "at the end" else finals[1]["state_digest"]


def test_an_end_that_nobody_could_tell_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with RecordTrajectory(gym.make("termgym:TermEnv-v1"), path) as env:
        env.reset(seed=1)
        env.step(json.dumps({"command": "true"}))
    lines = path.read_text().splitlines()
    lines[-1] = json.dumps({"type": "final", "steps": 1, "episode_return": 0.0, "unknown": "the machine was lost"})
    path.write_text("\n".join(lines) + "\n")
    assert replay(path).equal


def test_a_terminals_divergence_is_named_by_observation_key(tmp_path: Path) -> None:
    path = record_terminal(tmp_path / "t.jsonl")
    lines = path.read_text().splitlines()
    content = json.loads(lines[3])
    content["observation"]["stdout"] += "more\n"
    lines[3] = json.dumps(content)
    path.write_text("\n".join(lines) + "\n")
    report = replay(path)
    assert report.divergence is not None
    assert (report.divergence.step, report.divergence.field) == (1, "observation.stdout")


def test_an_unfinished_episode_is_compared_by_its_files(tmp_path: Path) -> None:
    """A trainer that was stopped between two steps has still left a state."""
    path = tmp_path / "t.jsonl"
    with RecordTrajectory(gym.make("termgym:TermEnv-v1"), path) as env:
        env.reset(seed=1)
        env.step('{"command": "echo x > ~/f"}')
    assert replay(path).equal
    edit(path, 4, "state_digest", "0" * 64)
    report = replay(path)
    assert report.divergence is not None
    assert report.divergence.field == "state_digest"
