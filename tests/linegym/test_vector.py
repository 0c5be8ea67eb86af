"""LineVectorEnv: row by row and bit by bit what single environments give."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from line_play import action, actions

import linegym
from linegym.assignment import Assignment
from linegym.env import LineEnv
from linegym.information import KEYS
from linegym.variants import Variant
from linegym.vector import LineVectorEnv

MODES = list(AutoresetMode)
SEVERAL = (
    "hybrid/current/opcua/bearing+sensor:3",
    "inspection-split/thermocouple/ethercat/sensor-stuck+network:4",
    "serial/current/profinet/jam+load:5",
    "rework-loop/thermocouple/mqtt/bearing",
)
"""Lines of 24, 10, some and 16 stations."""


def make(num_envs: int = 4, variants: Any = SEVERAL, **settings: Any) -> LineVectorEnv:
    made = gym.make_vec("linegym:LineEnv-v1", num_envs=num_envs, variants=variants, **settings)
    assert isinstance(made, LineVectorEnv)
    return made


def singles(mode: AutoresetMode, variants: Any = SEVERAL, **settings: Any) -> SyncVectorEnv:
    """Return single environments under Gymnasium's own loop."""
    return SyncVectorEnv([lambda name=name: LineEnv(name, **settings) for name in variants], autoreset_mode=mode)


# ---- equality with single environments


@pytest.mark.parametrize("kind", ["flat", "multi"])
def test_an_action_of_a_row_is_the_same_call(kind: str) -> None:
    """Whoever listens to a row for what came of what understands it as it understands a line alone."""
    ours, alone = make(action=kind), LineEnv(SEVERAL[0], action=kind)
    assert ours.tools == alone.tools
    drawn = alone.action_space
    drawn.seed(3)
    heard = 0
    for _ in range(50):
        chosen = drawn.sample()
        try:
            call = alone.call_of(chosen)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                ours.call_of(chosen)
            continue
        assert ours.call_of(chosen) == call
        heard += 1
    assert heard > 5


@pytest.mark.parametrize("observation", ["flat", "dict"])
@pytest.mark.parametrize("mode", MODES)
def test_equals_single_environments_row_by_row(mode: AutoresetMode, observation: str) -> None:
    """Observations, rewards, ends and all information, over several episodes, in every autoreset mode."""
    ours = make(autoreset_mode=mode, horizon=30, observation=observation)
    theirs = singles(mode, horizon=30, observation=observation)
    rng = np.random.default_rng(0)
    one, two = ours.reset(seed=7), theirs.reset(seed=7)
    assert data_equivalence(one, two, exact=True)
    masks, ended = one[1]["action_mask"], np.zeros(4, dtype=bool)
    for number in range(100):
        if number == 12:
            ended = np.array([False, True, False, True])  # from now on not all rows end in the same step
        if number == 12 or (mode is AutoresetMode.DISABLED and ended.any()):
            one, two = (env.reset(options={"reset_mask": ended.copy()}) for env in (ours, theirs))
            assert data_equivalence(one[0], two[0], exact=True)
            assert_rows_equal(one[1], two[1], ended)
            masks = one[1]["action_mask"]
        chosen = actions(masks, rng)
        one, two = ours.step(chosen), theirs.step(chosen)
        for index in range(4):
            assert data_equivalence(one[index], two[index], exact=True), (number, index)
        ended = np.logical_or(one[2], one[3])
        final = one[4].pop("final_obs_array", None)
        assert data_equivalence(one[4], two[4], exact=True), number
        assert (final is not None) is bool(mode is AutoresetMode.SAME_STEP and ended.any())
        masks = one[4]["action_mask"]
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert one[0] in ours.observation_space
    assert ours.metadata["autoreset_mode"] is mode


def assert_rows_equal(ours: dict[str, Any], theirs: dict[str, Any], rows: Any) -> None:
    """After a partial reset Gymnasium tells of the rows that were reset; ours tells of all, and marks those."""
    assert ours.keys() == theirs.keys()
    for name, values in theirs.items():
        if name.startswith("_"):
            assert (ours[name] == values).all(), name
        else:
            assert data_equivalence(ours[name][rows], values[rows], exact=True), name


