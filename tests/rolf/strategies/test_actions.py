"""Actions lie in their spaces and keep to their masks; lines, seeds, perturbations and variants are what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

import linegym
from linegym.actions import COMMANDS
from linegym.perturbations import SENSOR
from linegym.plant import Verb
from rolf.environments import environments
from rolf.evaluation.evaluable import Evaluable
from rolf.strategies import actions, line_actions, line_variants, perturbations, seeds, variants
from rolf.variant import SEEDS, Labels, Split, Variant
from termgym.spaces import UnicodeText

LIMITS = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
COUNTS = ("output", "wrong", "late")
GENERATED = settings(LIMITS, phases=[Phase.generate])

SPACES: list[spaces.Space[Any]] = [
    spaces.Discrete(5, start=-2),
    spaces.MultiDiscrete([7, 24, 16]),
    spaces.MultiDiscrete(np.array([[2, 3], [4, 5]]), start=np.array([[1, 0], [0, -3]])),
    spaces.MultiBinary(6),
    spaces.MultiBinary([2, 3]),
    spaces.Box(-1, 1, (3,), np.float32),
    spaces.Box(np.array([0, -np.inf]), np.array([np.inf, 0.5]), dtype=np.float64),
    spaces.Box(0, 255, (40, 40, 3), np.uint8),
    spaces.Box(np.zeros(100, np.float32), np.linspace(0, 1, 100, dtype=np.float32)),
    spaces.Box(np.arange(100, dtype=np.float32), np.arange(100, dtype=np.float32) + 0.5),
    spaces.Box(-3, 3, (2,), np.int64),
    spaces.Text(8, charset="ab"),
    spaces.Text(4, min_length=2),
    UnicodeText(1_000),
    spaces.Tuple([spaces.Discrete(2), spaces.Box(0, 1, (2,))]),
    spaces.Dict({"turn": spaces.Discrete(3), "go": spaces.Tuple([spaces.MultiBinary(2)])}),
    spaces.Sequence(spaces.Discrete(3)),
    spaces.Graph(spaces.Box(0, 1, (2,)), spaces.Discrete(3)),
    spaces.OneOf([spaces.Discrete(2), spaces.Box(0, 1, (1,))]),
]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: f"{space!r:.60}")
def test_actions_lie_in_their_space(space: spaces.Space[Any]) -> None:
    @settings(GENERATED, max_examples=25)
    @given(actions(space))
    def look(action: Any) -> None:
        assert space.contains(action), action

    look()


MASKED: list[tuple[spaces.Space[Any], Any, Any]] = [
    (spaces.Discrete(5, start=10), np.array([0, 1, 0, 0, 1], np.int8), {11, 14}),
    (spaces.Discrete(3), np.zeros(3, np.int8), {0}),
    (spaces.MultiDiscrete([2, 3]), (np.array([0, 1], np.int8), np.array([1, 0, 1], np.int8)), {(1, 0), (1, 2)}),
    (spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)]), (np.array([0, 1], np.int8), None), {(1, 0), (1, 1)}),
    (spaces.Dict({"a": spaces.Discrete(2)}), {"a": np.array([0, 1], np.int8)}, {("a", 1)}),
    (spaces.MultiBinary(2), np.array([0, 1], np.int8), {(0, 1)}),
]


@pytest.mark.parametrize(("space", "mask", "possible"), MASKED, ids=lambda each: f"{each!r:.40}")
def test_masks_are_kept(space: spaces.Space[Any], mask: Any, possible: Any) -> None:
    """And all that they allow is done."""
    seen = set()

    @settings(GENERATED, max_examples=40)
    @given(actions(space, mask))
    def look(action: Any) -> None:
        assert space.contains(action)
        told = next(iter(action.items())) if isinstance(action, dict) else action
        seen.add(
            told if isinstance(told, int) else tuple(each if isinstance(each, str) else int(each) for each in told)
        )

    look()
    assert seen == possible


@pytest.mark.parametrize(
    ("space", "mask"),
    [
        (spaces.Discrete(3), np.ones(4, np.int8)),
        (spaces.MultiDiscrete([7, 24, 16]), np.ones(545, np.int8)),
        (spaces.Tuple([spaces.Discrete(2)]), [np.ones(2, np.int8)]),
        (spaces.Dict({"a": spaces.Discrete(2)}), {"b": np.ones(2, np.int8)}),
        (spaces.Discrete(3), np.array(["a", "b", "c"])),
    ],
)
def test_a_mask_of_another_space_is_refused(space: spaces.Space[Any], mask: Any) -> None:
    """Rather than left aside without a word."""
    with pytest.raises(ValueError, match="does not fit"):
        actions(space, mask)


def test_the_space_of_an_environment_is_its_own() -> None:
    """Drawing changes nothing of what the environment's owner draws next."""
    with gymnasium.make("CartPole-v1") as env:
        env.action_space.seed(3)
        expected = [gymnasium.make("CartPole-v1").action_space.n, *map(int, (env.action_space.sample(), 0))]
        env.action_space.seed(3)
        assert find(actions(env), lambda _: True, settings=LIMITS) == 0
        assert [2, int(env.action_space.sample()), 0] == expected


