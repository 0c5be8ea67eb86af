"""CommandAction: a command reaches the shell as it is, a word submits, and what does not fit is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import termgym
from rolf.checks import State, check_all
from rolf.replay import replay
from rolf_wrappers import CommandAction, RecordTrajectory

TERM = "termgym:TermEnv-v1"


@pytest.fixture
def env() -> Iterator[CommandAction]:
    with CommandAction(gym.make(TERM)) as made:
        made.reset(seed=1)
        yield made


@pytest.mark.parametrize("command", ["echo 'a' \"b\" ☕", "printf '%s' '{\"command\": 1}'", "echo one\necho two", ""])
def test_a_command_does_what_it_does_in_a_plan(env: CommandAction, command: str) -> None:
    """Verbatim: quotes, JSON in it, lines."""
    told, reward, *_ = env.step(command)
    with gym.make(TERM) as bare:
        bare.reset(seed=1)
        expected, paid, *_ = bare.step(termgym.plan(command))
    assert {name: told[name] for name in ("stdout", "stderr", "event", "cwd")} == {
        name: expected[name] for name in ("stdout", "stderr", "event", "cwd")
    }
    assert reward == paid


def test_the_word_submits_and_the_command_of_that_name_can_be_run(env: CommandAction) -> None:
    observation, _, terminated, _, info = env.step("command submit")
    assert not terminated
    assert "submit: command not found" in observation["stderr"]
    assert info["call"]["tool"] == "run"
    _, _, terminated, _, info = env.step(" submit\n")
    assert terminated
    assert info["call"] == {"tool": "submit", "arguments": "{}", "malformed": ""}


def test_without_a_word_every_text_is_a_command() -> None:
    with CommandAction(gym.make(TERM), word=None) as env:
        env.reset(seed=1)
        assert not env.step("submit")[2]


def test_defaults_hold_for_each_command() -> None:
    with CommandAction(gym.make(TERM), defaults={"timeout": 0.5, "expected_exit_code": None}) as env:
        env.reset(seed=1)
        observation, _, _, _, info = env.step("sleep 20")
        assert observation["event"] == termgym.Event.TIMEOUT
        assert info["call"]["arguments"] == '{"timeout": 0.5, "expected_exit_code": null, "command": "sleep 20"}'


def test_a_command_that_the_tool_does_not_take_is_a_malformed_step(env: CommandAction) -> None:
    observation, _, _, _, info = env.step("#" * (4 * 2**20 + 1))
    assert observation["event"] == termgym.Event.MALFORMED
    assert "at most 4194304" in info["call"]["malformed"]
    assert env.step("echo on")[0]["stdout"] == "on\n"


def test_another_tool_with_a_main_text_can_be_chosen() -> None:
    with CommandAction(gym.make(TERM), tool="keys") as env:
        env.reset(seed=1)
        assert env.step("q")[4]["call"] == {"tool": "keys", "arguments": '{"keys": "q"}', "malformed": ""}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"defaults": {"timout": 3}}, "did you mean 'timeout'"),
        ({"defaults": {"timeout": 0}}, "timeout: input should be greater than 0"),
        ({"defaults": {"command": "ls"}}, "which is the action itself"),
        ({"word": " submit"}, "without white space"),
        ({"finish": "done"}, "no tool is named 'done'.*word=None"),
        ({"tool": "submit"}, "has a main text and the name 'submit'; its tools: run, keys, submit"),
    ],
)
def test_says_what_does_not_fit_the_environment(settings: dict[str, Any], said: str) -> None:
    with gym.make(TERM) as env, pytest.raises(ValueError, match=said):
        CommandAction(env, **settings)


def test_environments_without_commands_are_refused() -> None:
    with pytest.raises(ValueError, match="no tool of the environment has a main text; its tools: wait, inspect"):
        CommandAction(gym.make("linegym:LineEnv-v1"))
    with pytest.raises(TypeError, match="has no tools"):
        CommandAction(gym.make("CartPole-v1"))


def test_other_objects_are_refused(env: CommandAction) -> None:
    with pytest.raises(TypeError, match="the action is 3; give the text of a command"):
        env.step(3)


def test_what_is_worth_trying_is_text() -> None:
    """What the environment lists as plans, for checks and for whoever explores."""
    with CommandAction(gym.make(TERM)) as env:
        assert "cd /tmp; echo $PWD" in env.metadata["actions"]
        assert not any(each.startswith("{") for each in env.metadata["actions"])


def test_recorded_commands_play_again(tmp_path: Path) -> None:
    path = tmp_path / "commands.jsonl"
    with RecordTrajectory(CommandAction(gym.make(TERM), defaults={"timeout": 20}), path) as env:
        env.reset(seed=7)
        for command in ("mkdir ~/a", "ls ~/missing", "submit"):
            env.step(command)
    assert str(replay(path)).startswith("equal: 3 steps")


def chosen(generator: np.random.Generator, _observation: Any, _info: Any) -> str:
    """Return a command. Samples of text would do too, but for those with a `&`: when such a job speaks nobody knows."""
    commands = ("ls -a", "cd /tmp; echo $PWD", "echo one >> ~/note; cat ~/note", "cat ~/missing", "exit 3", "|", "")
    return commands[int(generator.integers(len(commands)))]


@pytest.mark.slow
def test_an_environment_keeps_what_it_keeps_without() -> None:
    def make() -> gym.Env[Any, Any]:
        return CommandAction(gym.make(TERM, task="git-dirty-pull", max_steps=4))

    # It holds nothing that could be left behind, and one fresh process hashes otherwise than this one.
    report = check_all(make, steps=8, actions=chosen, processes=1, skip=["no_leaks"])
    report.require()
    assert sum(result.state is State.PASSED for result in report.results) >= 8, str(report)
