"""Which wrappers an environment gets, and that what comes of it is what Stable-Baselines3 asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3.common.env_checker import check_env
from trainable import MENU, errands

from rolf.checks import State, check_all
from rolf_adapters.sb3 import InfoMask, Presentation, present
from rolf_wrappers import EncodedObservation, FlatFloat, MenuAction, ParamAction

LINE, TERM = "linegym:LineEnv-v1", "termgym:TermEnv-v1"
SAID: dict[str, Any] = {"texts": {"instruction": 32, "cwd": 16}, "drop": ("stdout", "stderr")}


def shown(name: str, said: dict[str, Any], **settings: Any) -> gym.Env[Any, Any]:
    return present(gym.make(name, **settings), Presentation(**said))


def wrappers(env: gym.Env[Any, Any]) -> list[type]:
    """Return the wrappers of ours, the innermost first."""
    found: list[type] = []
    while isinstance(env, gym.Wrapper):
        found.insert(0, type(env))
        env = env.env
    return [each for each in found if each.__module__.startswith("rolf_")]


@pytest.mark.parametrize(
    ("name", "said", "settings", "expected"),
    [
        (LINE, {}, {}, [InfoMask]),
        (LINE, {}, {"observation": "dict"}, [FlatFloat, InfoMask]),
        (LINE, {}, {"action": "multi"}, [InfoMask]),
        (LINE, {"menu": {"wait": 0, "first": 1}}, {}, [MenuAction, InfoMask]),
        (LINE, {"tools": ["wait", "close"]}, {}, [ParamAction, InfoMask]),
        (TERM, {"menu": MENU}, {}, [MenuAction, EncodedObservation, FlatFloat, InfoMask]),
        (
            TERM,
            {"values": {"command": ["ls"]}, "tools": ["run"]},
            {},
            [ParamAction, EncodedObservation, FlatFloat, InfoMask],
        ),
        ("CartPole-v1", {}, {}, [InfoMask]),
        ("Pendulum-v1", {}, {}, []),
    ],
)
def test_wrappers_are_chosen_by_the_spaces(
    name: str, said: dict[str, Any], settings: dict[str, Any], expected: list[type]
) -> None:
    env = shown(name, said, **settings)
    assert wrappers(env) == expected
    env.close()


@pytest.mark.parametrize(
    ("name", "said", "settings"),
    [
        (LINE, {}, {"horizon": 20}),
        (LINE, {}, {"horizon": 20, "observation": "dict", "action": "multi"}),
        (LINE, {"tools": ["wait", "inspect", "diagnose"]}, {"horizon": 20}),
        (TERM, {"menu": MENU, **SAID}, {"task": errands()[0], "max_steps": 3}),
        (TERM, {"menu": MENU, "kind": "bytes", **SAID}, {"task": errands()[0], "max_steps": 3}),
    ],
)
def test_passes_the_check_of_stable_baselines3(name: str, said: dict[str, Any], settings: dict[str, Any]) -> None:
    """Warnings are errors here, so nothing it only warns of is wrong either."""
    env = shown(name, said, **settings)
    check_env(env)
    env.close()


def test_a_text_becomes_counts_of_words_unless_it_is_left_out() -> None:
    env = shown(TERM, {"menu": MENU, **SAID}, task=errands()[0])
    # 32 + 16 words, their two lengths, exit code, 11 events, steps.
    assert env.observation_space == spaces.Box(env.observation_space.low, env.observation_space.high, dtype=np.float32)  # type: ignore[attr-defined]
    assert env.observation_space.shape == (32 + 16 + 2 + 1 + 11 + 1,)
    env.close()
    env = shown(TERM, {"menu": MENU}, task=errands()[0])
    assert env.observation_space.shape == (4 * (256 + 1) + 13,)
    env.close()


def test_the_mask_is_that_of_the_outermost_wrapper_that_has_one() -> None:
    menu = {"wait": 0, "resume": {"tool": "resume", "arguments": {"station": 0}}}
    env = present(gym.make(LINE), Presentation(menu=menu, places=3))
    env.reset(seed=1)
    assert env.get_wrapper_attr("action_masks")().tolist() == [True, False, False]
    env = present(gym.make(LINE))
    _, info = env.reset(seed=1)
    assert np.array_equal(env.get_wrapper_attr("action_masks")(), info["action_mask"] == 1)


def test_a_mask_of_another_size_is_none() -> None:
    """The mask of the 545 flat actions says nothing of three numbers each on its own."""
    env = present(gym.make(LINE, action="multi"))
    env.reset(seed=1)
    assert env.get_wrapper_attr("action_masks")().tolist() == [True] * (7 + 24 + 16)


def test_success_is_told_as_stable_baselines3_counts_it() -> None:
    env = shown(TERM, {"menu": MENU, **SAID}, task=errands()[0])
    env.reset(seed=1)
    assert env.step(0)[4]["is_success"] is False
    assert env.step(2)[4]["is_success"] is True
    env.close()


@pytest.mark.parametrize(
    ("make", "said", "error", "message"),
    [
        (lambda: gym.make(TERM), {}, TypeError, r"tools cannot all be numbered.*give Presentation\(menu="),
        (lambda: gym.make(LINE), {"drop": ("x",)}, ValueError, "one Box, without entries; leave out texts and drop"),
        (
            lambda: gym.make(LINE),
            {"kind": "bytes"},
            ValueError,
            "kind='bytes' is how texts.*none does here; leave it out",
        ),
        (
            lambda: gym.make(LINE, observation="dict"),
            {"kind": "hashed"},
            ValueError,
            "kind='hashed' is how texts.*leave it out, or give texts=",
        ),
        (
            lambda: gym.make(TERM),
            {"menu": MENU, "texts": {}, "drop": ("instruction", "cwd", "stdout", "stderr"), "kind": "bytes"},
            ValueError,
            "kind='bytes' is how texts.*leave it out, or give texts=",
        ),
        (lambda: gym.make(TERM), {"menu": MENU, "texts": {"cwd": 5}}, ValueError, "give it places in sizes, or leave"),
        (
            lambda: Odd(spaces.Text(5), spaces.Discrete(2)),
            {},
            TypeError,
            "observations are Text.*a wrapper of your own",
        ),
        (
            lambda: Odd(spaces.Box(0, 1), spaces.Discrete(3, start=2)),
            {},
            TypeError,
            "begin at 2.*counts from 0; .*Tran",
        ),
        (
            lambda: Odd(spaces.Box(0, 1), spaces.MultiDiscrete([3, 2], start=[0, 1])),
            {},
            TypeError,
            r"begin at \[0 1\], and Stable-Baselines3 counts from 0",
        ),
        (lambda: Odd(spaces.Box(0, 1), spaces.Text(5)), {}, TypeError, r"actions are Text.*Presentation\(menu="),
    ],
)
def test_says_what_cannot_be_presented(
    make: Callable[[], Any], said: dict[str, Any], error: type[Exception], message: str
) -> None:
    with make() as env, pytest.raises(error, match=message):
        present(env, Presentation(**said))


class Odd(gym.Env[Any, Any]):
    """An environment with spaces that are given, and nothing else."""

    def __init__(self, observations: gym.Space[Any], actions: gym.Space[Any]) -> None:
        self.observation_space, self.action_space = observations, actions


def test_a_place_without_a_menu_is_of_no_use() -> None:
    with pytest.raises(ValueError, match=r"places=3 is the room of a menu, and there is none; give menu=.*or leave it"):
        Presentation(places=3)


def test_a_menu_and_values_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="give one or the other"):
        Presentation(menu=MENU, tools=["run"])


def test_what_is_no_choice_has_no_mask() -> None:
    with pytest.raises(TypeError, match="no choices that a mask could rule out"):
        InfoMask(gym.make("Pendulum-v1"))
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        InfoMask(gym.make("CartPole-v1")).action_masks()


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: shown(LINE, {}, horizon=6, observation="dict"), id="line"),
        pytest.param(lambda: shown(TERM, {"menu": MENU, **SAID}, task=errands()[0], max_steps=3), id="terminal"),
    ],
)
def test_an_environment_keeps_what_it_keeps_without(make: Callable[[], Any]) -> None:
    """In this process: each other one would load torch first. The wrappers' own tests play in fresh processes too."""
    report = check_all(make, skip=["no_leaks", "close"], processes=0, steps=8)
    report.require()
    assert sum(result.state is State.PASSED for result in report.results) >= 7, str(report)
