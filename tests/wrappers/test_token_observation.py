"""TokenObservation: what tokens say, and what becomes of what is too long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from rolf.checks import State, check_all
from rolf.replay import replay
from rolf.text_space import UnicodeText
from rolf_wrappers import CommandAction, RecordTrajectory, RotateInterface, TokenObservation

TERM = "termgym:TermEnv-v1"
WORDS = ["home", "agent", "error", "/", " "]


class Notes(gym.Env[Any, int]):
    """An environment that shows what it is told to show."""

    action_space = spaces.Discrete(1)

    def __init__(self, space: gym.Space[Any], shown: Any) -> None:
        self.observation_space = space
        self.shown = shown

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return self.shown, {}


def two(first: str, second: str) -> gym.Env[Any, Any]:
    return Notes(spaces.Dict({"a": UnicodeText(500), "b": UnicodeText(500)}), {"a": first, "b": second})


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.text(st.characters(codec="utf-8"), max_size=40))
def test_what_is_not_cut_is_said_again_to_the_letter(first: str, second: str) -> None:
    """Whatever words there are: what is none of them is spelled."""
    env = TokenObservation(two(first, second), 400, ["die", "é", " ", "\n", "0"])
    observation, _ = env.reset()
    assert env.text(observation) == {"a": first, "b": second}
    assert env.observation_space.contains(observation)


def test_words_are_one_token_and_others_their_bytes() -> None:
    env = TokenObservation(two("no error", "é"), 12, ["error", " "])
    observation, _ = env.reset()
    padding, (first, second) = env.padding, env.marks
    letters = [*b"no", 257, 256]
    assert observation.tolist() == [first, *letters, second, *"é".encode(), *[padding] * 4]
    assert (env.padding, env.cut, env.marks) == (258, 259, (260, 261))
    assert env.observation_space == spaces.Box(0, 261, (12,), np.int64)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("abcdefghij", "xy", {"a": "abc…ij", "b": "xy"}),
        ("ab", "opqrstuvwxyz", {"a": "ab", "b": "opq…yz"}),
        ("abcdefghij", "opqrstuvwxyz", {"a": "ab…j", "b": "op…z"}),
        ("", "opqrstuvwxyz", {"a": "", "b": "opqr…xyz"}),
    ],
)
def test_the_longest_is_cut_in_the_middle(first: str, second: str, said: dict[str, str]) -> None:
    """Eight tokens are left for both beside their marks."""
    env = TokenObservation(two(first, second), 10)
    observation, _ = env.reset()
    assert env.text(observation) == said
    assert env.padding not in observation


@given(st.text("ab ", max_size=30), st.text("ab ", max_size=30), st.integers(4, 70))
def test_no_place_is_wasted_and_none_is_missing(first: str, second: str, n: int) -> None:
    env = TokenObservation(two(first, second), n)
    observation, _ = env.reset()
    assert observation.shape == (n,)
    assert np.count_nonzero(observation != env.padding) == min(n, len(first) + len(second) + 2)
    if len(first) + len(second) + 2 <= n:
        assert env.cut not in observation


def test_a_tokenizer_keeps_its_numbers() -> None:
    env = TokenObservation(two("abc", "d"), 8, lambda text: [ord(letter) - 97 for letter in text], size=4)
    observation, _ = env.reset()
    assert observation.tolist() == [6, 0, 1, 2, 7, 3, 4, 4]
    with pytest.raises(TypeError, match="ask the tokenizer"):
        env.text(observation)
    wrong = TokenObservation(two("e", "d"), 8, lambda text: [ord(letter) - 97 for letter in text], size=4)
    with pytest.raises(ValueError, match="not below size=4 for 'e'"):
        wrong.reset()


def test_numbers_beside_texts_are_written_in_digits() -> None:
    space = spaces.Dict({"code": spaces.Box(-9, 9, (2,), np.int64), "kind": spaces.Discrete(4), "text": UnicodeText(9)})
    env = TokenObservation(Notes(space, {"code": np.array([-1, 2]), "kind": np.int64(3), "text": "x"}), 20)
    assert env.text(env.reset()[0]) == {"code": "-1 2", "kind": "3", "text": "x"}


def test_a_text_alone_is_one_entry() -> None:
    env = TokenObservation(Notes(UnicodeText(20), "hello"), 8)
    assert env.text(env.reset()[0]) == {"": "hello"}


def test_a_conversation_can_be_read_too() -> None:
    """What RotateInterface says to a chat model is texts like others."""
    with TokenObservation(RotateInterface(gym.make(TERM)), 4096) as env:
        observation, _ = env.reset(seed=1)
        said = env.text(observation)
        assert set(said) == {"message", "system"}
        assert len(said["system"]) > 100


@pytest.mark.parametrize(
    ("make", "settings", "error", "said"),
    [
        (lambda: gym.make("CartPole-v1"), {}, TypeError, "tokens are written of a text, or of a Dict with texts"),
        (lambda: two("", ""), {"n": 3}, ValueError, "n=3 leaves no token for each of 2 entries"),
        (lambda: two("", ""), {"entries": ["c"]}, ValueError, "no entry 'c'; they have a, b"),
        (lambda: two("", ""), {"entries": ["a", "a"]}, ValueError, "has one twice"),
        (lambda: two("", ""), {"vocabulary": ["two words"]}, ValueError, "'two words' is no word or sign"),
        (lambda: two("", ""), {"vocabulary": ["a", "a"]}, ValueError, "has a word twice"),
        (lambda: two("", ""), {"vocabulary": list}, TypeError, "say how many tokens"),
        (lambda: two("", ""), {"size": 9}, TypeError, "size=9 is of a tokenizer's function"),
        (
            lambda: Notes(spaces.Dict({"a": UnicodeText(5), "b": spaces.Box(0, 1, (2,))}), {}),
            {},
            TypeError,
            r"'b' is Box.*which is no text; leave it out with entries",
        ),
        (lambda: Notes(spaces.Dict({"b": spaces.Discrete(2)}), {}), {}, TypeError, "is a text, so there is nothing"),
    ],
)
def test_says_what_is_wrong(
    make: Callable[[], Any], settings: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        TokenObservation(make(), **{"n": 40, **settings})


def test_a_recorded_reading_plays_again(tmp_path: Path) -> None:
    path = tmp_path / "tokens.jsonl"
    with RecordTrajectory(TokenObservation(CommandAction(gym.make(TERM)), 64, WORDS), path) as env:
        env.reset(seed=7)
        env.step("echo 'error: /home/agent'")
    assert str(replay(path)).startswith("equal: 1 step ")


@pytest.mark.slow
def test_an_environment_keeps_what_it_keeps_without() -> None:
    entries = ["instruction", "stdout", "stderr", "exit_code", "cwd"]
    report = check_all(
        lambda: TokenObservation(gym.make(TERM, task="git-dirty-pull", max_steps=4), 128, WORDS, entries=entries),
        steps=8,
    )
    report.require()
    assert sum(result.state is State.PASSED for result in report.results) >= 8, str(report)
