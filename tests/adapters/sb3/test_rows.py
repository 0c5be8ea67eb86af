"""RowsVecEnv: what Stable-Baselines3 sees of many lines is what it would see of each alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

from rolf_adapters.sb3 import Presentation, RowsVecEnv, make_sb3_env, present

LINE = "linegym:LineEnv-v1"
NAMES = ["serial/rtd/profinet/bearing", "parallel/current/opcua/jam+sensor:3", "hybrid/thermocouple/profinet/overheat"]
HORIZON = 30


def rows(**settings: Any) -> RowsVecEnv:
    return RowsVecEnv(lines(**settings), told=settings.get("told", "end"))


def lines(**settings: Any) -> Any:
    given = {"variants": NAMES, "max_episode_steps": HORIZON, "autoreset_mode": AutoresetMode.SAME_STEP, **settings}
    given.pop("told", None)
    return gym.make_vec(LINE, num_envs=3, **given)


def choices(rng: np.random.Generator, masks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an action for each row, possible ones mostly."""
    return (rng.random(masks.shape) * (masks + 0.1)).argmax(axis=1)


def test_rows_give_what_stable_baselines3_makes_of_single_environments() -> None:
    """To the bit, over three episodes: observations, rewards, ends, masks, and all that infos tell."""
    many = rows(told="step")
    single = DummyVecEnv([lambda name=name: present(gym.make(LINE, variant=name, horizon=HORIZON)) for name in NAMES])
    many.seed(5)
    single.seed(5)
    assert np.array_equal(many.reset(), single.reset())
    equal(many.reset_infos, single.reset_infos)
    rng, ended = np.random.default_rng(1), 0
    for _ in range(3 * HORIZON + 2):
        masks = get_action_masks(many)
        assert np.array_equal(masks, get_action_masks(single))
        actions = choices(rng, masks)
        ours, theirs = many.step(actions), single.step(actions)
        for mine, expected in zip(ours[:3], theirs[:3], strict=True):
            assert mine.dtype == expected.dtype
            assert np.array_equal(mine, expected)
        equal(ours[3], theirs[3])
        ended += int(ours[2].sum())
    assert ended == 9


