"""The terminal's actions as calls, and its observations section by section."""

from __future__ import annotations

import json

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolf.interface import HELD_OUT, TRAINING, Call, Choice, Interface, Role, Section, Tooled
from termgym import keys, parse_action, plan, submit
from termgym.errors import PlanError
from termgym.plan import malformed
from termgym.tasks.registry import families, make_task
from termgym.tools import TOOLS, action_of, call_of, told, tools

ACTIONS = (
    plan("ls"),
    plan("", timeout=3.5, expected_exit_code=None),
    plan("cat <<'E' > f\n]]> `x` \"y\"\nE\n", idle_timeout=2, expected_exit_code=3),
    plan("./install", dialogue=[("name\\?", "me\n"), ("sure", "yes")]),
    plan("make", validation_steps=[{"type": "file_exists", "path": "/a"}, {"type": "output", "pattern": "^ok"}]),
    keys("C-c"),
    keys("y\n", timeout=2),
    submit(),
)


@pytest.mark.parametrize("names", ["own", "function", "device"])
@pytest.mark.parametrize("style", [*TRAINING, *HELD_OUT])
def test_every_action_can_be_written_in_every_style(style: str, names: str) -> None:
    interface = Interface(Choice(style, "terse", "json", names, "all"), TOOLS, "")
    for text in ACTIONS:
        read = interface.read(interface.write(call_of(text)))
        assert parse_action(action_of(read)) == parse_action(text)


def test_a_call_leaves_out_what_has_its_default() -> None:
    assert call_of(plan("ls", timeout=60.0)) == Call("run", {"command": "ls"})
    assert call_of(parse_action(submit())) == Call("submit")


def test_the_plans_of_every_family_can_be_written() -> None:
    """What a task's own solution needs, every interface with all tools offers."""
    interface = Interface(Choice("hermes", "terse", "json", "device", "all"), TOOLS, "")
    for family in families():
        task = make_task(family)
        for each in (*task.symptom, *task.oracle):
            assert parse_action(action_of(interface.read(interface.write(call_of(each))))) == each


@settings(deadline=None)
@given(st.text(max_size=300))
def test_a_reason_for_no_call_is_a_malformed_action_with_that_reason(reason: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_action(malformed(reason))
    if reason.isascii() and reason.isprintable():
        assert str(caught.value) == reason


def test_a_malformed_action_is_nothing_but_its_reason() -> None:
    """``{"malformed": …}`` beside other keys, or no text, is refused like any other unknown key."""
    for text in ('{"malformed": "x", "timeout": 3}', '{"malformed": 3}'):
        with pytest.raises(PlanError, match="command: missing"):
            parse_action(text)


def test_submission_is_needed_where_the_episode_does_not_end_by_itself() -> None:
    assert [tool.needed for tool in tools("step", None)] == [True, False, False]
    assert [tool.needed for tool in tools("submit", None)] == [True, False, True]


def test_what_came_of_a_step_is_told() -> None:
    with gym.make("termgym:TermEnv-v1") as env:
        assert isinstance(env.unwrapped, Tooled)
        observation, info = env.reset(seed=1)
        assert [each.name for each in env.unwrapped.told(observation, info)] == ["cwd"], "a free shell asks for nothing"
        observation, *_, info = env.step(plan("echo out; echo err >&2; (exit 3)"))
        values = {each.name: each.value for each in env.unwrapped.told(observation, info)}
        assert values == {
            "stdout": "out\n",
            "stderr": "err\n",
            "exit_code": 3,
            "event": "NONZERO",
            "cwd": "/home/agent",
        }
        observation, *_, info = env.step(malformed("no call: what?"))
        assert info["event"] == "MALFORMED"
        assert observation["stderr"] == "no call: what?"
        assert int(observation["step"][0]) == 2, "it is a step like any other"


def test_an_instruction_is_told_when_it_begins_to_hold() -> None:
    """The first message has it, and the step that ends a stage has the next one's; the others do not repeat it."""
    seen = {
        "instruction": "Do it.",
        "stdout": "",
        "stderr": "",
        "cwd": "/",
        "exit_code": np.array([-1]),
        "event": 0,
        "step": np.array([0]),
    }
    assert told(seen, {})[0] == Section("instruction", "Do it.", Role.OUTPUT)
    later = {**seen, "step": np.array([3])}
    assert "instruction" not in {section.name for section in told(later, {})}
    assert told(later, {"stage": {"reward": 1.0}})[0] == Section("instruction", "Do it.", Role.OUTPUT)


def test_what_background_jobs_say_is_not_told() -> None:
    """It comes at another time in every run, and a recorded message could not be played again."""
    seen = {
        "instruction": "",
        "stdout": "a",
        "stderr": "",
        "cwd": "/",
        "exit_code": np.array([0]),
        "event": 0,
        "step": np.array([1]),
    }
    assert told(seen, {"late_output": "late"}) == told(seen, {})


def test_what_agents_read_names_nothing_of_ours() -> None:
    """Descriptions are the docstrings of models; one that is meant for developers tells an agent about its grader."""
    told = json.dumps([tool.schema for tool in TOOLS]) + "".join(tool.description for tool in TOOLS)
    assert "``" not in told
    assert "termgym" not in told
    assert "As a task's goal" not in told