def test_line_commands_are_the_lines() -> None:
    """The table that strategies know the line by says of all 545 what the line says."""
    with gymnasium.make("linegym:LineEnv-v1", action="multi") as env:
        multi = env.action_space
    for number in (0, 1, 72, 73, 200, 312, 313, 328, 329, 400, 472, 473, 496, 497, 544):
        mask = np.zeros(545, np.int8)
        mask[number] = 1

        found: list[Any] = []

        @settings(GENERATED, max_examples=1)
        @given(st.tuples(line_actions(multi, mask), line_actions(None, mask)))
        def look(drawn: Any) -> None:
            found.append(drawn)  # noqa: B023 - called at once

        look()
        command, flat = found[0]
        assert (command.tolist(), flat) == (COMMANDS[number].tolist(), number)


def test_every_verb_is_used_and_most_of_it_is_possible() -> None:
    verbs: Counter[int] = Counter()
    legal: Counter[bool] = Counter()
    mask = np.zeros(545, np.int8)
    mask[[0, 5, 80, 315, 330, 475, 500]] = 1

    # Many in one example: Hypothesis takes no example twice, and would soon have had all that is possible.
    @settings(GENERATED, max_examples=20)
    @given(st.lists(line_actions(spaces.Discrete(545), mask), min_size=20, max_size=20))
    def look(drawn: list[int]) -> None:
        verbs.update(int(COMMANDS[action][0]) for action in drawn)
        legal.update(bool(mask[action]) for action in drawn)

    look()
    assert min(verbs[int(verb)] for verb in Verb) > 4, verbs
    assert 0.02 < legal[False] / 400 < 0.4, legal


@pytest.mark.parametrize("space", [spaces.Discrete(544), spaces.MultiDiscrete([7, 24]), spaces.Box(0, 1)])
def test_other_spaces_than_the_lines_are_refused(space: spaces.Space[Any]) -> None:
    with pytest.raises(ValueError, match="not the action space of LineEnv-v1"):
        line_actions(space)


def test_a_mask_that_is_not_the_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="info\\['action_mask'\\]"):
        line_actions(mask=np.ones(24))