def test_equals_single_environments_with_three_numbers_and_several_ticks() -> None:
    settings = {"action": "multi", "ticks_per_step": 7, "horizon": 50, "evaluation": True}
    ours, theirs = make(**settings), singles(AutoresetMode.NEXT_STEP, **settings)
    assert data_equivalence(ours.reset(seed=3), theirs.reset(seed=3), exact=True)
    ours.action_space.seed(5)
    for _ in range(30):
        chosen = ours.action_space.sample()
        assert data_equivalence(ours.step(chosen), theirs.step(chosen), exact=True)


def test_a_row_depends_on_neither_place_nor_neighbours_nor_threads() -> None:
    """300 rows are above the size from which threads are used."""
    names = [linegym.split("train")[index * 23] for index in range(300)]
    order = np.random.default_rng(1).permutation(300)
    plain = make(300, names, horizon=25)
    mixed = make(300, [names[index] for index in order], horizon=25, num_threads=2)
    seeds = np.arange(300) * 1000
    one, two = plain.reset(seed=seeds), mixed.reset(seed=seeds[order])
    rng = np.random.default_rng(2)
    for _ in range(40):
        assert (one[0][order] == two[0]).all()
        chosen = actions(one[-1]["action_mask"], rng)
        one, two = plain.step(chosen), mixed.step(chosen[order])
        assert (one[1][order] == two[1]).all()
    assert {plain.state_digest(int(order[row])) == mixed.state_digest(row) for row in range(300)} == {True}


def test_one_row_is_a_single_environment() -> None:
    ours, single = make(1, [SEVERAL[0]], horizon=40), LineEnv(SEVERAL[0], horizon=40)
    ours.reset(seed=5)
    single.reset(seed=5)
    for number in range(40):
        ours.step([linegym.inspect(number % 24)])
        single.step(linegym.inspect(number % 24))
    assert ours.state_digest(0) == single.state_digest()


def test_infos_are_dense_arrays_of_all_rows() -> None:
    """A dictionary a row would cost more than the step."""
    env = make(5, SEVERAL[0])
    _, infos = env.reset(seed=0)
    assert set(infos) >= {*KEYS, "variant_id", "template_id", "seed", "action_mask", "station_mask", "true_faults"}
    assert all(isinstance(values, np.ndarray) and len(values) == 5 for values in infos.values())
    assert all(infos[f"_{name}"].all() for name in infos if not name.startswith("_"))


def test_final_observations_are_one_array_too() -> None:
    env = make(autoreset_mode="SameStep", horizon=3)
    env.reset(seed=0)
    for _ in range(3):
        seen, _, _, truncated, infos = env.step(np.zeros(4, dtype=int))
    assert truncated.all()
    assert (np.stack(infos["final_obs"]) == infos["final_obs_array"]).all()
    assert infos["final_info"]["tick"].tolist() == [3] * 4
    assert infos["tick"].tolist() == [0] * 4
    assert infos["episode_index"].tolist() == [1] * 4
    assert not (seen == infos["final_obs_array"]).all()


# ---- seeds


@pytest.mark.parametrize(
    "seed", [0, np.int64(0), [0, 1, 2, 3], np.arange(4), np.arange(4, dtype=np.uint64), (0, 1, 2, 3)]
)
def test_seeds_in_every_spelling(seed: Any) -> None:
    env = make()
    _, infos = env.reset(seed=seed)
    assert infos["seed"].tolist() == [0, 1, 2, 3]
    assert infos["episode_index"].tolist() == [0] * 4


def test_rows_without_a_seed_go_on_and_rows_that_have_none_draw_one() -> None:
    env = make()
    _, first = env.reset(seed=[5, None, 7, None])
    assert first["seed"][[0, 2]].tolist() == [5, 7]
    assert len(set(first["seed"].tolist())) == 4
    _, second = env.reset(seed=[None, 3, None, None])
    assert second["seed"].tolist() == [5, 3, 7, first["seed"][3]]
    assert second["episode_index"].tolist() == [1, 0, 1, 1]
    _, third = env.reset()
    assert third["episode_index"].tolist() == [2, 1, 2, 2]


