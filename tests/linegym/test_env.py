"""LineEnv: the seed contract, the end of an episode, what is told, and what is refused."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from line_play import action

import linegym
from linegym import plant
from linegym.env import LineEnv
from linegym.plant import (
    REWARD_FALSE,
    REWARD_FAULT,
    REWARD_INSPECT,
    REWARD_INVALID,
    REWARD_LATE,
    REWARD_OUTPUT,
    REWARD_PART,
    REWARD_SCRAP,
    REWARD_TRAVEL,
)

HARD = "hybrid/current/opcua/bearing+sensor:3+network:4+load:2"
SMALL = "inspection-split/thermocouple/ethercat/sensor-stuck+network:2"


@pytest.fixture
def env() -> Iterator[LineEnv]:
    made = LineEnv(HARD, horizon=200)
    yield made
    made.close()


def trajectory(env: gym.Env[Any, Any], steps: int, first: tuple[Any, dict[str, Any]], draws: int = 0) -> list[Any]:
    """Return what the same drawn actions bring about."""
    rng = np.random.default_rng(draws)
    seen: list[Any] = [first]
    for _ in range(steps):
        seen.append(env.step(action(seen[-1][-1]["action_mask"], rng)))
    return seen


# ---- Gymnasium's contract


@pytest.mark.parametrize("observation", ["flat", "dict"])
@pytest.mark.parametrize("kind", ["flat", "multi"])
@pytest.mark.parametrize("variant", [HARD, SMALL])
def test_gymnasiums_checker_finds_nothing(observation: str, kind: str, variant: str) -> None:
    """Warnings of the checker are what a user would stumble over; they are errors here."""
    made = gym.make(
        "linegym:LineEnv-v1", variant=variant, observation=observation, action=kind, render_mode="rgb_array"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made.unwrapped)
    made.close()


def test_observations_stay_in_their_space() -> None:
    """The bounds are what normalisers rely on; the hardest perturbations must not break them."""
    name = "rework-loop/thermocouple/mqtt/sensor-drift+sensor:7+network:7+load:7"
    made = LineEnv(name, observation="dict", horizon=300)
    for seed in range(3):
        for observation, *_ in trajectory(made, 300, made.reset(seed=seed), seed):
            assert observation in made.observation_space


def test_reset_with_the_same_seed_begins_the_same_episode(env: LineEnv) -> None:
    one = trajectory(env, 100, env.reset(seed=5))
    two = trajectory(env, 100, env.reset(seed=5))
    other = trajectory(env, 100, env.reset(seed=6))
    assert data_equivalence(one, two, exact=True)
    assert not data_equivalence(one, other)


def test_zero_is_a_seed(env: LineEnv) -> None:
    """`if seed:` has made 0 mean "none" in more than one environment."""
    env.reset(seed=7)
    observation, info = env.reset(seed=0)
    assert (info["seed"], info["episode_index"]) == (0, 0)
    again, _ = LineEnv(HARD, horizon=200).reset(seed=0)
    assert (observation == again).all()


@pytest.mark.parametrize("seed", [2**31, 2**63 - 1, np.int64(2**63 - 1), np.uint8(255), np.int32(0)])
def test_large_seeds_and_numpys_numbers_are_seeds(env: LineEnv, seed: Any) -> None:
    one = trajectory(env, 20, env.reset(seed=seed))
    two = trajectory(env, 20, env.reset(seed=int(seed)))
    assert one[0][1]["seed"] == int(seed)
    assert data_equivalence(one, two, exact=True)


@pytest.mark.parametrize(
    ("seed", "kind", "told"),
    [
        (-1, ValueError, "seed=-1 is out of range"),
        (2**63, ValueError, "from 0 to 9223372036854775807"),
        (1.0, TypeError, "seed=1.0 of type float is no whole number"),
        (float("nan"), TypeError, "seed=nan"),
        ("7", TypeError, "seed='7'"),
        (True, TypeError, "seed=True is no number"),
    ],
)
def test_what_is_no_seed_is_refused(env: LineEnv, seed: Any, kind: type[Exception], told: str) -> None:
    env.reset(seed=3)
    before = env.state_digest()
    with pytest.raises(kind, match=told):
        env.reset(seed=seed)
    assert env.state_digest() == before


def test_reset_without_a_seed_goes_on_to_the_next_episode(env: LineEnv) -> None:
    _, first = env.reset(seed=9)
    _, second = env.reset()
    _, third = env.reset()
    assert [info["episode_index"] for info in (first, second, third)] == [0, 1, 2]
    assert [info["seed"] for info in (first, second, third)] == [9, 9, 9]


def test_an_episode_does_not_depend_on_the_one_before(env: LineEnv) -> None:
    """Episode e of (variant, seed) is a function of the three: not of how long the last one was, or what was done."""
    trajectory(env, 10, env.reset(seed=4))
    short = trajectory(env, 150, env.reset())
    trajectory(env, 200, env.reset(seed=4), draws=99)
    long = trajectory(env, 150, env.reset())
    assert short[0][1]["episode_index"] == long[0][1]["episode_index"] == 1
    assert data_equivalence(short, long, exact=True)


def test_the_first_reset_draws_a_seed_and_tells_it() -> None:
    """What happened can be done again, even if nobody had thought of seeding it."""
    one, two = LineEnv(HARD), LineEnv(HARD)
    first = one.reset()
    assert first[1]["seed"] != two.reset()[1]["seed"]
    assert first[1]["seed"] == one.np_random_seed
    assert data_equivalence(first, two.reset(seed=first[1]["seed"]), exact=True)


def test_the_drawn_seed_comes_from_the_environments_generator() -> None:
    seeds = []
    for _ in range(2):
        made = LineEnv(HARD)
        made.np_random = np.random.default_rng(5)
        seeds.append(made.reset()[1]["seed"])
    assert seeds[0] == seeds[1]


def test_evaluation_episodes_are_others(env: LineEnv) -> None:
    """No training episode can be an evaluation episode, whatever its seed."""
    plain, apart = env.reset(seed=1), LineEnv(HARD, horizon=200, evaluation=True).reset(seed=1)
    assert apart[1]["seed"] == 1
    one = trajectory(env, 60, plain)
    two = trajectory(made := LineEnv(HARD, horizon=200, evaluation=True), 60, made.reset(seed=1))
    assert not data_equivalence(one[1:], two[1:])


# ---- variants


def test_reset_changes_the_variant_from_that_episode_on(env: LineEnv) -> None:
    """The places that a smaller line leaves free are empty, as if the larger one had never been there."""
    trajectory(env, 100, env.reset(seed=2))
    changed = trajectory(env, 100, env.reset(seed=2, options={"variant": SMALL}))
    fresh = trajectory(made := LineEnv(SMALL, horizon=200), 100, made.reset(seed=2))
    assert data_equivalence(changed, fresh, exact=True)
    assert env.reset()[1]["variant_id"] == SMALL
    assert env.variant.id == SMALL


def test_a_variant_can_be_given_as_itself() -> None:
    made = LineEnv(linegym.variant(SMALL))
    assert made.reset(seed=0)[1]["variant_id"] == SMALL


def test_information_says_which_line_it_is(env: LineEnv) -> None:
    _, info = env.reset(seed=11)
    assert info["variant_id"] == HARD
    assert info["template_id"] == "hybrid/current/opcua/bearing"
    assert info["intensities"].tolist() == [3, 4, 2]
    assert info["station_mask"].tolist() == [1] * 24
    _, info = env.reset(options={"variant": SMALL})
    stations = len(linegym.variant(SMALL).template.plant().stations)
    assert info["station_mask"].tolist() == [1] * stations + [0] * (24 - stations)
    assert info["action_mask"].dtype == np.int8


@pytest.mark.parametrize(
    ("arguments", "kind", "told"),
    [
        ({"variant": "serial/thermocouple/profinet/bearings"}, ValueError, "did you mean"),
        ({"variant": f"{SMALL}+sensors:1"}, ValueError, "sensors"),
        ({"variant": "serial/thermocouple/profinet/bearing+sensor:8"}, ValueError, "8"),
        ({"variant": 3}, TypeError, "variant=3 is of type int; give an id such as"),
        ({"variant": None}, TypeError, "variant=None"),
        ({"horizn": 5}, TypeError, "no argument 'horizn'; did you mean 'horizon'"),
        ({"task": "serial"}, TypeError, "LineEnv has no argument 'task'"),
        ({"horizon": 0}, ValueError, "horizon=0 is out of range"),
        ({"horizon": 30_001}, ValueError, "to 30000"),
        ({"horizon": 10.0}, TypeError, "horizon=10.0"),
        ({"ticks_per_step": 601}, ValueError, "ticks_per_step=601"),
        ({"action": "box"}, ValueError, "action='box'"),
        ({"observation": "image"}, ValueError, "observation='image'"),
        ({"evaluation": 1}, TypeError, "evaluation=1"),
        ({"render_mode": "human"}, ValueError, "allowed are 'ansi', 'rgb_array'"),
        ({"observation": "dict", "masks": False}, ValueError, "needs masks=True"),
    ],
)
def test_bad_arguments_say_what_is_allowed(arguments: dict[str, Any], kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=told):
        LineEnv(**arguments)


def test_bad_options_leave_the_episode_as_it_was(env: LineEnv) -> None:
    env.reset(seed=3)
    before = env.state_digest()
    with pytest.raises(ValueError, match="did you mean"):
        env.reset(seed=4, options={"variant": "serial/thermocouple/profinet/bearin"})
    with pytest.raises(TypeError, match="no option 'varient'; did you mean 'variant'"):
        env.reset(seed=4, options={"varient": SMALL})
    assert env.state_digest() == before


# ---- steps


def test_ends_by_truncation_at_the_horizon_and_refuses_to_go_on() -> None:
    made = LineEnv(SMALL, horizon=5)
    made.reset(seed=0)
    ends = [made.step(0)[2:4] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]
    with pytest.raises(gym.error.ResetNeeded, match="the episode has ended; call reset"):
        made.step(0)
    made.reset()
    made.step(0)


def test_refuses_to_step_before_the_first_reset() -> None:
    made = LineEnv(SMALL)
    for call in (lambda: made.step(0), made.save):
        with pytest.raises(gym.error.ResetNeeded, match="no episode has begun"):
            call()


def test_a_step_of_several_ticks_is_as_many_steps_of_nothing_after_the_command() -> None:
    """The same plant at another pace: rewards add up, and the last step ends where the shift does."""
    slow, quick = LineEnv(HARD, horizon=20, ticks_per_step=6), LineEnv(HARD, horizon=20)
    slow.reset(seed=1)
    quick.reset(seed=1)
    for number, ticks in enumerate((6, 6, 6, 2)):
        chosen = linegym.inspect(number)
        observation, reward, _, truncated, info = slow.step(chosen)
        steps = [quick.step(chosen if tick == 0 else 0) for tick in range(ticks)]
        total = 0.0
        for step in steps:
            total += step[1]
        assert reward == total
        assert truncated is steps[-1][3]
        assert info["tick"] == steps[-1][4]["tick"]
        seen = steps[-1][0].copy()
        seen[linegym.obs_spec()[629].index] = observation[629]  # `invalid` speaks of the last command
        assert (observation == seen).all()


def test_three_numbers_do_what_one_does(env: LineEnv) -> None:
    other = LineEnv(HARD, horizon=200, action="multi")
    rng = np.random.default_rng(3)
    one, two = env.reset(seed=8), other.reset(seed=8)
    for _ in range(150):
        chosen = action(one[-1]["action_mask"], rng)
        one, two = env.step(chosen), other.step(linegym.actions.command(chosen))
        assert data_equivalence(one, two, exact=True)


def test_an_impossible_action_is_flagged_and_costs_a_little(env: LineEnv) -> None:
    """A policy that tries what it may not must neither crash the training nor go unpunished."""
    other = LineEnv(HARD, horizon=200)
    env.reset(seed=0)
    other.reset(seed=0)
    _, reward, _, _, info = env.step(linegym.close(0))
    _, idle, _, _, quiet = other.step(0)
    assert (info["invalid_action"], quiet["invalid_action"]) == (True, False)
    assert reward == pytest.approx(idle - REWARD_INVALID)


def test_the_mask_says_what_is_possible(env: LineEnv) -> None:
    """Every action that the mask allows is done, every other is flagged."""
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=12)
    for _ in range(150):
        mask = info["action_mask"]
        chosen = int(rng.integers(545))
        *_, info = env.step(chosen)
        assert info["invalid_action"] is not bool(mask[chosen])
        if rng.random() < 0.5:
            *_, info = env.step(action(info["action_mask"], rng)) if not info["tick"] >= 200 else (info,)
        if info["tick"] >= 199:
            _, info = env.reset()


def test_a_repaired_fault_is_told_with_its_phases() -> None:
    """The four phases are what the trainer's segments are cut by."""
    made = LineEnv("serial/current/profinet/jam", horizon=600)
    _, info = made.reset(seed=0)
    while not info["true_faults"].any():
        *_, info = made.step(0)
    station = int(np.flatnonzero(info["true_faults"])[0])
    fault = int(info["true_faults"][station])

    def until(chosen: int) -> dict[str, Any]:
        """Do nothing until an action is possible, then do it."""
        told = info
        while not told["action_mask"][chosen]:
            *_, told = made.step(0)
        *_, told = made.step(chosen)
        return told

    info = until(linegym.inspect(station))
    info = until(linegym.diagnose(station, fault - 1))
    assert info["phase"] == 2
    info = until(linegym.dispatch(0, station))
    assert info["phase"] in (3, 4)  # he may stand there already
    info = until(linegym.close(station))
    assert (info["closed_station"], info["closed_right"], info["closed"]) == (station, True, 1)
    assert info["true_faults"][station] == 0
    assert min(info[phase] for phase in ("identify", "assess", "dispatch", "execute")) >= 0
    assert info["execute"] > 0


