"""ParamAction: which numbers there are, what they call, and what a mask of them says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from linegym.actions import COMMANDS
from rolf.checks import State, check_all
from rolf.replay import replay
from rolf_wrappers import ParamAction, RecordTrajectory

LINE, TERM = "linegym:LineEnv-v1", "termgym:TermEnv-v1"
COMMANDS_GIVEN = {"command": ["ls -a", "pwd"]}


def terminal(**settings: Any) -> ParamAction:
    return ParamAction(gym.make(TERM, **settings), COMMANDS_GIVEN, tools=["run", "submit"])


def test_every_action_of_a_line_has_its_numbers_and_does_the_same() -> None:
    """All 545, from one moment: the step is that of the environment's own action, to the bit."""
    env, bare = ParamAction(gym.make(LINE)), gym.make(LINE)
    env.reset(seed=7)
    bare.reset(seed=7)
    for _ in range(150):
        env.step(np.zeros(7, np.int64))
        bare.step(0)
    moment = bare.unwrapped.save()  # type: ignore[attr-defined]
    for native in range(0, len(COMMANDS), 4):
        bare.unwrapped.restore(moment)  # type: ignore[attr-defined]
        env.unwrapped.restore(moment)  # type: ignore[attr-defined]
        call = bare.unwrapped.call_of(native)  # type: ignore[attr-defined]
        numbers = env._action_of(call)
        assert numbers is not None
        assert env.call(numbers).tool == call.tool
        stepped, expected = env.step(numbers), bare.step(native)
        assert np.array_equal(stepped[0], expected[0])
        assert stepped[1:4] == expected[1:4]
        assert stepped[4]["call"]["malformed"] == ""


def test_tools_share_a_number_for_the_same_parameter() -> None:
    env = ParamAction(gym.make(LINE))
    assert [(number.name, len(number.values)) for number in env.numbers] == [
        ("tool", 8),
        ("station", 24),
        ("channel", 3),
        ("claim", 10),
        ("part", 8),
        ("quantity", 2),
        ("technician", 6),
    ]
    assert env.numbers[5].values == (1, 3)


def test_a_parameter_with_other_values_has_a_number_of_its_own() -> None:
    values = {"inspect.station": [0, 1], "close.station": [2]}
    env = ParamAction(gym.make(LINE), values, tools=["inspect", "close"])
    assert [number.name for number in env.numbers] == ["tool", "inspect.station", "channel", "close.station"]
    assert env.action_space == spaces.MultiDiscrete([2, 2, 3, 1])
    assert env.call([1, 1, 2, 0]).as_json() == {"tool": "close", "arguments": {"station": 2}}
    assert env.call([0, 1, 2, 0]).as_json() == {"tool": "inspect", "arguments": {"station": 1, "channel": 2}}


def test_the_mask_tells_what_occurs_in_a_possible_call() -> None:
    """Compared with going through all of them one by one, in many states."""
    env = ParamAction(gym.make(LINE))
    env.action_space.seed(3)
    _, told = env.reset(seed=7)
    bare = gym.make(LINE)
    _, info = bare.reset(seed=7)
    sizes = [len(number.values) for number in env.numbers]
    firsts = np.cumsum([0, *sizes])
    different = set()
    for _ in range(100):
        expected = np.zeros(sum(sizes), bool)
        for native in np.flatnonzero(info["action_mask"]):
            call = bare.unwrapped.call_of(int(native))  # type: ignore[attr-defined]
            numbers = env._action_of(call)
            assert numbers is not None
            expected[numbers[0]] = True
            for at in range(1, len(sizes)):
                if env.numbers[at].name in {"channel": 0, **call.arguments} and takes(call.tool, env.numbers[at].name):
                    expected[firsts[at] + numbers[at]] = True
        for at in range(len(sizes)):
            if not expected[firsts[at] : firsts[at + 1]].any():
                expected[firsts[at] : firsts[at + 1]] = True
        assert np.array_equal(told["action_mask"] == 1, expected)
        assert np.array_equal(env.action_masks(), expected)
        different.add(told["action_mask"].tobytes())
        action = env.action_space.sample()
        told = env.step(action)[4]
        _, _, _, _, info = bare.step(native_of(env, bare, action))
    assert len(different) > 3