def test_a_seeded_batch_draws_the_same_seeds_for_rows_that_are_given_none() -> None:
    drawn = []
    for _ in range(2):
        env = make()
        env.np_random = np.random.default_rng(4)
        drawn.append(env.reset()[1]["seed"].tolist())
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 4


@pytest.mark.parametrize(
    ("seed", "kind", "told"),
    [
        ([1], ValueError, "got 1 seeds for 4 rows"),
        (np.zeros((4, 1), int), ValueError, r"shape \(4, 1\)"),
        (-1, ValueError, "seed=-1"),
        ([0, 1, -2, 3], ValueError, "seed=-2"),
        (2**63 - 1, ValueError, "leaves no room for 4 rows"),
        (1.5, TypeError, "seed=1.5"),
        ([0, 1.0, 2, 3], TypeError, "seed=1.0"),
        (np.zeros(4), TypeError, "no whole number"),
        ("1234", TypeError, "seed='1234'"),
    ],
)
def test_what_are_no_seeds_is_refused(seed: Any, kind: type[Exception], told: str) -> None:
    env = make()
    env.reset(seed=0)
    with pytest.raises(kind, match=told):
        env.reset(seed=seed)
    assert env.step(np.zeros(4, dtype=int))[4]["tick"].tolist() == [1] * 4


# ---- variants


def test_seven_thousand_rows_play_each_training_variant_once() -> None:
    """Duplicates in one place are holes in another."""
    dealt = Assignment("train", 7000)
    assert dealt.lasting
    counted = Counter(dealt.of(row, 3).id for row in range(7000))
    assert set(counted.values()) == {1}
    assert set(counted) == {variant.id for variant in linegym.split("train")}


def test_few_rows_see_every_variant_of_a_split_and_many_kinds_at_once() -> None:
    dealt = Assignment("validation", 14)
    seen = [dealt.of(row, episode).id for episode in range(25) for row in range(14)]
    assert sorted(seen) == sorted(variant.id for variant in linegym.split("validation"))
    first = [Assignment("train", 16).of(row, 0) for row in range(16)]
    assert len({variant.template.topology for variant in first}) >= 4


def test_a_sequence_is_dealt_in_order_and_on_over_the_episodes() -> None:
    env = make(2, SEVERAL, horizon=1, autoreset_mode="SameStep")
    _, infos = env.reset(seed=0)
    seen = [infos["variant_id"].tolist()]
    seen += [env.step([0, 0])[4]["variant_id"].tolist() for _ in range(3)]
    assert seen == [list(SEVERAL[:2]), list(SEVERAL[2:]), list(SEVERAL[:2]), list(SEVERAL[2:])]


@pytest.mark.parametrize("mode", MODES)
def test_a_sampler_is_asked_for_row_and_episode(mode: AutoresetMode) -> None:
    """A curriculum chooses as episodes begin; what it said must be what is played, in single environments too."""

    def sampler(row: int, episode: int) -> str:
        return SEVERAL[(row + 3 * episode) % 4]

    env = make(4, sampler, horizon=2, autoreset_mode=mode)
    observation, infos = env.reset(seed=9)
    for _ in range(7):
        for row in range(4):
            single = LineEnv(horizon=2)
            wanted = {"variant": sampler(row, int(infos["episode_index"][row]))}
            first, told = single.reset(seed=9 + row, options=wanted)
            for _ in range(int(infos["episode_index"][row])):
                first, told = single.reset()
            if infos["tick"][row] == 0:
                assert (observation[row] == first).all()
            assert told["variant_id"] == infos["variant_id"][row]
            assert (told["station_mask"] == infos["station_mask"][row]).all()
        observation, _, _, truncated, infos = env.step(np.zeros(4, dtype=int))
        if mode is AutoresetMode.DISABLED and truncated.any():
            observation, infos = env.reset(options={"reset_mask": truncated})
    assert infos["episode_index"].max() >= 2


def test_variants_can_be_dealt_anew() -> None:
    env = make(4, SEVERAL[0], horizon=50)
    env.reset(seed=0)
    mask = np.array([True, False, True, False])
    _, infos = env.reset(options={"variants": SEVERAL[1], "reset_mask": mask})
    assert infos["variant_id"].tolist() == [SEVERAL[1], SEVERAL[0]] * 2
    _, infos = env.reset()
    assert infos["variant_id"].tolist() == [SEVERAL[1]] * 4
    assert [variant.id for variant in env.variants] == [SEVERAL[1]] * 4


