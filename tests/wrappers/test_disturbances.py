"""What every effect promises, on environments that know nothing of it."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import json
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rolf.checks import check_all
from rolf.replay import replay
from rolf_wrappers import (
    Distortion,
    DistortObservation,
    Drift,
    DriftObservation,
    ImpulseObservation,
    Impulses,
    Jitter,
    JitterFrames,
    Network,
    NetworkAction,
    NetworkObservation,
    Noise,
    NoisyObservation,
    RecordTrajectory,
    Sticking,
    StickObservation,
)

Env = gym.Env[Any, Any]


class Tank(gym.Env[Any, int]):
    """A level and a temperature that wander; observations are a Dict, written into buffers of its own."""

    def __init__(self) -> None:
        boxes = {"level": gym.spaces.Box(-1000.0, 1000.0, (1,), np.float64), "heat": gym.spaces.Box(-500, 500, (2, 2))}
        self.observation_space = gym.spaces.Dict({**boxes, "day": gym.spaces.Discrete(7)})
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.level, self.heat, self.steps = np.zeros(1), np.full((2, 2), 20, np.float32), 0
        return self._seen(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.level += self.np_random.normal() + action
        self.heat += self.np_random.normal(size=(2, 2))
        self.steps += 1
        return self._seen(), float(action), False, self.steps == 50, {}

    def _seen(self) -> dict[str, Any]:
        return {"level": self.level.copy(), "heat": self.heat.copy(), "day": self.steps % 7}


gym.register("Tank-v0", entry_point=Tank)

WORLDS: dict[str, dict[str, Any]] = {"CartPole-v1": {}, "Pendulum-v1": {}, "Tank-v0": {"key": "heat"}}
SENSORS: dict[str, tuple[Callable[..., Env], Any]] = {
    "distort": (DistortObservation, Distortion),
    "noise": (NoisyObservation, Noise),
    "impulse": (ImpulseObservation, Impulses),
    "drift": (DriftObservation, Drift),
    "stick": (StickObservation, Sticking),
    "network": (NetworkObservation, Network),
}
EFFECTS = {**SENSORS, "actions": (NetworkAction, Network), "jitter": (JitterFrames, Jitter)}


def disturbed(effect: str, world: str, intensity: int) -> Env:
    wrapper, law = EFFECTS[effect]
    return wrapper(gym.make(world), law.at(intensity), **(WORLDS[world] if effect in SENSORS else {}))


def run(env: Env, seed: int | None, steps: int = 40) -> list[Any]:
    """Return everything that an episode of fixed actions gives, without its infos."""
    env.action_space.seed(1)
    seen: list[Any] = [copy.deepcopy(env.reset(seed=seed)[0])]
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        seen.append(copy.deepcopy((observation, float(reward), terminated, truncated)))
        if terminated or truncated:
            break
    return seen


def same(one: Any, two: Any) -> bool:
    return gym.utils.env_checker.data_equivalence(one, two, exact=True)


def bounds(space: gym.Space[Any]) -> list[Any]:
    """Return the bounds, every bit of them: Gymnasium's own comparison takes nearly equal Boxes for equal."""
    boxes = space.spaces.values() if isinstance(space, gym.spaces.Dict) else [space]
    return [(box.low.tolist(), box.high.tolist()) for box in boxes if isinstance(box, gym.spaces.Box)]


def generators(env: Env) -> list[np.random.Generator]:
    return list(env.get_wrapper_attr("streams")._generators.values())


every_effect = pytest.mark.parametrize("effect", EFFECTS)
every_world = pytest.mark.parametrize("world", WORLDS)


