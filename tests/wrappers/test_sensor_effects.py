"""The laws of the sensor effects, worked out by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rolf_wrappers import (
    Distortion,
    DistortObservation,
    Drift,
    DriftObservation,
    ImpulseObservation,
    Impulses,
    Noise,
    NoisyObservation,
    Sticking,
    StickObservation,
)


class Steady(gym.Env[Any, int]):
    """Shows the same readings for ever, or as many as it has made steps."""

    action_space = gym.spaces.Discrete(1)

    def __init__(self, *readings: float, counts: bool = False) -> None:
        self.readings = np.array(readings)
        self.counts = counts
        self.observation_space = gym.spaces.Box(-100.0, 1000.0, (len(readings),), np.float64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self.readings + self.counts * self.steps, {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self.readings + self.counts * self.steps, 0.0, False, False, {}


def seen(env: gym.Env[Any, Any], steps: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.array([env.reset(seed=seed)[0]] + [env.step(0)[0] for _ in range(steps)])


def test_intensity_one_is_the_thermocouple_s_law_to_the_letter() -> None:
    """reading = true * (1 + 0.02 sin(2 pi t / 60) + 0.01 Bernoulli(0.05)), t in seconds."""
    readings = seen(DistortObservation(Steady(80.0, 50.0), Distortion.at(1), step_seconds=6), 20_000)
    times = 6.0 * np.arange(20_001)
    share = readings / [80.0, 50.0] - 1 - 0.02 * np.sin(2 * math.pi * times / 60)[:, None]
    impulses = np.abs(share - 0.01) < 1e-9
    assert (impulses | (np.abs(share) < 1e-9)).all(), "nothing but the wave, and 1 % now and then"
    assert np.abs(impulses.mean(axis=0) - 0.05).max() < 0.005
    assert abs(np.mean(impulses[:, 0] & impulses[:, 1]) - 0.0025) < 0.002, "impulses of two sensors are independent"


def test_a_share_counts_from_the_zero_point() -> None:
    """2 % of 60 °C is 1.2 degrees, of the same temperature in kelvin 6.7: the law must be told which is meant."""
    law = Distortion(sine=0.0, impulse=0.02, impulse_probability=1)
    assert seen(DistortObservation(Steady(60.0), law), 0) == pytest.approx(61.2)
    assert seen(DistortObservation(Steady(60.0), law, zero=-273.15), 0) == pytest.approx(66.663)


def test_from_intensity_two_every_sensor_has_a_wave_of_its_own() -> None:
    """One wave in all sensors, always of 60 s, could be filtered out."""
    law = Distortion(sine=0.1, impulse=0.0, scattered=True)
    waves = seen(DistortObservation(Steady(*[1.0] * 8), law, step_seconds=1), 4000) - 1
    assert np.abs(waves).max() == pytest.approx(0.1, abs=1e-4)
    crossings = np.count_nonzero(np.diff(np.sign(waves), axis=0), axis=0) / 2
    periods = 4000 / crossings
    assert (periods > 53).all()
    assert (periods < 67).all()
    assert len(set(periods.round(1))) > 4
    assert len(set(waves[0].tolist())) == 8
    assert not np.array_equal(waves, seen(DistortObservation(Steady(*[1.0] * 8), law), 4000, seed=1) - 1)


def test_the_wave_is_worth_switching_off_alone() -> None:
    """The impulses stay where they are, to the bit."""
    both = seen(DistortObservation(Steady(1.0, 1.0), Distortion.at(4)), 500)
    law = Distortion.at(4)
    no_wave = Distortion(sine=0.0, impulse=law.impulse, scattered=True)
    alone = seen(DistortObservation(Steady(1.0, 1.0), no_wave), 500)
    hits = np.abs(alone - 1) > 0.01
    assert 20 < np.count_nonzero(hits) < 90
    np.testing.assert_array_equal(np.abs(both - 1) > law.impulse - law.sine - 1e-9, hits)


def test_bounds_follow_the_law() -> None:
    """The extremes are reached, so narrower bounds would be wrong."""
    law = Distortion(sine=0.0, impulse=0.5, impulse_probability=0.5, scattered=True)
    env = DistortObservation(Steady(1000.0, -100.0), law)
    readings = seen(env, 100)
    space = env.observation_space
    assert isinstance(space, gym.spaces.Box)
    assert space.high == pytest.approx([1500.0, 1500.0])
    assert space.low == pytest.approx([-150.0, -150.0])
    assert readings[:, 0].max() == pytest.approx(1500.0)
    assert readings[:, 1].min() == pytest.approx(-150.0)
    positive = Steady(15.0)
    positive.observation_space = gym.spaces.Box(10.0, 20.0, (1,), np.float64)
    space = DistortObservation(positive, law).observation_space
    assert isinstance(space, gym.spaces.Box)
    assert (float(space.low[0]), float(space.high[0])) == pytest.approx((5.0, 30.0))
    sides = DistortObservation(gym.make("CartPole-v1"), law).observation_space
    assert isinstance(sides, gym.spaces.Box)
    assert np.isinf(sides.high[1])


def test_bounds_hold_whatever_is_rounded() -> None:
    """A reading at its very bound is disturbed by one formula, the bound by another."""
    law = Distortion(sine=0.0, impulse=0.1, impulse_probability=1.0)
    for reading in np.random.default_rng(1).uniform(1, 900, 300):
        bare = Steady(reading)
        bare.observation_space = gym.spaces.Box(0.0, reading, (1,), np.float64)
        env = DistortObservation(bare, law, zero=-273.15)
        assert env.reset(seed=0)[0] in env.observation_space


def test_bounds_at_the_largest_number_become_infinite() -> None:
    """Some environments write "no bound" so; there is nothing beyond it."""
    bare = Steady(1.0)
    largest = float(np.finfo(np.float32).max)
    bare.observation_space = gym.spaces.Box(-largest, largest, (1,), np.float32)
    space = DistortObservation(bare, Distortion.at(3)).observation_space
    assert isinstance(space, gym.spaces.Box)
    assert np.isinf([space.low, space.high]).all()


def test_the_environment_s_own_array_is_left_alone() -> None:
    """An environment may show its state itself; a disturbed reading must not become the truth."""
    bare = Steady(5.0, 6.0)
    shown = bare.readings
    bare.reset = lambda **_: (shown, {})  # type: ignore[method-assign]
    for wrapper, law in (
        (NoisyObservation, Noise.at(5)),
        (StickObservation, Sticking.at(5)),
        (DistortObservation, Distortion.at(5)),
    ):
        seen_first = wrapper(bare, law).reset(seed=1)[0]  # type: ignore[arg-type]
        assert seen_first is not shown
        assert shown.tolist() == [5.0, 6.0]


def test_noise_is_gaussian_and_has_its_scale() -> None:
    readings = seen(NoisyObservation(Steady(5.0, 5.0), Noise(0.5), scale=[1.0, 10.0]), 20_000) - 5
    assert readings.std(axis=0) == pytest.approx([0.5, 5.0], rel=0.02)
    assert np.abs(readings.mean(axis=0) / [0.5, 5.0]).max() < 0.03
    assert np.mean(np.abs(readings[:, 0]) < 0.5) == pytest.approx(0.6827, abs=0.015)
    assert abs(np.corrcoef(readings.T)[0, 1]) < 0.03
    assert abs(np.corrcoef(readings[1:, 0], readings[:-1, 0])[0, 1]) < 0.03


def test_noise_is_cut_at_four_deviations() -> None:
    """So that finite bounds stay finite, and true."""
    readings = seen(NoisyObservation(Steady(*[0.0] * 100), Noise(1.0)), 2000)
    assert np.abs(readings).max() == 4.0


def test_impulses_go_both_ways() -> None:
    readings = seen(ImpulseObservation(Steady(5.0, 5.0), Impulses(size=3, probability=0.1), scale=2), 10_000) - 5
    assert set(readings.ravel().tolist()) == {-6.0, 0.0, 6.0}
    assert np.mean(readings > 0) == pytest.approx(0.05, abs=0.006)
    assert np.mean(readings < 0) == pytest.approx(0.05, abs=0.006)


def test_drift_grows_one_way_and_stays_at_its_limit() -> None:
    readings = seen(DriftObservation(Steady(*[5.0] * 200), Drift(onset=0.02, rate=0.25, limit=2), scale=10), 300) - 5
    assert (readings[0] == 0).all()
    steps = np.abs(np.diff(readings, axis=0))
    assert set(steps.ravel().tolist()) == {0.0, 2.5}
    assert (np.abs(readings[-1]) == 20).sum() > 180
    assert 60 < np.count_nonzero(readings[-1] > 0) < 140
    onsets = np.argmax(readings != 0, axis=0)
    assert np.mean(onsets) == pytest.approx(50, abs=12)


def test_an_episode_begins_calibrated() -> None:
    """The offset of the episode before is gone."""
    env = DriftObservation(Steady(5.0), Drift(onset=1, rate=1, limit=2))
    for _ in range(2):
        assert env.reset(seed=1)[0] == 5.0
        assert abs(env.step(0)[0] - 5.0) == 1.0


def test_what_sticks_repeats_itself_and_then_goes_on() -> None:
    env = StickObservation(Steady(0.0, 0.0, counts=True), Sticking(probability=0.1, steps=4))
    readings = seen(env, 2000)
    true = np.arange(2001.0)
    for sensor in readings.T:
        lag = true - sensor
        assert set(lag.tolist()) == {0.0, 1.0, 2.0, 3.0, 4.0}
        assert (np.diff(lag)[lag[:-1] > 0] != 0).all()
        assert np.mean(lag == 4.0) == pytest.approx(0.1 / 1.4, abs=0.02)
    assert not np.array_equal(readings[:, 0], readings[:, 1])


def test_what_is_seen_may_be_changed_by_whoever_sees_it() -> None:
    """The next observation must not depend on what was done to this one."""
    env, other = (StickObservation(Steady(1.0, counts=True), Sticking(1.0, 5)) for _ in range(2))
    first = env.reset(seed=1)[0]
    first[:] = 99
    other.reset(seed=1)
    np.testing.assert_array_equal(env.step(0)[0], other.step(0)[0])


@pytest.mark.parametrize("law", [Distortion, Noise, Impulses, Drift, Sticking])
def test_a_higher_intensity_is_farther_from_the_truth(law: Any) -> None:
    """The ladder has no rung too many, none that leads down."""
    wrapper: Any = {
        Distortion: DistortObservation,
        Noise: NoisyObservation,
        Impulses: ImpulseObservation,
        Drift: DriftObservation,
        Sticking: StickObservation,
    }[law]
    counts = law is Sticking
    true = 1.0 + counts * np.arange(401)[:, None]
    errors = [
        np.sqrt(np.mean((seen(wrapper(Steady(*[1.0] * 50, counts=counts), law.at(rung)), 400) - true) ** 2))
        for rung in range(8)
    ]
    assert errors[0] == 0
    assert all(low < high for low, high in itertools.pairwise(errors)), errors