def test_variants_may_be_objects() -> None:
    variant = linegym.variant(SEVERAL[2])
    assert make(2, variant).reset(seed=0)[1]["variant_id"].tolist() == [SEVERAL[2]] * 2
    assert make(2, lambda *_: variant).reset(seed=0)[1]["variant_id"].tolist() == [SEVERAL[2]] * 2
    assert isinstance(make(2, [variant, SEVERAL[0]]).variants[1], Variant)


# ---- copies and buffers


def test_what_is_returned_belongs_to_the_caller() -> None:
    """Environments that reuse their buffer corrupt replay memories, and the observations of SAME_STEP."""
    env = make(horizon=5, autoreset_mode="SameStep")
    seen = [env.reset(seed=0)] + [env.step(np.zeros(4, dtype=int)) for _ in range(6)]
    first = [
        (item[0].copy(), {k: np.copy(v) for k, v in item[-1].items() if isinstance(v, np.ndarray)}) for item in seen
    ]
    for _ in range(6):
        env.step(np.array([linegym.inspect(1)] * 4))
    for (observation, infos), item in zip(first, seen, strict=True):
        assert (item[0] == observation).all()
        assert all((item[-1][name] == values).all() for name, values in infos.items() if values.dtype != object)


def test_without_copies_the_same_array_comes_back() -> None:
    env, copying = make(copy=False), make()
    one, _ = env.reset(seed=0)
    copying.reset(seed=0)
    two = env.step(np.zeros(4, dtype=int))[0]
    assert one is two
    assert (two == copying.step(np.zeros(4, dtype=int))[0]).all()


# ---- the end, and what is refused


def test_disabled_mode_wants_a_reset_of_the_rows_that_ended() -> None:
    env = make(autoreset_mode=AutoresetMode.DISABLED, horizon=3)
    env.reset(seed=0)
    env.step([0] * 4)
    env.reset(options={"reset_mask": np.array([True, True, False, False])})
    env.step([0] * 4)
    *_, truncated, _ = env.step([0] * 4)
    assert truncated.tolist() == [False, False, True, True]
    with pytest.raises(gym.error.ResetNeeded, match=r"rows \[2, 3\] have ended"):
        env.step([0] * 4)
    env.reset(options={"reset_mask": truncated})
    env.step([0] * 4)


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda env: env.step([0] * 3), ValueError, r"shape \(3,\)"),
        (lambda env: env.step(np.array([0.0, np.nan, 0.0, 0.0])), TypeError, "float64"),
        (lambda env: env.step([0, 0, 0, 545]), ValueError, "action 545 of row 3"),
        (lambda env: env.step(0), ValueError, r"shape \(\)"),
        (lambda env: env.reset(options={"reset_mask": [True] * 4}), TypeError, "array of 4 booleans"),
        (lambda env: env.reset(options={"reset_mask": np.ones(4)}), TypeError, "array of 4 booleans"),
        (lambda env: env.reset(options={"reset_mask": np.ones(3, dtype=bool)}), ValueError, "array of 4 booleans"),
        (lambda env: env.reset(options={"reset_mask": np.zeros(4, dtype=bool)}), ValueError, "one True at least"),
        (lambda env: env.reset(options={"mask": None}), TypeError, "no option 'mask'; did you mean 'reset_mask'"),
        (lambda env: env.reset(options={"variants": "trian"}), ValueError, "train"),
        (lambda env: env.restore(4, env.save(0)), ValueError, "row=4"),
        (lambda env: env.restore(0, b""), TypeError, "give what save"),
    ],
)
def test_bad_calls_change_nothing(call: Callable[[Any], Any], kind: type[Exception], told: str) -> None:
    env = make()
    env.reset(seed=0)
    before = [env.state_digest(row) for row in range(4)]
    with pytest.raises(kind, match=told):
        call(env)
    assert [env.state_digest(row) for row in range(4)] == before


