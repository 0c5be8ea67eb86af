"""FlatFloat: what the vector holds, and that an environment keeps through it what it keeps without."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.spaces.utils import flatten_space

from rolf.checks import State, check_all
from rolf.variant import Variant
from rolf_wrappers import FlatFloat, MenuAction, ParamAction

LINE = "linegym:LineEnv-v1"


class Seen(gym.Env[Any, int]):
    """An environment that shows samples of a space, or one observation."""

    action_space = spaces.Discrete(2)

    def __init__(self, space: gym.Space[Any], shown: Any = None) -> None:
        self.observation_space = copy.deepcopy(space)  # each environment samples of its own
        self.shown = shown
        self.begun = (0, 0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        # Each episode from the seed and its own number, however long the one before was.
        self.begun = (seed, 0) if seed is not None else (self.begun[0], self.begun[1] + 1)
        self.observation_space.seed(1000 * self.begun[0] + self.begun[1])
        return self._seen(), {"fact": 1}

    def step(self, action: int) -> Any:
        return self._seen(), 1.0, False, False, {"fact": 2}

    def _seen(self) -> Any:
        return self.observation_space.sample() if self.shown is None else self.shown


NESTED = spaces.Dict(
    {
        "box": spaces.Box(-1, 1, (2, 2), np.float64),
        "inner": spaces.Dict({"colour": spaces.Discrete(3, start=5), "flags": spaces.MultiBinary(2)}),
        "pair": spaces.Tuple((spaces.MultiDiscrete([2, 3]), spaces.Box(0, 255, (1,), np.uint8))),
    }
)


def test_the_vector_holds_every_number_in_the_order_of_the_space() -> None:
    """Worked out by hand: order, one-hot places, the offset of a Discrete."""
    shown = {
        "box": np.array([[0.5, -0.5], [1, -1]]),
        "inner": {"colour": np.int64(6), "flags": np.array([0, 1], np.int8)},
        "pair": (np.array([1, 2]), np.array([200], np.uint8)),
    }
    env = FlatFloat(Seen(NESTED, shown))
    observation, info = env.reset(seed=0)
    assert observation.tolist() == [0.5, -0.5, 1, -1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 200]
    assert observation.dtype == np.float32
    assert info == {"fact": 1}
    assert env.step(0)[0].tolist() == observation.tolist()


@pytest.mark.parametrize(
    "space",
    [
        NESTED,
        spaces.Discrete(4),
        spaces.MultiDiscrete([[2, 3], [4, 1]]),
        spaces.Box(-np.inf, np.inf, (3,), np.float64),
        spaces.Box(0, 2**62, (2,), np.int64),
        spaces.Box(-0.1, 0.1, (5,), np.float64),
        spaces.Tuple((spaces.Box(0.0, np.inf, (), np.float32), spaces.Discrete(2))),
    ],
    ids=str,
)
def test_what_is_seen_is_always_in_the_space(space: gym.Space[Any]) -> None:
    env = FlatFloat(Seen(space))
    assert env.observation_space.dtype == np.float32
    assert env.observation_space.shape == flatten_space(space).shape
    observation, _ = env.reset(seed=1)
    for _ in range(50):
        assert env.observation_space.contains(observation)
        assert np.isfinite(observation).all()
        observation = env.step(0)[0]


def test_bounds_say_what_can_be_seen_at_the_edge() -> None:
    """The bound and a number at it are rounded alike, though 0.1 is no float32."""
    low, high = np.array([-0.1, -np.inf, -1e300]), np.array([0.1, 5.0, 1e300])
    env = FlatFloat(Seen(spaces.Box(low, high, dtype=np.float64), np.array([0.1, -1e300, 1e300])))
    limits = np.finfo(np.float32)
    assert env.observation_space.low.tolist() == [np.float32(-0.1), -np.inf, limits.min]
    assert env.observation_space.high.tolist() == [np.float32(0.1), 5.0, limits.max]
    observation, _ = env.reset()
    assert observation.tolist() == [np.float32(0.1), limits.min, limits.max]
    assert observation in env.observation_space


def test_the_mask_goes_to_info_and_is_no_reading() -> None:
    mask = np.array([1, 0, 1], np.int8)
    space = spaces.Dict({"action_mask": spaces.MultiBinary(3), "reading": spaces.Box(0, 1, (1,), np.float64)})
    env = FlatFloat(Seen(space, {"action_mask": mask, "reading": np.array([0.25])}))
    for observation, info in (env.reset(), env.step(0)[::4]):
        assert observation.tolist() == [0.25]
        assert info["action_mask"].tolist() == [1, 0, 1]
        assert info["action_mask"] is not mask


@pytest.mark.parametrize(
    ("act", "choices"),
    [
        (lambda env: MenuAction(env, {"wait": 0, "first": 1}), 2),
        (lambda env: ParamAction(env, tools=["wait", "order"]), 12),
    ],
)
def test_the_mask_is_that_of_the_actions_that_are_taken(act: Callable[[Any], Any], choices: int) -> None:
    """A wrapper within has told its own; the observation still holds the line's."""
    env = FlatFloat(act(gym.make(LINE, observation="dict")))
    told = [env.reset(seed=3)[1], env.step(env.action_space.sample())[4]]
    assert [info["action_mask"].shape for info in told] == [(choices,)] * 2


def test_a_line_is_seen_through_it_as_it_is_seen_flat() -> None:
    env, flat = FlatFloat(gym.make(LINE, observation="dict")), gym.make(LINE)
    assert env.observation_space == flat.observation_space
    assert np.array_equal(env.reset(seed=3)[0], flat.reset(seed=3)[0])
    assert np.array_equal(env.step(1)[0], flat.step(1)[0])


def test_without_a_mask_every_entry_is_a_reading() -> None:
    env = FlatFloat(gym.make(LINE, observation="dict"), mask=None)
    assert env.observation_space.shape == (632 + 545,)


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (spaces.Dict({"a": spaces.Dict({"b": spaces.Text(9)})}), r"observation\['a'\]\['b'\] is Text.*Encoded"),
        (spaces.Tuple((spaces.Discrete(2), spaces.Sequence(spaces.Discrete(2)))), r"observation\[1\] is Sequence"),
        (spaces.Dict({"action_mask": spaces.MultiBinary(3)}), "leaves no numbers"),
    ],
    ids=["text", "sequence", "nothing"],
)
def test_says_which_entry_is_no_numbers(space: gym.Space[Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        FlatFloat(Seen(space))


def test_a_variant_makes_it_from_plain_data() -> None:
    wrapper = {"name": "FlatFloat", "entry_point": "rolf_wrappers.flat_float:FlatFloat", "kwargs": {"mask": None}}
    variant = Variant(LINE, {"observation": "dict", "horizon": 9}, seed=4, wrappers=(wrapper,), name="flat")
    assert variant.make().observation_space.shape == (632 + 545,)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: FlatFloat(gym.make(LINE, horizon=6, observation="dict")), id="line"),
        pytest.param(lambda: FlatFloat(gym.make("CartPole-v1")), id="pole"),
        pytest.param(lambda: FlatFloat(Seen(NESTED)), id="nested"),
    ],
)
def test_an_environment_keeps_what_it_keeps_without(make: Callable[[], Any]) -> None:
    # It holds nothing that could be left behind, and one fresh process hashes otherwise than this one.
    report = check_all(make, steps=8, processes=1, skip=["no_leaks"])
    report.require()
    assert sum(result.state is State.PASSED for result in report.results) >= 8, str(report)