@every_effect
@every_world
@pytest.mark.parametrize("intensity", [1, 7])
def test_passes_gymnasium_s_checker(effect: str, world: str, intensity: int) -> None:
    """Among others: observations lie in the space, a seed means one episode, nothing that was returned is reused."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*(infinity|different from the unwrapped|symmetric and normalized)")
        check_env(disturbed(effect, world, intensity), skip_render_check=True)


@every_effect
@every_world
def test_passes_our_checks(effect: str, world: str) -> None:
    """A wrapper keeps what its environment keeps: the tank draws from one generator in reset and step, so it cannot."""
    skipped = ["no_leaks", *(["step_independence"] if world == "Tank-v0" else [])]
    check_all(functools.partial(disturbed, effect, world, 5), processes=0, skip=skipped, steps=20).require()


@every_effect
@every_world
@pytest.mark.parametrize("intensity", [1, 5])
def test_observations_keep_to_the_space(effect: str, world: str, intensity: int) -> None:
    """The bounds are those of the disturbed readings, so a trainer that scales by them is right."""
    env = disturbed(effect, world, intensity)
    for seed in range(20):
        first, *rest = run(env, seed)
        assert all(seen in env.observation_space for seen in [first, *(step[0] for step in rest)])


@every_effect
@every_world
def test_intensity_zero_changes_no_bit(effect: str, world: str) -> None:
    """Sweeps begin at 0; a rounding there would pass for an effect."""
    env, bare = disturbed(effect, world, 0), gym.make(world)
    assert bounds(env.observation_space) == bounds(bare.observation_space)
    frames = JitterFrames(gym.make(world), Jitter.at(0), frames=1) if effect == "jitter" else env
    assert same(run(frames, 3), run(bare, 3))


@every_effect
def test_intensity_has_an_effect(effect: str) -> None:
    """An effect that nobody sees teaches nothing, and has happened elsewhere."""
    world = {"actions": "CartPole-v1"}.get(effect, "Pendulum-v1")
    runs = [run(disturbed(effect, world, intensity), 3, 100) for intensity in (0, 1, 3, 5)]
    assert not any(same(one, two) for one, two in itertools.pairwise(runs))


@every_effect
@every_world
def test_a_seed_brings_everything_back(effect: str, world: str) -> None:
    """Seed 0 is a seed; the second episode of a seed comes back too."""
    env, other = disturbed(effect, world, 5), disturbed(effect, world, 5)
    for seed in (0, 2**63 - 1):
        assert same(run(env, seed), run(other, seed))
        assert same(run(env, None), run(other, None))
    assert not same(run(env, 0), run(env, 1))


@every_effect
@every_world
def test_an_episode_does_not_depend_on_the_one_before(effect: str, world: str) -> None:
    """Neither its length nor what was under way in it leaks into the next; elsewhere buffers outlive episodes."""
    env, other = disturbed(effect, world, 5), disturbed(effect, world, 5)
    run(env, 5, steps=2)
    run(other, 5, steps=7)
    # The environment's own generator has moved on by another number of draws: give both worlds the same one.
    env.unwrapped.np_random = np.random.default_rng(1)
    other.unwrapped.np_random = np.random.default_rng(1)
    assert same(run(env, None), run(other, None))


@every_effect
def test_no_two_episodes_of_a_seed_are_disturbed_alike(effect: str) -> None:
    """A policy could learn one disturbance by heart."""
    env = disturbed(effect, "Pendulum-v1", 5)
    env.reset(seed=1)
    words = [generator.random() for generator in generators(env)]
    env.reset()
    assert not set(words) & {generator.random() for generator in generators(env)}


@every_effect
@every_world
def test_the_environment_s_own_draws_stay_its_own(effect: str, world: str) -> None:
    """Otherwise a disturbed run and a clean one would differ by more than the disturbance."""
    env, bare = disturbed(effect, world, 5), gym.make(world)
    for each in (env, bare):
        each.reset(seed=4)
    assert env.unwrapped.np_random.bit_generator.state == bare.unwrapped.np_random.bit_generator.state


@pytest.mark.parametrize("left_out", SENSORS)
def test_an_effect_left_out_moves_no_other_s_draws(left_out: str) -> None:
    """Then the difference between two runs is that effect and nothing else."""

    def draws(intensities: dict[str, int]) -> dict[str, Any]:
        env: Env = gym.make("Pendulum-v1")
        for effect, (wrapper, law) in SENSORS.items():
            if effect in intensities:
                env = wrapper(env, law.at(intensities[effect]))
        run(env, 6)
        states = {}
        while isinstance(env, gym.Wrapper):
            if hasattr(env, "streams"):
                states[env.streams.name] = [generator.bit_generator.state for generator in generators(env)]
            env = env.env
        return states

    everything = draws(dict.fromkeys(SENSORS, 4))
    assert len(everything) == len(SENSORS)
    assert draws(dict.fromkeys(SENSORS, 4) | {left_out: 0}) == everything
    without = draws({effect: 4 for effect in SENSORS if effect != left_out})
    assert without.items() < everything.items()


def test_choosing_numbers_moves_no_draws() -> None:
    """The noise on a number is its own, whichever others have noise, and two sensors never share one."""
    clean = gym.make("Pendulum-v1").reset(seed=1)[0]
    whole = NoisyObservation(gym.make("Pendulum-v1"), Noise(1.0)).reset(seed=1)[0] - clean
    for dim in range(3):
        part = NoisyObservation(gym.make("Pendulum-v1"), Noise(1.0), dims=[dim]).reset(seed=1)[0] - clean
        assert part[dim] == whole[dim]
        assert np.count_nonzero(part) == 1
    assert len(set(whole.tolist())) == 3


def test_two_of_one_kind_draw_apart() -> None:
    """Noise on two entries, or twice on one, would otherwise be the same noise, or twice as strong."""
    tank = NoisyObservation(NoisyObservation(Tank(), Noise(1.0), key="level"), Noise(1.0), key="heat")
    seen = tank.reset(seed=1)[0]
    assert not np.isin(seen["level"], seen["heat"] - 20).any()
    one = NoisyObservation(gym.make("Pendulum-v1"), Noise(1.0)).reset(seed=1)[0]
    two = NoisyObservation(NoisyObservation(gym.make("Pendulum-v1"), Noise(1.0)), Noise(1.0)).reset(seed=1)[0]
    clean = gym.make("Pendulum-v1").reset(seed=1)[0]
    assert not np.allclose(two - one, one - clean)


def test_without_a_seed_the_environment_s_own_brings_everything_back() -> None:
    """A run that nobody seeded can be done again from the one number that Gymnasium keeps."""
    env = NoisyObservation(gym.make("Pendulum-v1"), Noise(1.0))
    first = run(env, None)
    assert same(first, run(NoisyObservation(gym.make("Pendulum-v1"), Noise(1.0)), env.unwrapped.np_random_seed))


def test_a_generator_set_by_hand_does_not_stop_it() -> None:
    """Gymnasium then answers -1 for the seed, which is none."""
    env = NoisyObservation(Tank(), Noise(1.0), key="level")
    env.unwrapped.np_random = np.random.default_rng(1)
    assert env.reset()[0] in env.observation_space


@every_effect
@every_world
def test_is_made_again_from_plain_data(effect: str, world: str, tmp_path: Any) -> None:
    """An environment's spec says all of it, in JSON; so a trajectory that was recorded can be replayed."""
    env = disturbed(effect, world, 4)
    assert env.spec is not None
    kwargs = json.loads(json.dumps([wrapper.kwargs for wrapper in env.spec.additional_wrappers]))
    assert kwargs == [wrapper.kwargs for wrapper in env.spec.additional_wrappers]
    assert same(run(env, 2), run(gym.make(env.spec), 2))
    if world != "Tank-v0":  # registered here, so unknown to a replay elsewhere
        with RecordTrajectory(env, tmp_path / "t.jsonl") as recorded:
            run(recorded, 2, steps=5)
        assert str(replay(tmp_path / "t.jsonl")).startswith("equal: ")


