"""RotateInterface: what is drawn, what is told, what is read, and that none of it changes the world."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from toy_tools import TOOLS

from linegym.policies import policy
from linegym.policies.single import Single
from rolf.interface import HELD_OUT, TRAINING, Call, CallError, Role, Section, Tool, in_style, layouts, prompts
from rolf.replay import replay
from rolf.variant import Variant
from rolf_wrappers import RecordTrajectory, RotateInterface
from rolf_wrappers.conversation import ANSWER_LENGTH, LIMIT, Conversation
from rolf_wrappers.rotate_interface import _DEFAULTS, AXES
from termgym import plan

STYLES = (*TRAINING, *HELD_OUT)
LINE = "linegym:LineEnv-v1"


class Desk(gym.Env[dict[str, str], str]):
    """An environment of tools that keeps what it was given and repeats it."""

    observation_space = gym.spaces.Dict({"said": gym.spaces.Text(100)})
    action_space = gym.spaces.Text(1000)
    purpose = "Keep it running."
    tools: tuple[Tool, ...] = TOOLS

    def __init__(self) -> None:
        self.taken: list[str] = []

    def action_of(self, call: Call) -> str:
        return json.dumps(call.as_json())

    def call_of(self, action: str) -> Call:
        return Call(**json.loads(action))

    def malformed(self, reason: str) -> str:
        return f"malformed: {reason}"

    def told(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> list[Section]:
        return [Section("said", observation["said"], Role.OUTPUT)]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return {"said": "begin"}, {}

    def step(self, action: str) -> Any:
        self.taken.append(action)
        return {"said": f"step {len(self.taken)}"}, 1.0, False, False, {"fact": 1}


def choices(env: RotateInterface, episodes: int, seed: int = 0) -> list[dict[str, str]]:
    drawn = []
    for episode in range(episodes):
        _, info = env.reset(seed=seed if episode == 0 else None)
        drawn.append({axis: info["interface"][axis] for axis in AXES.values()})
    return drawn


def test_importing_the_wrappers_leaves_it_for_later() -> None:
    """It needs pydantic, which costs a trainer of lines as much time and memory as all the rest."""
    code = "import rolf_wrappers as w, sys; assert 'pydantic' not in sys.modules; w.RotateInterface; w.x"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "AttributeError: module 'rolf_wrappers' has no attribute 'x'" in done.stderr


# ---- what is drawn


def test_training_never_sees_what_is_held_out() -> None:
    """Of every axis; and it sees all of the rest, or the others would be held out too, unnoticed."""
    drawn = choices(RotateInterface(Desk()), 400)
    assert {each["style"] for each in drawn} == set(TRAINING)
    assert {each["layout"] for each in drawn} == set(layouts.TRAINING)
    assert {each["prompt"] for each in drawn} == set(prompts.TRAINING)
    assert {each["names"] for each in drawn} == {"own", "function"}
    assert {each["subset"] for each in drawn} == {"all"}


def test_what_is_held_out_is_nothing_of_training() -> None:
    every = {"styles": "held-out", "prompts": "held-out", "layouts": "held-out", "names": "held-out"}
    drawn = choices(RotateInterface(Desk(), **every), 100)
    assert {each["style"] for each in drawn} == set(HELD_OUT)
    assert {each["layout"] for each in drawn} == set(layouts.HELD_OUT)
    assert {each["prompt"] for each in drawn} == set(prompts.HELD_OUT)
    assert {each["names"] for each in drawn} == {"device"}


def test_the_same_seed_draws_the_same() -> None:
    first = choices(RotateInterface(Desk()), 20, seed=3)
    assert choices(RotateInterface(Desk()), 20, seed=3) == first
    assert choices(RotateInterface(Desk()), 20, seed=4) != first


def test_an_axis_that_is_fixed_leaves_the_others_as_they_were() -> None:
    """Otherwise a study of one axis would compare different draws of all."""
    free = choices(RotateInterface(Desk()), 20)
    fixed = choices(RotateInterface(Desk(), styles=["hermes"]), 20)
    assert [{**each, "style": "hermes"} for each in free] == fixed


def test_an_episode_does_not_depend_on_how_long_the_one_before_was() -> None:
    drawn = []
    for steps in (0, 7):
        env = RotateInterface(Desk(), every="step")
        env.reset(seed=2)
        for _ in range(steps):
            env.step("?")
        drawn.append(env.reset()[1]["interface"])
    assert drawn[0] == drawn[1]


def test_an_interface_may_change_at_every_step_and_says_how_to_answer() -> None:
    env = RotateInterface(Desk(), every="step")
    observation, info = env.reset(seed=0)
    seen = set()
    for number in range(30):
        assert env.interface.instructions in observation["message"]
        assert env.interface.style.name == info["interface"]["style"]
        observation, *_, info = env.step(in_style(env, json.dumps({"tool": "submit", "arguments": {}})))
        assert (info["interface"]["tool"], info["interface"]["arguments"]) == ("submit", "{}")
        seen.add(info["interface"]["style"])
        assert len(env.unwrapped.taken) == number + 1
    assert seen == set(TRAINING)


def test_the_world_is_drawn_as_without_an_interface() -> None:
    """The generator is the wrapper's own."""
    bare, wrapped = gym.make(LINE, horizon=5), RotateInterface(gym.make(LINE, horizon=5))
    seen, _ = bare.reset(seed=9)
    wrapped.reset(seed=9)
    assert wrapped.unwrapped.state_digest() == bare.unwrapped.state_digest()
    assert (wrapped.unwrapped._seen == seen).all()