def takes(tool: str, parameter: str) -> bool:
    return parameter != "channel" or tool == "inspect"


def native_of(env: ParamAction, bare: gym.Env[Any, Any], action: Any) -> int:
    return int(bare.unwrapped.action_of(env.call(action)))  # type: ignore[attr-defined]


def test_commands_are_run_in_a_terminal() -> None:
    with terminal() as env:
        _, info = env.reset(seed=1)
        assert "action_mask" not in info
        assert env.action_masks().tolist() == [True] * 4
        observation, _, _, _, info = env.step([0, 1])
        assert observation["stdout"] == "/home/agent\n"
        assert info["call"] == {"tool": "run", "arguments": '{"command": "pwd"}', "malformed": ""}
        assert env.step([1, 0])[2]


def test_an_optional_parameter_keeps_its_default_and_can_be_given_values() -> None:
    with ParamAction(gym.make(TERM), {"timeout": [5, 30], **COMMANDS_GIVEN}, tools=["run"]) as env:
        assert [number.name for number in env.numbers] == ["tool", "command", "timeout"]
        assert env.call([0, 0, 1]).arguments == {"command": "ls -a", "timeout": 30}


@pytest.mark.parametrize(
    ("name", "values", "tools", "said"),
    [
        (TERM, {}, None, r"run.command can be too much.*give values=\{'run.command': \[…\]\}, or leave the tool out"),
        (LINE, {"statoin": [1]}, None, "values: 'statoin' is no parameter; parameters: inspect.station"),
        (LINE, {"station": [24]}, None, "values: inspect: station: input should be less than or equal to 23"),
        (LINE, {"station": [1, 1]}, None, "inspect.station has a value twice"),
        (LINE, {"station": []}, None, "inspect.station can be too much"),
        (LINE, {}, ["oder"], "no tool is named 'oder'; tools: wait"),
        (LINE, {}, [], "names none, or one twice"),
        (LINE, {}, ["wait", "wait"], "names none, or one twice"),
        (TERM, {"timeout": [-1], **COMMANDS_GIVEN}, ["run"], "values: run: timeout"),
    ],
)
def test_says_what_is_wrong(name: str, values: dict[str, Any], tools: list[str] | None, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ParamAction(gym.make(name), values, tools=tools)


def test_what_is_no_action_is_an_error() -> None:
    env = ParamAction(gym.make(LINE), tools=["wait", "close"])
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        env.action_masks()
    env.reset(seed=1)
    for action in ([2, 0], [0], [0, -1], [0.0, 0.0], "wait", None):
        with pytest.raises(ValueError, match=r"give 2 whole numbers below \[2, 24\]"):
            env.step(action)


def test_an_environment_without_tools_is_refused() -> None:
    with pytest.raises(TypeError, match="has no tools to be called"):
        ParamAction(gym.make("CartPole-v1"))


def test_recorded_numbers_play_again(tmp_path: Path) -> None:
    path = tmp_path / "numbers.jsonl"
    with RecordTrajectory(ParamAction(gym.make(LINE), {"station": [0, 5]}), path) as env:
        env.reset(seed=7)
        env.action_space.seed(1)
        for _ in range(5):
            env.step(env.action_space.sample())
    assert str(replay(path)).startswith("equal: 5 steps")


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: ParamAction(gym.make(LINE, horizon=6)), id="line"),
        pytest.param(lambda: terminal(task="git-dirty-pull", max_steps=4), id="terminal"),
    ],
)
def test_an_environment_keeps_what_it_keeps_without(make: Callable[[], Any]) -> None:
    # It holds nothing that could be left behind, and one fresh process hashes otherwise than this one.
    report = check_all(make, steps=8, processes=1, skip=["no_leaks"])
    report.require()
    assert sum(result.state is State.PASSED for result in report.results) >= 8, str(report)