@pytest.mark.parametrize(
    ("arguments", "kind", "told"),
    [
        ({"num_envs": 0}, ValueError, "num_envs=0"),
        ({"num_envs": 2.0}, TypeError, "num_envs=2.0"),
        ({"variants": "serial/thermocouple/profinet/bering"}, ValueError, "did you mean"),
        ({"variants": "trian"}, ValueError, "did you mean"),
        ({"variants": []}, ValueError, "holds no variant"),
        ({"variants": 7}, TypeError, "variants=7 is of type int"),
        ({"variants": lambda *_: None}, TypeError, "variant=None"),
        ({"autoreset_mode": "Later"}, ValueError, "'Later' is not known; allowed are .*'NextStep'"),
        ({"num_threads": 0}, ValueError, "num_threads=0"),
        ({"copy": 1}, TypeError, "copy=1"),
        ({"variant": SEVERAL[0]}, TypeError, "no argument 'variant'; did you mean 'variants'"),
        ({"horizon": 10, "max_episode_steps": 20}, ValueError, "differ"),
    ],
)
def test_bad_arguments_say_what_is_allowed(arguments: dict[str, Any], kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=told):
        LineVectorEnv(**{"num_envs": 2, "variants": SEVERAL[0], **arguments})


def test_a_partial_reset_cannot_come_first() -> None:
    env = make()
    with pytest.raises(gym.error.ResetNeeded, match="never been reset"):
        env.reset(options={"reset_mask": np.array([True, False, True, True])})
    with pytest.raises(gym.error.ResetNeeded, match="no episode has begun"):
        env.step([0] * 4)


def test_max_episode_steps_is_the_horizon_in_steps() -> None:
    env = make(max_episode_steps=3, ticks_per_step=4)
    env.reset(seed=0)
    assert [bool(env.step([0] * 4)[3].all()) for _ in range(3)] == [False, False, True]


# ---- keeping and going back; others


def test_a_row_goes_back_and_its_neighbours_do_not() -> None:
    env = make(horizon=40)
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        *_, infos = env.step(actions(infos["action_mask"], rng))
    kept = env.save(1)
    other = LineEnv(SEVERAL[0], horizon=40)
    seen, told = other.restore(kept)
    for _ in range(10):
        *_, infos = env.step(actions(infos["action_mask"], rng))
    digests = [env.state_digest(row) for row in range(4)]
    env.restore(3, kept)
    assert [env.state_digest(row) for row in range(3)] == digests[:3]
    assert env.state_digest(3) == other.state_digest()
    for _ in range(30):
        chosen = action(told["action_mask"], rng)
        seen, _, _, ended, told = other.step(chosen)
        observations, _, _, _, infos = env.step(np.array([0, 0, 0, chosen]))
        assert (observations[3] == seen).all()
        assert infos["variant_id"][3] == SEVERAL[1]
        if ended:
            break
    *_, infos = env.step([0] * 4)
    assert infos["variant_id"][3] == SEVERAL[3]


def test_gymnasiums_vector_wrappers_work() -> None:
    env = gym.wrappers.vector.RecordEpisodeStatistics(make(horizon=4))
    env.reset(seed=0)
    for _ in range(4):
        *_, infos = env.step(np.zeros(4, dtype=int))
    assert infos["episode"]["l"].tolist() == [4] * 4


def test_gymnasiums_worker_processes_work() -> None:
    """AsyncVectorEnv: a process a row, made by spawning, since a compiled kernel does not like forks."""
    names = SEVERAL[:2]
    env = AsyncVectorEnv([lambda name=name: LineEnv(name, horizon=20) for name in names], context="spawn")
    ours = make(2, names, horizon=20)
    try:
        assert data_equivalence(env.reset(seed=3), ours.reset(seed=3), exact=True)
        for _ in range(25):
            assert data_equivalence(env.step(np.array([1, 2])), ours.step(np.array([1, 2])), exact=True)
    finally:
        env.close()


def test_the_spec_makes_the_same_batch_again() -> None:
    env = make(horizon=9, autoreset_mode="Disabled")
    again = gym.make_vec(env.spec)
    assert data_equivalence(env.reset(seed=1), again.reset(seed=1), exact=True)
    assert again.num_envs == 4