@every_effect
def test_many_at_once_go_through_make_vec(effect: str) -> None:
    """Each row is what the environment alone is under that row's seed."""
    wrapper, law = EFFECTS[effect]
    envs = gym.make_vec("Pendulum-v1", 3, vectorization_mode="sync", wrappers=(lambda env: wrapper(env, law.at(4)),))
    envs.action_space.seed(2)
    actions = [envs.action_space.sample() for _ in range(5)]
    seen = [envs.reset(seed=10)[0]] + [envs.step(action)[0] for action in actions]
    for row in range(3):
        alone = disturbed(effect, "Pendulum-v1", 4)
        expected = [alone.reset(seed=10 + row)[0]] + [alone.step(action[row])[0] for action in actions]
        assert same([each[row] for each in seen], expected)


@pytest.mark.parametrize("law", list(dict.fromkeys(law for _, law in EFFECTS.values())))
def test_refuses_intensities_that_are_none(law: Any) -> None:
    with pytest.raises(ValueError, match=r"intensity is 8; choose 0 \(off\) to 7"):
        law.at(8)
    with pytest.raises(ValueError, match="intensity is -1"):
        law.at(-1)
    with pytest.raises(TypeError, match=r"intensity is 1\.5; give a whole number"):
        law.at(1.5)
    assert law.at(np.int64(3)) == law.at(3)