def unlike(data: st.DataObject, steps: int) -> Iterator[str]:
    """Play rows in a vector environment and each alone; yield where they differ."""
    ids = data.draw(st.lists(line_variants(levels=range(1, 8)), min_size=2, max_size=3))
    first = data.draw(st.integers(0, 2**31))
    vector = gymnasium.make_vec("linegym:LineEnv-v1", len(ids), variants=ids, horizon=steps, autoreset_mode="Disabled")
    alone = [gymnasium.make("linegym:LineEnv-v1", variant=each, horizon=steps) for each in ids]
    seen, told = vector.reset(seed=first)
    for row, env in enumerate(alone):
        if not np.array_equal(seen[row], env.reset(seed=first + row)[0]):
            yield f"{ids[row]} begins otherwise"
    for _ in range(steps):
        chosen = [data.draw(line_actions(vector.single_action_space, mask)) for mask in told["action_mask"]]
        seen, rewards, _, ends, told = vector.step(np.array(chosen))
        for row, env in enumerate(alone):
            observation, reward, _, truncated, info = env.step(chosen[row])
            ours = (seen[row].tobytes(), float(rewards[row]), bool(ends[row]), *(told[name][row] for name in COUNTS))
            if ours != (observation.tobytes(), reward, truncated, *(info[name] for name in COUNTS)):
                yield f"{ids[row]} goes on otherwise after {chosen[row]}"
    vector.close()


@settings(GENERATED, max_examples=5)
@given(st.data())
def test_a_vector_of_lines_equals_single_ones(data: st.DataObject) -> None:
    assert list(unlike(data, 25)) == []


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@settings(LIMITS, max_examples=200)
@given(st.data())
def test_many_vectors_of_lines_equal_single_ones(data: st.DataObject) -> None:
    assert list(unlike(data, 60)) == []


@settings(LIMITS, max_examples=50)
@given(seeds())
def test_seeds_are_what_environments_take(seed: int) -> None:
    assert 0 <= seed < SEEDS


@settings(LIMITS, max_examples=50)
@given(line_variants(["serial/thermocouple/profinet/bearing"]))
def test_line_variants_are_known_to_the_line(text: str) -> None:
    assert linegym.variant(text).id == text


@settings(LIMITS, max_examples=50)
@given(perturbations({"sensor": {name: (min(rungs), max(rungs)) for name, rungs in SENSOR.items()}}))
def test_parameters_are_plain_data_that_the_line_takes(drawn: dict[str, dict[str, float]]) -> None:
    drawn["sensor"]["signed"] = round(drawn["sensor"]["signed"])
    assert linegym.SensorPerturbation(**drawn["sensor"]).noise == drawn["sensor"]["noise"]


def test_whole_bounds_give_whole_numbers() -> None:
    drawn = find(perturbations({"load": {"spike": (1, 4)}}), lambda each: each["load"]["spike"] > 1, settings=LIMITS)
    assert drawn == {"load": {"spike": 2}}


@pytest.mark.parametrize("levels", [[], [8], range(-1, 3)])
def test_levels_that_are_none_are_refused(levels: Any) -> None:
    with pytest.raises(ValueError, match="give some of 0 to 7"):
        perturbations(levels=levels)


def test_bounds_that_hold_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"sensor\.noise from 2 to 1"):
        perturbations({"sensor": {"noise": (2, 1)}})


def all_splits() -> list[str]:
    return [entry.name for each in environments().values() if isinstance(each, Evaluable) for entry in each.splits()]


def test_there_are_splits_of_both_environments() -> None:
    assert {name.partition("/")[0] for name in all_splits()} == {"line-v1", "term-v1"}


@pytest.mark.parametrize("name", ["line-v1/iid[:5]", "term-v1/train[:5]"])
def test_variants_are_those_of_a_split(name: str) -> None:
    seen = set()

    @settings(GENERATED, max_examples=30)
    @given(variants(name))
    def look(variant: Variant) -> None:
        seen.add(variant.digest)

    look()
    assert len(seen) == 5


def test_a_split_of_ones_own_is_taken_and_an_unknown_one_is_not() -> None:
    own = Split("mine", (Variant("CartPole-v1", {}, 3),), (Labels("x"),), 1)
    assert find(variants(own), lambda _: True, settings=LIMITS) == own.variants[0]
    with pytest.raises(LookupError, match="line-v1/iid"):
        variants("line-v1/iidd")
