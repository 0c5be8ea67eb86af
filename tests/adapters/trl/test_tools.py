"""Classes whose methods are tools: what a model is offered, what its calls do, and what they are worth."""

from __future__ import annotations

import inspect
import math
from typing import Any

import gymnasium as gym
import pytest
from machine_faults import kill_supervisor
from transformers.utils import get_json_schema

from rolf.interface import Call
from rolf.variant import Variant
from rolf_adapters.trl import OverError, TerminalTools, rows, tools_of
from rolf_adapters.trl.rollout import FAULTS
from termgym.checks import FileExists
from termgym.tasks.task import Task

LINE = "linegym:LineEnv-v1"
TERMINAL = "termgym:TermEnv-v1"


def offered(made: type) -> dict[str, dict[str, Any]]:
    """Return what TRL shows a model, by tool, found as TRL finds it."""
    instance = made()
    names = [name for name, _ in inspect.getmembers(made, predicate=inspect.isfunction)]
    tools = [name for name in names if name not in ("reset", "get_reward") and not name.startswith("_")]
    return {name: get_json_schema(getattr(instance, name))["function"] for name in tools}


def test_a_method_for_each_tool_with_its_parameters() -> None:
    """What a model is told of a tool is what the environment says of it."""
    shown = offered(tools_of(LINE))
    own = {tool.name: tool for tool in gym.make(LINE).unwrapped.tools}  # type: ignore[attr-defined]
    assert shown.keys() == own.keys()
    for name, tool in own.items():
        assert shown[name]["description"] == tool.description
        properties = shown[name]["parameters"]["properties"]
        assert properties.keys() == tool.schema["properties"].keys()
        assert tuple(shown[name]["parameters"].get("required", ())) == tool.required
        for parameter, kind in tool.schema["properties"].items():
            assert properties[parameter]["type"] == kind["type"]
            assert properties[parameter].get("enum") == kind.get("enum")
            assert properties[parameter]["description"].startswith(kind["description"])
    assert shown["dispatch"]["parameters"]["properties"]["technician"]["description"] == (
        "Number of the technician, from 0. (from 0 to 5)"
    )


def test_the_methods_of_a_terminal_are_its_tools() -> None:
    """What is written by hand says the same as what is made of the tools."""
    written, made = offered(TerminalTools), offered(tools_of(TERMINAL))
    assert written.keys() == made.keys() == {"run", "keys", "submit"}
    for name in written:
        assert written[name]["description"] == made[name]["description"]
        assert set(written[name]["parameters"].get("required", ())) == set(made[name]["parameters"].get("required", ()))
        by_hand, by_rule = (each[name]["parameters"]["properties"] for each in (written, made))
        assert by_hand.keys() <= by_rule.keys()
        assert all(by_hand[each]["type"] == by_rule[each]["type"] for each in by_hand)
    assert "dialogue" not in made["run"]["parameters"]["properties"]  # a list of objects


def test_a_rollout_is_an_episode() -> None:
    """The same calls, taken as actions, pay the same."""
    tools = tools_of(LINE, horizon=3)()
    begun = tools.reset(prompt=[], seed=7)
    said = [tools.order("jam"), tools.order(part="jam", quantity=3), tools.wait()]
    env = gym.make(LINE, horizon=3)
    env.reset(seed=7)
    world: Any = env.unwrapped
    calls = [Call("order", {"part": "jam"}), Call("order", {"part": "jam", "quantity": 3}), Call("wait")]
    paid = math.fsum(float(env.step(world.action_of(call))[1]) for call in calls)
    assert begun.startswith("\n\n<")
    assert said[2].endswith("The episode is over.")
    assert not said[1].endswith("The episode is over.")
    with pytest.raises(OverError, match="the episode is over; say that you are done"):
        tools.wait()
    assert tools.get_reward() == pytest.approx(paid)
    assert tools.reset(prompt=[], seed=7) == begun
    assert tools.get_reward() == 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda tools: tools.dispatch(technician=99, station=0),
        lambda tools: tools.dispatch(technician="0", station=0),
        lambda tools: tools.dispatch(station=0),
        lambda tools: tools.dispatch(technician=0, station=0, urgent=True),
    ],
)
def test_what_is_no_call_costs_a_step(call: Any) -> None:
    """A model must learn to call rightly, which it will not from an error that costs nothing."""
    tools = tools_of(LINE)()
    tools.reset(seed=7)
    call(tools)
    assert tools._rollout.steps == 1
    assert tools.get_reward() < 0


