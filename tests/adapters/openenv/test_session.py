"""A session without its server: what an episode is, and what is answered where there is none."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import psutil
import pytest
from machine_faults import kill_supervisor

from rolf.interface import Call
from rolf.variant import Variant
from rolf_adapters.openenv import DeadlineError, FaultError, NotResetError, Session, ToolCall

LINE, TERMINAL = "linegym:LineEnv-v1", "termgym:TermEnv-v1"
SLEEP = "86397"
"""Seconds that a shell of these tests sleeps, by which its process is known."""


@pytest.fixture
def line() -> Iterator[Session]:
    made = Session(LINE, {"horizon": 3})
    yield made
    made.close()


@pytest.fixture
def terminal() -> Iterator[Session]:
    made = Session(TERMINAL, {"max_steps": 9})
    yield made
    made.close()


def run(command: str, **arguments: Any) -> ToolCall:
    return ToolCall(tool="run", arguments={"command": command, **arguments})


def test_an_episode_is_the_environments(line: Session) -> None:
    """The same calls, taken as actions, are told and pay the same."""
    env = gym.make(LINE, horizon=3)
    world: Any = env.unwrapped
    seen, info = env.reset(seed=7)
    begun = line.reset(seed=7, episode_id="first", whole=True)
    assert begun.observation == pytest.approx(seen.tolist())
    assert begun.text == line._layout(world.told(seen, info), "")
    assert begun.reward is None
    assert not begun.done
    assert [each["function"]["name"] for each in begun.tools] == [tool.name for tool in world.tools]
    total = 0.0
    for step in range(3):
        call = Call("order", {"part": "jam"})
        seen, reward, terminated, truncated, info = env.step(world.action_of(call))
        told = line.step(ToolCall(tool=call.tool, arguments=call.arguments))
        total += float(reward)
        assert told.observation == pytest.approx(seen.tolist())
        assert (told.reward, told.done) == (float(reward), step == 2)
        assert (told.terminated, told.truncated) == (terminated, truncated)
        assert told.success is (bool(info["success"]) if told.done else None)
    assert line.state.model_dump() == {
        "episode_id": "first",
        "step_count": 3,
        "env_id": LINE,
        "seed": 7,
        "running": False,
        "total": total,
    }


def test_without_an_episode_there_is_no_step(line: Session) -> None:
    with pytest.raises(NotResetError, match=r"^not_reset: no episode has begun; reset first$"):
        line.step(ToolCall(tool="wait"))
    line.reset(seed=1)
    for _ in range(3):
        line.step(ToolCall(tool="wait"))
    with pytest.raises(NotResetError, match=r"^not_reset: the episode is over; reset first$"):
        line.step(ToolCall(tool="wait"))
    assert line.reset(seed=1).text
    assert not line.step(ToolCall(tool="wait")).done


def test_what_is_no_call_costs_a_step(line: Session) -> None:
    line.reset(seed=1)
    told = line.step(ToolCall(tool="oder", arguments={}))
    assert told.malformed.startswith("no tool is named 'oder'; did you mean 'order'?")
    assert told.reward is not None
    assert told.reward < 0
    assert line.state.step_count == 1


def test_a_step_that_takes_too_long_ends_the_episode() -> None:
    """A client that waits for a step cannot know whether it will ever end; what it started is gone."""
    hurried = Session(TERMINAL, deadline=20.0)
    hurried.reset(seed=1)
    begun = time.monotonic()
    with pytest.raises(DeadlineError, match=r"^deadline: the step took longer than 1 s; the episode is over$"):
        hurried.step(run(f"sleep {SLEEP}", timeout=600), timeout_s=1.0)
    assert time.monotonic() - begun < 20
    with pytest.raises(NotResetError):
        hurried.step(run("true"))
    end = time.monotonic() + 20
    while any(each.info["cmdline"] == ["sleep", SLEEP] for each in psutil.process_iter(["cmdline"])):
        assert time.monotonic() < end
        time.sleep(0.05)
    hurried.reset(seed=1)
    assert "<stdout>\nhere\n" in hurried.step(run("echo here")).text
    hurried.close()


def test_a_reset_that_takes_too_long_is_given_up() -> None:
    """Its shell comes up all the same, while nobody waits for it any more; the next one is another."""
    hurried = Session(TERMINAL, {"max_steps": 9}, deadline=0.001)
    with pytest.raises(DeadlineError, match=r"^deadline: the reset took longer than 0\.001 s"):
        hurried.reset(seed=1)
    abandoned = [each for each in threading.enumerate() if each.name.startswith("rolf-session")]
    for each in abandoned:
        each.join(20)
        assert not each.is_alive()
    with pytest.raises(NotResetError):
        hurried.step(run("true"))
    hurried._deadline = 60.0
    hurried.reset(seed=1)
    assert "<stdout>\nhere\n" in hurried.step(run("echo here")).text
    hurried.close()


def test_a_machine_that_fails_is_told_apart(terminal: Session) -> None:
    """A fault is no reward of zero: whoever trains leaves the episode out."""
    terminal.reset(seed=1)
    kill_supervisor()
    with pytest.raises(FaultError, match=r"^fault: "):
        terminal.step(run("echo here"))
    with pytest.raises(NotResetError):
        terminal.step(run("echo here"))
    terminal.reset(seed=1)
    assert "<stdout>\nhere\n" in terminal.step(run("echo here")).text


def test_a_variant_is_played_where_it_is_asked_for(terminal: Session) -> None:
    variant = Variant(TERMINAL, {"task": "git-dirty-pull"}, 5)
    told = terminal.reset(variant=variant.as_json())
    assert terminal.state.seed == variant.attempt_seed(0)
    assert "<instruction>" in told.text
    assert terminal.reset(variant=json.dumps(variant.as_json())).text == told.text
    assert "<instruction>" not in terminal.reset(seed=1).text


@pytest.mark.parametrize(
    ("asked", "kind", "wrong"),
    [
        ({"sed": 1}, TypeError, "reset has no sed; it has seed, episode_id, variant, attempt, whole"),
        ({"variant": {"env_id": LINE, "kwargs": {}, "seed": 0}}, ValueError, "this server plays termgym:TermEnv-v1"),
        ({"variant": {"env_id": TERMINAL}}, ValueError, "is no variant"),
        ({"variant": "{"}, ValueError, "Expecting property name"),
    ],
)
def test_bad_resets_are_refused(terminal: Session, asked: dict[str, Any], kind: type[Exception], wrong: str) -> None:
    with pytest.raises(kind, match=wrong):
        terminal.reset(**asked)


@pytest.mark.parametrize(
    "asked",
    [
        {"backend": "local-unsafe"},
        {"network": True},
        {"build_network": True},
        {"snapshot_dir": "/var/tmp"},
        {"limits": {"memory": 1 << 40}},
        {"max_steps": 10**6},
        {"tasks": "/"},
        {"task": "/"},
        {"task": "~"},
        {"task": "../.."},
        {"task": "tests"},
        {"task": None},
    ],
)
def test_a_client_chooses_a_problem_and_no_machine(terminal: Session, asked: dict[str, Any]) -> None:
    """Whoever reaches the port is nobody's friend: not the sandbox, nor the network, limits and folders of the host."""
    ((name, value),) = asked.items()
    with pytest.raises(ValueError, match=rf"{name}={re.escape(repr(value))}.* client (chooses task|may choose)"):
        terminal.reset(variant={"env_id": TERMINAL, "kwargs": asked, "seed": 0})
    assert terminal._env is None, "nothing was made of it"