@pytest.mark.parametrize("law", list(dict.fromkeys(law for _, law in EFFECTS.values())))
def test_parameters_do_not_change_under_way(law: Any) -> None:
    parameters = law.at(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(parameters, dataclasses.fields(law)[0].name, 0.5)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Noise(float("nan")), "Noise.deviation is nan; give a number from 0 to 1e"),
        (lambda: Impulses(probability=1.5), "Impulses.probability is 1.5; give a number from 0 to 1"),
        (lambda: Network(latency=-1), "Network.latency is -1; give a number from 0 to 100"),
        (lambda: Sticking(steps=0), "Sticking.steps is 0"),
        (lambda: Jitter(first=0.9, second=0.2), "let the offset grow without end"),
        (lambda: JitterFrames(Tank(), Jitter(), frames=0), "frames is 0; give a whole number from 1"),
        (lambda: NoisyObservation(Tank(), Noise(), key="level", scale=0), "scale is 0; give a positive number"),
        (lambda: NoisyObservation(Tank(), Noise(), key="heat", scale=[1, 2]), r"or 4 of them, one a reading"),
        (lambda: NoisyObservation(Tank(), Noise(), key="heat", dims=[4]), "dims is .4.; give different places from 0"),
        (lambda: NoisyObservation(Tank(), Noise(), key="heat", dims=[1, 1]), "give different places"),
        (lambda: DistortObservation(Tank(), Distortion(), key="heat", step_seconds=30), "zero at every step of 30 s"),
        (lambda: DistortObservation(Tank(), Distortion(), key="heat", step_seconds=0), "a step lasts"),
        (lambda: NetworkAction(Tank(), Network(), idle=3), "idle is 3, which is no action of this environment"),
    ],
)
def test_refuses_numbers_that_make_no_sense(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: NoisyObservation(Tank(), Noise()), "name the entry that is meant: key= one of 'day', 'heat', 'level'"),
        (lambda: NoisyObservation(Tank(), Noise(), key="day"), "wants a Box of numbers, got Discrete"),
        (lambda: NoisyObservation(gym.make("Pendulum-v1"), Noise(), key="x"), "key is 'x', but the observation is no"),
        (lambda: NoisyObservation(gym.make("Pendulum-v1"), 3), r"got 3; give Noise\(...\), or Noise.at\(intensity\)"),
        (lambda: NoisyObservation(gym.make("Pendulum-v1"), {"sigma": 1}), "Noise has no sigma; it has deviation"),
        (lambda: NoisyObservation(gym.make("FrozenLake-v1"), Noise()), "wants a Box of numbers, got Discrete"),
        (lambda: NoisyObservation(whole_numbers(), Noise()), "wants floating-point numbers, got int64"),
    ],
)
def test_refuses_what_it_cannot_work_on(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        make()


def whole_numbers() -> Env:
    space = gym.spaces.Box(0, 9, (2,), np.int64)
    return gym.wrappers.TransformObservation(gym.make("Pendulum-v1"), lambda _: np.zeros(2, np.int64), space)


@pytest.mark.parametrize("wrapper", [lambda: NoisyObservation(Tank(), Noise(), key="hat"), lambda: link(key="hat")])
def test_names_the_entries_there_are(wrapper: Callable[[], Any]) -> None:
    with pytest.raises(KeyError, match="key is 'hat'; the observation has 'day', 'heat', 'level'"):
        wrapper()


def link(key: str) -> Env:
    return NetworkObservation(Tank(), Network(), key=key)