def test_the_shell_stays_and_is_fresh_after_a_reset() -> None:
    tools = TerminalTools()
    assert "<cwd>\n/home/agent" in str(tools.reset(seed=3))
    tools.run("cd /tmp; word=kept")
    assert "<stdout>\nkept /tmp\n</stdout>" in tools.run("echo $word $PWD", timeout=20)
    assert "<event>\nWAITING_INPUT" in tools.run("read -r answer")
    assert "<event>\nDONE" in tools.keys("yes\n")
    tools.reset(seed=3)
    assert "<stdout>\n</stdout>" in tools.run("printf '%s' $word")


def test_rows_say_what_is_played() -> None:
    """One class trains on many tasks: a row has the whole problem, and each of its generations meets the same world."""
    variants = [Variant(TERMINAL, {"task": name}, 5) for name in ("git-dirty-pull", "disk-full")]
    told = []
    for row in rows(variants, "Repair it."):
        assert row["prompt"] == [{"role": "user", "content": "Repair it."}]
        generations = [TerminalTools().reset(**row) for _ in range(2)]
        assert generations[0] == generations[1]
        told.append(generations[0])
    assert told[0] != told[1]
    env = variants[0].make()
    observation, _ = env.reset(seed=variants[0].attempt_seed(0))
    assert observation["instruction"] in told[0]
    env.close()


def test_what_is_not_submitted_is_submitted_at_the_end() -> None:
    """A model that calls nothing more says that it is done; a goal that is looked at on submission is looked at."""
    task = Task("one-file/plain@0", "Make the file done.", goal=(FileExists(path="/home/agent/done"),))
    tools = TerminalTools(check_goal="submit", reward="success", task=task)
    worth = []
    for command in ("touch done", "true"):
        tools.reset(seed=1)
        tools.run(command)
        worth.append(tools.get_reward())
        with pytest.raises(OverError):
            tools.run("true")
    assert worth == [1.0, 0.0]


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ({}, "the row has only nothing; give it variant"),
        ({"prompt": [], "task": "x"}, "the row has only prompt, task; give it variant"),
        ({"seed": -1}, "the row has seed=-1; give it variant"),
        ({"seed": True}, "the row has seed=True; give it variant"),
        ({"variant": "{"}, "the row's variant is '{': "),
        ({"variant": '{"env_id": 3}'}, "the row's variant is .* is no variant; it has env_id"),
    ],
)
def test_bad_rows_are_refused(row: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        TerminalTools().reset(**row)


def test_strangers_are_refused() -> None:
    with pytest.raises(TypeError, match="CartPole-v1 has no tools to be called"):
        tools_of("gymnasium:CartPole-v1")
    with pytest.raises(LookupError):
        TerminalTools(told="morse")


def test_a_machine_that_fails_is_no_ones_reward(caplog: pytest.LogCaptureFixture) -> None:
    """A zero would teach the model that what it did was bad; an error that never goes away ends the training."""
    tools = TerminalTools()
    for episode in range(FAULTS - 1):
        tools.reset(seed=episode)
        kill_supervisor()
        assert "the machine failed" in tools.run("echo here")
        with pytest.raises(OverError, match="the machine failed"):
            tools.run("echo here")
        assert math.isnan(tools.get_reward())
    assert len(caplog.records) == FAULTS - 1
    tools.reset(seed=9)
    assert "<stdout>\nhere\n" in tools.run("echo here")
    assert math.isfinite(tools.get_reward())

    for episode in range(FAULTS):  # a good episode lies between, so that they are counted anew
        tools.reset(seed=episode)
        kill_supervisor()
        if episode < FAULTS - 1:
            tools.run("echo here")
            tools.get_reward()
    with pytest.raises(RuntimeError):
        tools.run("echo here")
