"""Variants and splits: plain data with a digest that says what is played, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolf.variant import SEEDS, Labels, Split, Variant, names, policy_seed, shortened

POLE = Variant("gymnasium:CartPole-v1", {"sutton_barto_reward": True}, 3, name="pole")
WRAPPER = {
    "name": "TimeAwareObservation",
    "entry_point": "gymnasium.wrappers:TimeAwareObservation",
    "kwargs": {"flatten": True, "normalize_time": False},
}


def split(count: int, **changes: Any) -> Split:
    variants = tuple(replace(POLE, seed=number) for number in range(count))
    return Split(**{
        "name": "poles", "variants": variants, "labels": (Labels("a"),) * count, "attempts": 2, **changes,
    })  # fmt: skip


def test_the_digest_is_what_it_always_was() -> None:
    """It stands in every result that was ever written."""
    assert POLE.digest == "635190363a0e1fba5341526e2e9fbddf96aaab37cdfc30874fc3c1df130ad850"
    assert split(2).digest == "6fcad96f846f3db5d9fb052d18ac50dbf6207b98130c814fbcb953c2ec120ba6"


def test_a_digest_says_what_is_played_and_not_what_it_is_called() -> None:
    assert replace(POLE, name="other").digest == POLE.digest
    changed = [
        replace(POLE, env_id="gymnasium:CartPole-v0"),
        replace(POLE, kwargs={}),
        replace(POLE, seed=4),
        replace(POLE, wrappers=(WRAPPER,)),
        replace(POLE, wrappers=(WRAPPER, WRAPPER)),
    ]
    assert len({POLE.digest, *(variant.digest for variant in changed)}) == 6
    ordered = Variant("gymnasium:X-v0", {"a": 1, "b": 2})
    assert ordered.digest == Variant("gymnasium:X-v0", {"b": 2, "a": 1}).digest


def test_a_splits_digest_says_what_is_played_and_under_which_limits() -> None:
    whole = split(3)
    assert split(3, name="other", attempts=7, labels=(Labels("b"),) * 3).digest == whole.digest
    changed = [
        split(3, limits={"steps": 5}),
        split(3, content="ab"),
        split(2),
        replace(whole, variants=whole.variants[::-1]),
    ]
    assert len({whole.digest, *(each.digest for each in changed)}) == 5


@given(st.integers(0, 1_000), st.integers(0, 1_000), st.integers(0, SEEDS - 1))
def test_seeds_are_apart_and_the_same_for_everybody(one: int, other: int, seed: int) -> None:
    variant = replace(POLE, seed=seed)
    assert 0 <= variant.attempt_seed(one) < SEEDS
    assert (variant.attempt_seed(one) == variant.attempt_seed(other)) == (one == other)
    assert 0 <= policy_seed(variant.attempt_seed(one)) < SEEDS
    assert policy_seed(variant.attempt_seed(one)) != variant.attempt_seed(one)


@pytest.mark.parametrize("variant", [POLE, replace(POLE, wrappers=(WRAPPER,)), Variant("a:B-v0")])
def test_a_variant_comes_back_from_json(variant: Variant) -> None:
    assert Variant.from_json(json.loads(json.dumps(variant.as_json()))) == variant


@pytest.mark.parametrize("plain", [None, [], {}, {"env_id": "a"}, {**POLE.as_json(), "sed": 1}])
def test_what_is_no_variant_is_refused(plain: Any) -> None:
    with pytest.raises(ValueError, match="is no variant; it has env_id, kwargs, seed"):
        Variant.from_json(plain)


def test_makes_its_environment_with_its_wrappers() -> None:
    with replace(POLE, wrappers=(WRAPPER,)).make(render_mode="rgb_array") as env:
        assert isinstance(env, gym.wrappers.TimeAwareObservation)
        assert env.observation_space.shape == (5,)
        assert env.render_mode == "rgb_array"
        env.reset(seed=1)
        while not env.step(1)[2]:
            pass
    with POLE.make() as env:
        assert not isinstance(env, gym.wrappers.TimeAwareObservation), "the registration is left as it was"
        assert env.observation_space.shape == (4,)


def test_an_environment_cannot_change_its_variant() -> None:
    """Arguments that are lists or dictionaries are copied for each."""
    settings = {"goals": [1, 2]}
    variant = Variant("Greedy-v0", {"settings": settings})
    gym.register("Greedy-v0", entry_point=Greedy)
    try:
        variant.make().close()
        assert settings == {"goals": [1, 2]}
    finally:
        del gym.registry["Greedy-v0"]


class Greedy(gym.Env[int, int]):
    """Takes what it is given."""

    observation_space = action_space = gym.spaces.Discrete(2)

    def __init__(self, settings: dict[str, list[int]]) -> None:
        settings["goals"].clear()


def test_an_unknown_environment_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        Variant("no_such_package:Thing-v0").make()
    with pytest.raises(gym.error.Error, match="NoSuchThing"):
        Variant("gymnasium:NoSuchThing-v0").make()


def test_a_part_of_a_split() -> None:
    part = split(5).first(2)
    assert part.name == "poles[:2]"
    assert part.variants == split(5).variants[:2]
    assert len(part.labels) == len(part) == 2
    assert part.digest == split(2).digest
    assert split(5).first(5) == split(5).first(50) == split(5)
    with pytest.raises(ValueError, match="the first 0 of poles are none"):
        split(5).first(0)


def test_every_variant_has_labels() -> None:
    with pytest.raises(ValueError, match="poles: 3 variants and 2 labels"):
        split(3, labels=(Labels("a"),) * 2)


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [("line-v1/iid", "line-v1/iid", None), ("line-v1/iid[:20]", "line-v1/iid", 20), ("a.json[:1]", "a.json", 1)],
)
def test_a_name_may_ask_for_a_part(text: str, name: str, count: int | None) -> None:
    assert shortened(text) == (name, count)


@pytest.mark.parametrize(
    "text", ["a[:0]", "a[:-1]", "a[:]", "a[:2", "a[:x]", "a[:2]b", "a[:²]", f"a[:{'9' * 5_000}]", "a[:01]"]
)
def test_a_part_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="whole number N from 1"):
        shortened(text)


def test_what_tables_call_variants() -> None:
    nameless = replace(POLE, name="")
    assert names([POLE, nameless]) == ["pole", nameless.digest[:12]]
