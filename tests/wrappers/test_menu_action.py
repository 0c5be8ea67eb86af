"""MenuAction: what a choice does, which are possible, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import termgym
from rolf.checks import State, check_all
from rolf.interface import Call
from rolf.replay import replay
from rolf_wrappers import MenuAction, RecordTrajectory

LINE, TERM, POLE = "linegym:LineEnv-v1", "termgym:TermEnv-v1", "CartPole-v1"
WAIT = {"tool": "wait"}
ORDER = {"tool": "order", "arguments": {"part": "jam"}}
RESUME = {"tool": "resume", "arguments": {"station": 0}}
COMMANDS = {"list": termgym.plan("ls -a"), "hello": {"tool": "run", "arguments": {"command": "echo hello"}}}


class Shelf(gym.Env[Any, int]):
    """An environment of five actions, one more of which is ruled out at each step."""

    observation_space = spaces.Discrete(9)
    action_space = spaces.Discrete(5, start=10)

    def __init__(self) -> None:
        self.taken: list[int] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.taken = []
        return self._seen()

    def step(self, action: int) -> Any:
        self.taken.append(action)
        observation, info = self._seen()
        return observation, 0.0, False, False, info

    def _seen(self) -> tuple[int, dict[str, Any]]:
        mask = np.arange(5) >= len(self.taken)
        return len(self.taken), {"action_mask": mask.astype(np.int8)}


def test_a_choice_does_what_its_entry_does() -> None:
    """Actions of the environment and calls of its tools alike, beside each other."""
    env, bare = MenuAction(gym.make(LINE), {"order": ORDER, "first": 1}), gym.make(LINE)
    env.reset(seed=7)
    bare.reset(seed=7)
    order = bare.unwrapped.action_of(Call("order", {"part": "jam"}))  # type: ignore[attr-defined]
    for choice, native in ((0, order), (np.int64(1), 1)):
        stepped, expected = env.step(choice), bare.step(native)
        assert np.array_equal(stepped[0], expected[0])
        assert stepped[1:4] == expected[1:4]
        assert not stepped[4]["menu_refused"]


def test_the_mask_is_what_the_environment_lets_be_of_the_entries() -> None:
    env = MenuAction(Shelf(), {"last": 14, "first": 10, "second": 11}, places=4, refused=14)
    _, info = env.reset(seed=1)
    masks = [info["action_mask"], *(env.step(0)[4]["action_mask"] for _ in range(2))]
    assert [mask.tolist() for mask in masks] == [[1, 1, 1, 0], [1, 0, 1, 0], [1, 0, 0, 0]]
    assert info["menu"] == ("last", "first", "second", "")
    assert env.action_masks().tolist() == [True, False, False, False]
    assert env.action_masks().dtype == np.bool_


def test_what_is_not_possible_is_a_step_that_tells_so() -> None:
    """An empty place takes `refused`; what the environment rules out it is given."""
    shelf = Shelf()
    env = MenuAction(shelf, {"first": 10, "last": 14}, places=3, refused=13)
    env.reset(seed=1)
    refused = [env.step(choice)[4]["menu_refused"] for choice in (0, 0, 2, 1)]
    assert refused == [False, True, True, False]
    assert shelf.taken == [10, 10, 13, 14]


def test_an_empty_place_is_a_malformed_step_where_there_are_tools() -> None:
    with MenuAction(gym.make(TERM), COMMANDS, places=4) as env:
        _, info = env.reset(seed=1)
        assert info["action_mask"].tolist() == [1, 1, 0, 0]
        assert env.step(1)[0]["stdout"] == "hello\n"
        observation, _, _, _, info = env.step(3)
        assert observation["event"] == termgym.Event.MALFORMED
        assert observation["stderr"] == "place 3 of the menu is empty; choose where action_mask is 1"
        assert info["menu_refused"]


def test_a_function_makes_the_menu_from_what_is_seen() -> None:
    """The space stays what it is, and the entries are those of the observation before the choice."""

    def menu(observation: int, info: Mapping[str, Any]) -> dict[str, int]:
        assert "action_mask" in info
        return {f"take {n}": 10 + n for n in range(observation, 5)}

    shelf = Shelf()
    env = MenuAction(shelf, menu, places=5, refused=14)
    _, info = env.reset(seed=1)
    assert info["menu"] == ("take 0", "take 1", "take 2", "take 3", "take 4")
    _, _, _, _, info = env.step(0)
    assert info["menu"] == ("take 1", "take 2", "take 3", "take 4", "")
    env.step(0)
    assert shelf.taken == [10, 11]
    assert env.action_space == spaces.Discrete(5)


def test_a_menu_that_grows_too_long_is_told() -> None:
    env = MenuAction(Shelf(), lambda _o, _i: {str(n): 10 + n for n in range(5)}, places=4, refused=14)
    with pytest.raises(ValueError, match=r"the menu has 5 entries: .*; give 1 to 4 \(places\)"):
        env.reset(seed=1)


@pytest.mark.parametrize(
    ("make", "menu", "settings", "error", "said"),
    [
        (lambda: gym.make(POLE), {"left": 7}, {}, TypeError, r"'left' is 7, no action of Discrete\(2\)$"),
        (lambda: gym.make(LINE), {"x": {"tol": 1}}, {}, TypeError, "no action of Discrete.545. nor a call"),
        (lambda: gym.make(LINE), {"x": {"tool": "oder"}}, {}, ValueError, "'x': no tool is named 'oder'; did you"),
        (lambda: gym.make(POLE), {}, {}, ValueError, "menu of 0 places"),
        (lambda: gym.make(POLE), {}, {"places": 2, "refused": 0}, ValueError, "the menu has 0 entries"),
        (lambda: gym.make(POLE), {"a": 0, "b": 1}, {"places": 1}, ValueError, "the menu has 2 entries"),
        (lambda: gym.make(POLE), {"a": 0}, {"places": 2}, TypeError, "can have empty places.*give refused="),
        (lambda: gym.make(POLE), {"a": 0}, {"refused": 3}, TypeError, "'refused' is 3, no action"),
        (lambda: gym.make(POLE), {3: 0}, {}, TypeError, "a menu is entries by name"),
        (lambda: gym.make(POLE), lambda _o, _i: {"a": 0}, {}, TypeError, "needs places="),
    ],
)
def test_says_what_is_wrong_with_a_menu(
    make: Callable[[], Any], menu: Any, settings: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        MenuAction(make(), menu, **settings)


def test_what_is_no_place_is_an_error() -> None:
    env = MenuAction(gym.make(POLE), {"left": 0, "right": 1})
    with pytest.raises(gym.error.ResetNeeded, match="no episode has begun"):
        env.action_masks()
    env.reset(seed=1)
    for choice in (2, -1, "left", 0.0):
        with pytest.raises(ValueError, match="give a whole number from 0 to 1"):
            env.step(choice)


def test_a_recorded_choice_plays_again(tmp_path: Path) -> None:
    path = tmp_path / "menu.jsonl"
    with RecordTrajectory(MenuAction(gym.make(LINE), {"wait": WAIT, "order": ORDER}, places=3), path) as env:
        env.reset(seed=7)
        for choice in (0, 1, 2):
            env.step(choice)
    assert str(replay(path)).startswith("equal: 3 steps")


def test_a_function_cannot_be_recorded(tmp_path: Path) -> None:
    env = MenuAction(gym.make(LINE), lambda _o, _i: {"wait": WAIT}, places=1)
    with pytest.raises(ValueError, match="plain data"):
        RecordTrajectory(env, tmp_path / "menu.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(
            lambda: MenuAction(gym.make(LINE, horizon=6), {"wait": WAIT, "order": ORDER, "on": RESUME}, places=4),
            id="line",
        ),
        pytest.param(lambda: MenuAction(gym.make(POLE), {"right": 1, "left": 0}), id="pole"),
        pytest.param(
            lambda: MenuAction(gym.make(TERM, task="git-dirty-pull", max_steps=4), COMMANDS, places=3), id="terminal"
        ),
    ],
)
def test_an_environment_keeps_what_it_keeps_without(make: Callable[[], Any]) -> None:
    # It holds nothing that could be left behind, and one fresh process hashes otherwise than this one.
    report = check_all(make, steps=8, processes=1, skip=["no_leaks"])
    report.require()
    assert sum(result.state is State.PASSED for result in report.results) >= 8, str(report)