# ---- what is told


def test_observations_are_of_their_space() -> None:
    for settings in ({}, {"every": "step"}, {"history": True}):
        env = RotateInterface(gym.make(LINE, horizon=30), **settings)
        observation, _ = env.reset(seed=1)
        for _ in range(30):
            assert env.observation_space.contains(observation)
            observation, *_ = env.step(env.written(Call("wait")))


def test_the_space_leaves_room_for_whatever_a_layout_makes_of_the_text() -> None:
    """JSON writes a control character as six; a space that is too small would be found out by the worst output only."""

    class Worst(Desk):
        observation_space = gym.spaces.Dict({"said": gym.spaces.Text(200_000)})

        def step(self, action: str) -> Any:
            return {"said": "\x1b" * 200_000}, 0.0, False, False, {}

    for name in layouts.LAYOUTS:
        env = RotateInterface(Worst(), layouts=[name])
        env.reset(seed=0)
        assert env.observation_space.contains(env.step("?")[0])


def test_the_system_text_has_the_purpose_and_the_message_has_the_news() -> None:
    env = RotateInterface(Desk(), styles=["react"], layouts=["json"], prompts=["terse"])
    observation, info = env.reset(seed=0)
    assert observation["system"].startswith("Keep it running.\n")
    assert observation["message"] == '{"said": "begin"}'
    assert (info["interface"]["tool"], info["interface"]["malformed"]) == ("", "")
    observation, reward, *_, info = env.step(env.written(Call("submit")))
    assert observation["message"] == '{"said": "step 1"}'
    assert (reward, info["fact"]) == (1.0, 1)
    assert (info["interface"]["tool"], info["interface"]["arguments"]) == ("submit", "{}")
    assert info["interface"]["malformed"] == ""


def test_what_was_read_is_told_under_the_environment_s_own_names() -> None:
    env = RotateInterface(Desk(), names=["function"])
    env.reset(seed=0)
    call = Call("shell", {"command": "ls", "data": [1, None]})
    told = env.step(env.written(call))[4]["interface"]
    assert Call(told["tool"], json.loads(told["arguments"])) == call
    assert {type(value) for value in told.values()} == {str}


def test_a_history_tells_the_whole_episode() -> None:
    env = RotateInterface(Desk(), history=True, layouts=["json"], styles=["react"], names=["own"])
    first = env.reset(seed=0)[0]["message"]
    assert first == '=== message ===\n{"said": "begin"}\n'
    env.step(env.written(Call("submit")))
    last = env.step("and now?")[0]["message"]
    assert last.startswith(first)
    assert "=== your answer ===\nAction: submit\nAction Input: {}\n" in last
    assert "=== your answer ===\nand now?\n" in last
    assert last.count("=== message ===") == 3
    assert env.reset(seed=0)[0]["message"] == first, "an episode begins with nothing said"


def test_a_history_stays_within_its_bounds() -> None:
    """The task is never left out: it is in the first message."""
    conversation = Conversation()
    conversation.told("the task")
    for number in range(100):
        conversation.answered("x" * 10_000)
        whole = conversation.told(f"{number} " + "y" * 5_000)
        assert len(whole) <= LIMIT + 6_000
        assert whole.startswith("=== message ===\nthe task\n")
        assert f"{number} yyy" in whole
    assert "x" * ANSWER_LENGTH + "… (10000 characters)" in whole
    assert "left out ===" in whole