def test_without_masks_nothing_else_changes(env: LineEnv) -> None:
    bare = LineEnv(HARD, horizon=200, masks=False)
    one, two = env.reset(seed=3), bare.reset(seed=3)
    one[1].pop("action_mask")
    assert data_equivalence(one, two, exact=True)


# ---- keeping and going back


def test_restores_a_kept_moment_as_often_as_wanted(env: LineEnv) -> None:
    trajectory(env, 60, env.reset(seed=1))
    kept = env.save()
    digest = env.state_digest()
    one = trajectory(env, 60, (None, env.restore(kept)[1]))
    trajectory(env, 30, env.reset(seed=99, options={"variant": SMALL}))
    seen, info = env.restore(kept)
    assert env.state_digest() == digest
    two = trajectory(env, 60, (None, info))
    assert data_equivalence(one[1:], two[1:], exact=True)
    assert env.reset()[1]["episode_index"] == 1
    assert seen in env.observation_space


def test_a_kept_moment_moves_to_another_environment_and_process(env: LineEnv) -> None:
    trajectory(env, 60, env.reset(seed=1))
    kept = pickle.loads(pickle.dumps(env.save()))
    other = LineEnv(SMALL, horizon=200)
    first = other.restore(kept)
    assert data_equivalence(first[0], env.restore(kept)[0], exact=True)
    assert data_equivalence(trajectory(env, 50, first)[1:], trajectory(other, 50, first)[1:], exact=True)
    assert data_equivalence(env.reset(), other.reset(), exact=True)


