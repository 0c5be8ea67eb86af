"""EncodedObservation: what the arrays hold, and that an environment keeps through it what it keeps without."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from rolf.checks import State, check_all
from rolf.text_space import UnicodeText
from rolf_wrappers import EncodedObservation, FlatFloat

TERM = "termgym:TermEnv-v1"
SIZES = {"cwd": 8, "instruction": 32, "stderr": 16, "stdout": 16}


class Said(gym.Env[dict[str, Any], int]):
    """An environment that says one thing."""

    observation_space = spaces.Dict({"said": UnicodeText(100), "number": spaces.Box(0, 1, (1,), np.float64)})
    action_space = spaces.Discrete(2)

    def __init__(self, said: str) -> None:
        self.said = said

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return {"said": self.said, "number": np.array([0.5])}, {"fact": 1}

    def step(self, action: int) -> Any:
        return {"said": f"{self.said}!", "number": np.array([1.0])}, 1.0, False, False, {"fact": 2}


@pytest.mark.parametrize(
    ("said", "size", "kept"),
    [
        ("", 3, b"\0\0\0"),
        ("ab", 4, b"ab\0\0"),
        ("abcd", 4, b"abcd"),
        ("abcdefg", 4, b"abfg"),
        ("abcdefg", 5, b"abcfg"),
        ("abc", 1, b"a"),
        ("é☕", 5, "é☕".encode()),
        ("\ud83d", 3, b"\xed\xa0\xbd"),
    ],
)
def test_bytes_are_the_beginning_and_the_end(said: str, size: int, kept: bytes) -> None:
    env = EncodedObservation(Said(said), {"said": size})
    observation, info = env.reset()
    assert bytes(observation["said"]) == kept
    assert observation["said_length"].tolist() == [len(said.encode("utf-8", "surrogatepass"))]
    assert observation["number"].tolist() == [0.5]
    assert info == {"fact": 1}
    assert env.observation_space.contains(observation)
    assert env.step(0)[0]["said_length"].tolist() == [observation["said_length"][0] + 1]


def test_hashed_counts_words_and_signs() -> None:
    """By hand: two of one word, one sign; white space counts for nothing."""
    env = EncodedObservation(Said(" ls_1  ls_1\n$"), {"said": 1000}, kind="hashed")
    observation, _ = env.reset()
    expected = np.zeros(1000, np.float32)
    expected[zlib.crc32(b"ls_1") % 1000] = np.log(3)
    expected[zlib.crc32(b"$") % 1000] = np.log(2)
    assert np.allclose(observation["said"], expected)
    assert env.observation_space.contains(observation)
    assert EncodedObservation(Said(""), {"said": 4}, kind="hashed").reset()[0]["said"].tolist() == [0] * 4


def test_the_longest_text_is_in_the_space() -> None:
    env = EncodedObservation(Said("\U0001f600" * 100), {"said": 4})
    observation, _ = env.reset()
    assert observation["said_length"].tolist() == [400]
    assert env.observation_space.contains(observation)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"sizes": {}}, ValueError, "'said' is a text; give it places in sizes, or leave it out by drop"),
        ({"sizes": {"sad": 3}}, ValueError, "no entry 'sad'; they have number, said"),
        ({"sizes": {"said": 3}, "drop": ["x"]}, ValueError, "no entry 'x'"),
        ({"sizes": {"said": 0}}, ValueError, "'said' gets 0 places"),
        ({"sizes": {"said": 3, "number": 3}}, TypeError, "'number' is Box.*no text"),
        ({"sizes": {"said": 3}, "drop": ["said"]}, ValueError, "in sizes and in drop"),
        ({"sizes": {"said": 3}, "kind": "byte"}, ValueError, "kind='byte'; give one of 'bytes', 'hashed'"),
    ],
)
def test_says_what_does_not_fit(settings: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        EncodedObservation(Said("a"), **settings)


def test_observations_that_are_no_dict_are_refused() -> None:
    with pytest.raises(TypeError, match="observations are Box"):
        EncodedObservation(gym.make("CartPole-v1"), {})


@pytest.fixture(params=["bytes", "hashed"])
def terminal(request: pytest.FixtureRequest) -> Iterator[gym.Env[Any, Any]]:
    with FlatFloat(EncodedObservation(gym.make(TERM), SIZES, kind=request.param)) as env:
        yield env


def test_a_terminal_becomes_one_vector(terminal: gym.Env[Any, Any]) -> None:
    """Of the texts' places and lengths, the event (one of 11), the exit status and the step."""
    observation, _ = terminal.reset(seed=1)
    assert observation.shape == (sum(SIZES.values()) + len(SIZES) + 11 + 2,)
    assert terminal.observation_space.contains(observation)
    stepped = terminal.step('{"command": "echo hello; false"}')[0]
    assert terminal.observation_space.contains(stepped)
    assert not np.array_equal(stepped, observation)


@pytest.mark.slow
def test_an_environment_keeps_what_it_keeps_without() -> None:
    report = check_all(
        lambda: EncodedObservation(gym.make(TERM, task="git-dirty-pull", max_steps=4), SIZES), steps=8, processes=1
    )
    report.require()
    assert sum(result.state is State.PASSED for result in report.results) >= 8, str(report)