def test_the_servers_arguments_hold_for_all(terminal: Session) -> None:
    """A variant is laid over them; a client may say them again."""
    for kwargs in ({"task": "git-dirty-pull"}, {"task": "git-dirty-pull", "max_steps": 9}, {}):
        terminal.reset(variant={"env_id": TERMINAL, "kwargs": kwargs, "seed": 0})
        assert terminal._made is not None
        assert terminal._made.kwargs == {"max_steps": 9, **kwargs}


def test_what_is_equal_to_the_servers_does_not_take_its_place() -> None:
    """1 is equal to True, and another argument."""
    made = Session(TERMINAL, {"network": False, "max_steps": 1})
    made.reset(variant={"env_id": TERMINAL, "kwargs": {"network": 0, "max_steps": True}, "seed": 0})
    assert made._made is not None
    assert [*made._made.kwargs.values()] == [False, 1]
    assert [type(each) for each in made._made.kwargs.values()] == [bool, int]
    made.close()


def test_what_the_server_leaves_to_its_clients_they_choose(line: Session) -> None:
    """A line's variant is anybody's choice; its horizon where the server says so."""
    asked = {"env_id": LINE, "kwargs": {"variant": "serial/rtd/profinet/bearing", "horizon": 2}, "seed": 0}
    with pytest.raises(ValueError, match=r"horizon=2 is for the server to say, which has 3; .* evaluation, variant$"):
        line.reset(variant=asked)
    open_ = Session(LINE, {"horizon": 3}, choices=("horizon",))
    open_.reset(variant=asked)
    assert [open_.step(ToolCall(tool="wait")).done for _ in range(2)] == [False, True]
    open_.close()


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"deadline=0 \[s\]; give a positive time"):
        Session(LINE, deadline=0)
    with pytest.raises(LookupError):
        Session(LINE, told="morse")
    with pytest.raises(TypeError, match="CartPole-v1 has no tools to be called"):
        Session("gymnasium:CartPole-v1").reset(seed=1)


def test_without_openenv_the_extra_is_named() -> None:
    code = "import sys; sys.modules['openenv'] = None; import rolf_adapters.openenv"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'rolf[openenv]'" in done.stderr
