"""ToolCallAction: which shapes are understood, and what becomes of those that are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import termgym
from rolf.checks import State, check_all
from rolf.replay import replay
from rolf_wrappers import RecordTrajectory, ToolCallAction

LINE = "linegym:LineEnv-v1"
ARGUMENTS = {"technician": 0, "station": 3}
OWN = {"tool": "dispatch", "arguments": ARGUMENTS}
FUNCTION = {"name": "dispatch", "arguments": json.dumps(ARGUMENTS)}
ENTRY = {"id": "call_0", "type": "function", "function": FUNCTION}
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [ENTRY]}


@pytest.mark.parametrize("shape", [OWN, FUNCTION, ENTRY, MESSAGE], ids=["own", "function", "entry", "message"])
@pytest.mark.parametrize("form", [dict, json.dumps], ids=["mapping", "text"])
def test_every_shape_of_a_call_does_what_it_says(shape: dict[str, Any], form: Callable[[Any], Any]) -> None:
    """The step is the one that the environment's own action takes."""
    env, bare = ToolCallAction(gym.make(LINE)), gym.make(LINE)
    env.reset(seed=7)
    bare.reset(seed=7)
    native = next(
        number
        for number in range(545)
        if bare.unwrapped.call_of(number).as_json() == {**OWN}  # type: ignore[attr-defined]
    )
    observation, reward, _, _, info = env.step(form(shape))
    expected, paid, *_ = bare.step(native)
    assert info["call"] == {"tool": "dispatch", "arguments": json.dumps(ARGUMENTS), "malformed": ""}
    assert np.array_equal(observation, expected)
    assert reward == paid


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Please send somebody.", "the call is no JSON"),
        ('{"tool": "wait"} {"tool": "wait"}', "goes on after its JSON"),
        ('{"tool": "wait", "tool": "close"}', "stands there twice"),
        ("[1]", "the call must be an object, got [1]"),
        ('{"arguments": {}}', "must name one tool"),
        ('{"tool": "wait", "name": "wait"}', "must name one tool"),
        ('{"tool": "wait", "argument": {}}', "has 'argument', which is neither"),
        ('{"tool": "dispatsch", "arguments": {}}', "did you mean 'dispatch'"),
        ('{"tool": ["dispatch"], "arguments": {}}', "no tool is named ['dispatch']"),
        ('{"tool": "dispatch", "arguments": {"technician": 0, "statoin": 3}}', "did you mean 'station'"),
        ('{"tool": "dispatch", "arguments": {"technician": 0}}', "dispatch needs station"),
        ('{"tool": "dispatch", "arguments": {"technician": "0", "station": 3}}', "technician: input should be a valid"),
        ('{"tool": "dispatch", "arguments": {"technician": 0, "station": 99}}', "got 99"),
        ('{"tool": "wait", "arguments": "none"}', "arguments is no JSON"),
        ('{"tool_calls": []}', "give a list of one call"),
        (json.dumps({"tool_calls": [ENTRY, ENTRY]}), "give a list of one call"),
        ({"tool": "close", "arguments": {"station": np.int64(3)}}, "no plain data"),
        ({"tool": "close", "arguments": 3}, "arguments must be an object, got 3"),
    ],
)
def test_what_is_no_call_takes_the_step_for_that_and_is_told_why(answer: Any, said: str) -> None:
    env = ToolCallAction(gym.make(LINE))
    env.reset(seed=7)
    _, _, _, _, info = env.step(answer)
    assert said in info["call"]["malformed"]
    assert (info["call"]["tool"], info["call"]["arguments"]) == ("", "")
    assert info["invalid_action"]
    assert info["tick"] == 1


def test_the_reason_of_one_step_is_not_told_of_the_next() -> None:
    env = ToolCallAction(gym.make(LINE))
    _, first = env.reset(seed=7)
    env.step("no call")
    assert env.step('{"tool": "wait"}')[4]["call"] == {"tool": "wait", "arguments": "{}", "malformed": ""}
    env.step("no call")
    assert env.reset(seed=7)[1]["call"] == first["call"] == {"tool": "", "arguments": "", "malformed": ""}


def test_a_terminal_tells_the_reason_itself() -> None:
    env = ToolCallAction(gym.make("termgym:TermEnv-v1"))
    env.reset(seed=1)
    observation, *_ = env.step({"tool": "run", "arguments": {"command": "echo 'a \"b\"' ☕"}})
    assert observation["stdout"] == 'a "b" ☕\n'
    observation, _, _, _, info = env.step({"tool": "run", "arguments": {"comand": "ls"}})
    assert observation["event"] == termgym.Event.MALFORMED
    assert observation["stderr"] == info["call"]["malformed"]
    env.close()


def test_text_takes_a_step_and_other_objects_are_refused() -> None:
    env = ToolCallAction(gym.make(LINE))
    env.reset(seed=7)
    env.action_space.seed(1)
    for _ in range(5):
        env.step(env.action_space.sample())
    with pytest.raises(TypeError, match=r"the action is 3; give \{\"tool\""):
        env.step(3)


def test_an_environment_without_tools_is_refused() -> None:
    with pytest.raises(TypeError, match="has no tools to be called"):
        ToolCallAction(gym.make("CartPole-v1"))


def test_the_functions_are_what_the_api_of_openai_takes() -> None:
    functions = ToolCallAction(gym.make(LINE)).functions
    assert [set(each) for each in functions] == [{"type", "function"}] * 8
    close = functions[5]["function"]
    assert set(close) == {"name", "description", "parameters"}
    assert close["parameters"]["required"] == ["station"]


def test_recorded_calls_play_again(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with RecordTrajectory(ToolCallAction(gym.make(LINE)), path) as env:
        env.reset(seed=7)
        for answer in ('{"tool": "inspect", "arguments": {"station": 1}}', "no call", OWN):
            env.step(answer)
    assert str(replay(path)).startswith("equal: 3 steps")


def line() -> gym.Env[Any, Any]:
    """Return a line with answers that the checks try: sampled text is never a call."""
    env = ToolCallAction(gym.make(LINE, horizon=6))
    answers = ('{"tool": "wait"}', '{"tool": "order", "arguments": {"part": "jam"}}', "no call")
    env.metadata = {**env.metadata, "actions": answers}
    return env


def terminal() -> gym.Env[Any, Any]:
    """Return a terminal, for which the wrapper itself lists calls of what the environment lists as plans."""
    return ToolCallAction(gym.make("termgym:TermEnv-v1", task="git-dirty-pull", max_steps=4))


def test_what_is_worth_trying_is_calls() -> None:
    env = terminal()
    assert len(env.metadata["actions"]) == len(env.unwrapped.metadata["actions"])
    assert '{"tool": "keys", "arguments": {"keys": "yes Enter"}}' in env.metadata["actions"]
    env.close()


@pytest.mark.slow
@pytest.mark.parametrize("make", [line, terminal])
def test_an_environment_keeps_what_it_keeps_without(make: Callable[[], Any]) -> None:
    # It holds nothing that could be left behind, and one fresh process hashes otherwise than this one.
    report = check_all(make, steps=8, processes=1, skip=["no_leaks"])
    report.require()
    assert sum(result.state is State.PASSED for result in report.results) >= 8, str(report)