def test_a_kept_end_is_an_end() -> None:
    made = LineEnv(SMALL, horizon=2)
    made.reset(seed=0)
    made.step(0)
    made.step(0)
    kept = made.save()
    made.reset()
    made.restore(kept)
    with pytest.raises(gym.error.ResetNeeded, match="ended"):
        made.step(0)


def test_restore_refuses_what_does_not_fit(env: LineEnv) -> None:
    env.reset(seed=0)
    kept = env.save()
    with pytest.raises(TypeError, match="give what save"):
        env.restore(b"bytes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="horizon=200, here it is 300"):
        LineEnv(HARD, horizon=300).restore(kept)
    with pytest.raises(ValueError, match="evaluation=False, here it is True"):
        LineEnv(HARD, horizon=200, evaluation=True).restore(kept)


# ---- with others


def test_what_is_returned_belongs_to_the_caller(env: LineEnv) -> None:
    seen, info = env.reset(seed=0)
    kept, mask = seen.copy(), info["action_mask"].copy()
    trajectory(env, 50, (seen, info))
    assert (seen == kept).all()
    assert (info["action_mask"] == mask).all()
    seen[:] = 7
    info["station_mask"][:] = 7
    assert (env.reset(seed=0)[0] == kept).all()
    assert env.reset(seed=0)[1]["station_mask"].max() == 1


def test_two_environments_do_not_touch_each_other_or_numpys_generator() -> None:
    """Peers reseed the process's generator in every reset."""
    np.random.seed(3)
    expected = np.random.get_state()[1].tolist()  # type: ignore[index]
    alone, first, second = (LineEnv(HARD) for _ in range(3))
    want = trajectory(alone, 40, alone.reset(seed=1))
    one = first.reset(seed=1)
    two = second.reset(seed=2)
    rngs = np.random.default_rng(0), np.random.default_rng(5)
    seen = [one]
    for _ in range(40):
        seen.append(first.step(action(seen[-1][-1]["action_mask"], rngs[0])))
        two = second.step(action(two[-1]["action_mask"], rngs[1]))
    assert data_equivalence(seen, want, exact=True)
    assert np.random.get_state()[1].tolist() == expected  # type: ignore[index]


def test_the_spaces_mask_sampling_works(env: LineEnv) -> None:
    _, info = env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(50):
        *_, info = env.step(env.action_space.sample(mask=info["action_mask"]))
        assert not info["invalid_action"]


def test_docstring_tells_the_rewards_that_are_paid() -> None:
    """Numbers in prose go stale in silence."""
    table = [
        line.split("|")[1].strip()
        for line in (LineEnv.__doc__ or "").split("## Rewards")[1].split("##")[0].splitlines()
        if "|" in line
    ]
    told = [float(number) for number in table[2:]]
    assert len(told) == sum(name.startswith("REWARD_") for name in vars(plant))
    assert told == [
        REWARD_OUTPUT,
        -REWARD_SCRAP,
        -REWARD_FAULT,
        -REWARD_PART,
        -REWARD_TRAVEL,
        -REWARD_INSPECT,
        -REWARD_FALSE,
        -REWARD_LATE,
        -REWARD_INVALID,
    ]


def test_another_process_gives_the_same_episode(env: LineEnv) -> None:
    """Hash seeds, import order and dictionaries of another process must have no part in it."""
    code = (
        "import numpy as np, linegym\n"
        f"env = linegym.LineEnv({HARD!r}, horizon=200); env.reset(seed=21)\n"
        "for _ in range(50): env.step(linegym.inspect(3))\n"
        "print(env.state_digest())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    env.reset(seed=21)
    for _ in range(50):
        env.step(linegym.inspect(3))
    assert done.stdout.strip() == env.state_digest()