def equal(mine: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Compare what infos tell; of a step that does not end an episode SB3's own says that it is not cut."""
    for ours, theirs in zip(mine, expected, strict=True):
        theirs = {"is_success": bool(theirs["success"]), **theirs} if "TimeLimit.truncated" in theirs else theirs
        names = set(theirs) - {"TimeLimit.truncated", "is_success"}
        assert names == set(ours) - {"TimeLimit.truncated", "is_success"}
        assert ours.get("TimeLimit.truncated", False) == theirs.get("TimeLimit.truncated", False)
        if "terminal_observation" in ours:
            assert ours["is_success"] == theirs["is_success"]
        for name in names:
            assert np.array_equal(ours[name], theirs[name]), name


def test_an_episode_that_is_cut_is_bootstrapped_from_its_last_observation() -> None:
    """Not from the next one's first: the time says which is which."""
    env = make_sb3_env(LINE, 3, seed=1, variants=NAMES, max_episode_steps=HORIZON)
    env.reset()
    time = next(entry.index for entry in env.get_attr("obs_spec")[0] if entry.name == "line.time")
    rewards = []
    for _ in range(HORIZON):
        observations, paid, over, infos = env.step(np.zeros(3, np.int64))
        rewards.append(paid)
    assert over.all()
    assert np.array_equal(observations[:, time], [0, 0, 0])
    for row, info in enumerate(infos):
        assert info["terminal_observation"][time] == 1
        assert info["TimeLimit.truncated"] is True
        assert info["is_success"] is False
        assert info["episode"]["l"] == HORIZON
        assert info["episode"]["r"] == pytest.approx(sum(each[row] for each in rewards), rel=1e-5)
    env.close()


@pytest.mark.parametrize("copy", [True, False])
def test_what_a_step_returned_stays_what_it_was(copy: bool) -> None:
    """Algorithms store an observation after the next step; the environment may write into its arrays again."""
    env = rows(copy=copy)
    seen = [env.reset()]
    kept = [seen[0].copy()]
    for _ in range(3):
        seen.append(env.step(np.zeros(3, np.int64))[0])
        kept.append(seen[-1].copy())
    assert all(np.array_equal(each, before) for each, before in zip(seen, kept, strict=True))
    assert not np.array_equal(seen[0], seen[1])


def test_nothing_is_told_before_the_end_unless_it_is_asked_for() -> None:
    for told, expected in (("end", False), ("step", True)):
        env = rows(told=told)
        env.reset()
        infos = env.step(np.zeros(3, np.int64))[3]
        assert ["tick" in info for info in infos] == [expected] * 3


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    def played(seed: int) -> list[bytes]:
        env = make_sb3_env(LINE, 3, seed=seed, variants=NAMES, max_episode_steps=HORIZON)
        first, rng = env.reset(), np.random.default_rng(0)
        later = [env.step(choices(rng, get_action_masks(env)))[0] for _ in range(HORIZON + 5)]
        return [each.tobytes() for each in (first, *later)]

    assert played(3) == played(3)
    assert played(3) != played(4)


def test_masks_are_offered_as_maskable_ppo_asks() -> None:
    env = VecMonitor(rows())
    env.reset()
    assert is_masking_supported(env)
    assert get_action_masks(env).shape == (3, 545)
    assert [mask.shape for mask in env.env_method("action_masks", indices=[2])] == [(545,)]
    for settings, size in (({"masks": False}, 545), ({"action": "multi"}, 47)):
        everything = rows(**settings)
        everything.reset()
        assert get_action_masks(everything).tolist() == [[True] * size] * 3


def test_methods_and_attributes_are_those_of_the_environment() -> None:
    env = rows()
    env.reset()
    assert env.env_method("state_digest", indices=[0, 2]) == [env.envs.unwrapped.state_digest(row) for row in (0, 2)]  # type: ignore[attr-defined]
    assert env.get_attr("num_envs") == [3, 3, 3]
    assert not env.has_attr("nothing_like_that")
    assert env.env_is_wrapped(gym.Wrapper) == [False] * 3
    with pytest.raises(AttributeError, match="rows of one environment"):
        env.set_attr("horizon", 3)


def test_every_row_is_drawn() -> None:
    env = rows(render_mode="rgb_array")
    env.reset()
    pictures = env.get_images()
    assert [picture.shape for picture in pictures] == [pictures[0].shape] * 3  # type: ignore[union-attr]
    assert env.render().ndim == 3
    assert list(rows().get_images()) == [None] * 3


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: RowsVecEnv(lines(autoreset_mode=AutoresetMode.NEXT_STEP)), ValueError, "AutoresetMode.SAME_STEP"),
        (lambda: RowsVecEnv(lines(observation="dict")), TypeError, "presentation=Presentation"),
        (lambda: make_sb3_env("termgym:TermEnv-v1"), TypeError, "presentation=Presentation"),
        (lambda: rows(told="never"), ValueError, "allowed are 'end', 'step'"),
        (lambda: make_sb3_env(LINE, 0), ValueError, "n_envs=0 is not allowed"),
        (lambda: make_sb3_env("CartPole-v1", told="step"), ValueError, "tell of every step anyway"),
        (lambda: make_sb3_env(LINE, 2, variant=NAMES[0]), TypeError, "did you mean 'variants'"),
    ],
)
def test_says_what_is_wrong(make: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make()


def test_rows_take_the_same_options() -> None:
    env = rows()
    env.set_options([{"variants": NAMES[0]}, {}, {}])
    with pytest.raises(ValueError, match="take the same options"):
        env.reset()
    env.set_options({"variants": NAMES[0]})
    env.reset()
    assert {each.id for each in env.get_attr("variants")[0]} == {NAMES[0]}


@pytest.mark.parametrize(
    ("env_id", "settings", "kind"),
    [
        (LINE, {"variants": NAMES}, "RowsVecEnv"),
        (LINE, {"variant": NAMES[0], "observation": "dict", "presentation": Presentation()}, "DummyVecEnv"),
        ("CartPole-v1", {}, "DummyVecEnv"),
    ],
)
def test_rows_are_stepped_at_once_where_they_can_be(env_id: str, settings: dict[str, Any], kind: str) -> None:
    env = make_sb3_env(env_id, 2, seed=0, **settings)
    assert type(env.unwrapped).__name__ == kind
    assert env.reset().dtype == np.float32
    env.close()