# ---- what is read


@pytest.mark.parametrize("every", ["episode", "step"])
def test_text_that_is_no_call_takes_the_step_that_stands_for_it(every: str) -> None:
    env = RotateInterface(Desk(), styles=["react"], every=every)
    env.reset(seed=0)
    observation, reward, *_, info = env.step("Please do it.")
    fault = info["interface"]["malformed"]
    assert fault.startswith("the answer has no line 'Action: NAME'")
    assert env.unwrapped.taken == [f"malformed: {fault}"]
    assert reward == 1.0
    assert "the answer has no line 'Action: NAME'" in observation["message"].replace("\\u0027", "'")


def test_a_fault_is_told_once() -> None:
    """``TermEnv`` tells the reason of a malformed action itself."""
    with RotateInterface(gym.make("termgym:TermEnv-v1"), layouts=["tags"]) as env:
        env.reset(seed=0)
        observation, *_, info = env.step("Please do it.")
        assert info["event"] == "MALFORMED"
        assert observation["message"].count(info["interface"]["malformed"]) == 1


def test_a_policy_is_told_what_its_interface_does_not_offer() -> None:
    env = RotateInterface(Desk(), subsets=["needed"])
    env.reset(seed=0)
    with pytest.raises(CallError, match="does not offer note"):
        env.written(Call("note", {"text": "x"}))


def test_actions_that_are_worth_trying_inside_are_not_offered_outside() -> None:
    """``rolf.checks`` takes them from the metadata; a number is no text."""

    class Trying(Desk):
        metadata = {"actions": [1, 2], "volatile": ("info.fact",)}  # noqa: RUF012

    assert RotateInterface(Trying()).metadata == {"volatile": ("info.fact",)}


def test_before_the_first_reset_there_is_no_interface() -> None:
    env = RotateInterface(Desk())
    with pytest.raises(gym.error.ResetNeeded, match="no interface was drawn"):
        env.step("?")


def test_an_environment_without_tools_is_refused() -> None:
    with pytest.raises(TypeError, match=r"has no tools .* rolf\.interface\.Tooled"):
        RotateInterface(gym.make("CartPole-v1"))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"styles": "all"}, "styles='all'; give 'training' or 'held-out', or a list of openai-tools"),
        ({"styles": ["herms"]}, "did you mean 'hermes'"),
        ({"layouts": []}, r"layouts=\[\]"),
        ({"subsets": "held-out"}, "subsets='held-out'; give 'training', or a list of all, usual, needed"),
        ({"every": "day"}, "every='day'; give 'episode' or 'step'"),
    ],
)
def test_a_setting_that_is_none_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises((ValueError, LookupError), match=reason):
        RotateInterface(Desk(), **settings)


def test_without_an_interface_an_action_is_itself() -> None:
    assert in_style(gym.make(LINE), 74) == 74


# ---- real environments through every style


def solution(env: gym.Env[Any, Any]) -> Iterator[str]:
    world: Any = env.unwrapped
    for each in world.task.oracle:
        yield each.model_dump_json()
    yield '{"submit": true}'


@pytest.mark.parametrize("style", STYLES)
def test_the_solution_of_a_task_solves_it_through_every_style(style: str) -> None:
    """The installer asks, and its solution has every kind of argument: answers, checks, a time-out."""
    settings = {"names": ["device"], "layouts": "held-out"} if style in HELD_OUT else {}
    with RotateInterface(
        gym.make("termgym:TermEnv-v1", task="interactive-installer"), styles=[style], **settings
    ) as env:
        env.reset(seed=4)
        for action in solution(env):
            _, _, terminated, truncated, info = env.step(in_style(env, action, thought="As the solution says."))
            assert info["interface"]["malformed"] == ""
            if terminated or truncated:
                break
        assert info["success"]


@pytest.fixture(scope="module")
def shift() -> tuple[list[int], list[float]]:
    """Return what a policy that knows the truth does in an episode, and what it is paid."""
    env = gym.make(LINE, horizon=250)
    seen, info = env.reset(seed=11)
    player = Single(policy("oracle"), 250)
    player.begin(env.unwrapped.variant, info)
    actions, rewards, over = [], [], False
    while not over:
        actions.append(player.act(seen, info))
        seen, reward, _, over, info = env.step(actions[-1])
        rewards.append(float(reward))
    assert len(set(actions)) > 5, "it must do something"
    return actions, rewards


@pytest.mark.parametrize("style", STYLES)
def test_the_line_pays_the_same_through_every_style(style: str, shift: tuple[list[int], list[float]]) -> None:
    actions, rewards = shift
    names = ["device"] if style in HELD_OUT else "training"
    env = RotateInterface(gym.make(LINE, horizon=250), styles=[style], names=names)
    env.reset(seed=11)
    assert [float(env.step(in_style(env, action))[1]) for action in actions] == rewards


def test_actions_of_three_numbers_are_calls_too(shift: tuple[list[int], list[float]]) -> None:
    from linegym.actions import COMMANDS

    actions, rewards = shift
    env = RotateInterface(gym.make(LINE, horizon=250, action="multi"), every="step")
    env.reset(seed=11)
    assert [float(env.step(in_style(env, COMMANDS[action]))[1]) for action in actions[:60]] == rewards[:60]


# ---- recording


def played(env: gym.Env[Any, Any], texts: list[str]) -> None:
    for seed in (5, None):
        env.reset(seed=seed)
        for text in texts:
            env.step(text if text == "?" else in_style(env, text))
    env.close()


TERMINAL = [plan("echo \"<a>\" && cat <<'E'\n]]>\nE"), "?", plan("false", expected_exit_code=1)]


@pytest.mark.parametrize("settings", [{}, {"every": "step", "history": True, "styles": ["hermes", "react"]}])
@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        pytest.param(lambda: gym.make("termgym:TermEnv-v1", task="git-dirty-pull"), TERMINAL, id="terminal"),
        pytest.param(lambda: gym.make(LINE, horizon=20), [74, "?", 0, 313], id="line"),
    ],
)
def test_a_recording_plays_again(tmp_path: Path, spec: Any, texts: list[Any], settings: dict[str, Any]) -> None:
    """Outside the recorder the policy's words are kept, inside it what they meant; both can be done again."""
    outside, inside = tmp_path / "outside.jsonl", tmp_path / "inside.jsonl"
    played(RecordTrajectory(RotateInterface(spec(), **settings), outside), texts)
    played(RotateInterface(RecordTrajectory(spec(), inside), **settings), texts)
    for path in (outside, inside):
        report = replay(path)
        assert report.equal, str(report)
        assert report.steps == 2 * len(texts)
    assert '"interface":{"style":' in outside.read_text()
    assert '"interface"' not in inside.read_text()


@pytest.mark.parametrize(
    "settings", [{}, {"styles": ["hermes"], "names": "held-out"}, {"every": "step", "history": True}]
)
def test_a_variant_s_recording_says_what_the_variant_says(settings: dict[str, Any]) -> None:
    """A leaderboard compares the two; defaults that one spelled out and the other did not would be a forgery to it."""
    entry = "rolf_wrappers.rotate_interface:RotateInterface"
    wrapper = {"name": "RotateInterface", "entry_point": entry, "kwargs": settings}
    with Variant(LINE, {}, wrappers=(wrapper,)).make() as env:
        assert env.spec is not None
        assert [asdict(each) for each in env.spec.additional_wrappers] == [wrapper]


def test_defaults_are_what_is_left_out() -> None:
    signature = inspect.signature(RotateInterface.__init__).parameters
    given = {name: each.default for name, each in signature.items() if each.kind is each.KEYWORD_ONLY}
    assert {name: list(each) if isinstance(each, tuple) else each for name, each in given.items()} == _DEFAULTS


def test_many_at_once_each_have_their_own() -> None:
    """One row's answer is a call and the next one's is not; both are told."""
    envs = gym.make_vec(LINE, 3, vectorization_mode="sync", wrappers=[RotateInterface], horizon=10)
    observations, _ = envs.reset(seed=1)
    assert len(observations["message"]) == 3
    assert len(set(observations["system"])) > 1
    texts = ("?", in_style(envs.envs[1], 313), in_style(envs.envs[2], 0))
    observations, rewards, *_, infos = envs.step(texts)
    assert np.shape(rewards) == (3,)
    assert infos["interface"]["tool"].tolist() == ["", "order", "wait"]
    assert [bool(fault) for fault in infos["interface"]["malformed"]] == [True, False, False]
    envs.close()
