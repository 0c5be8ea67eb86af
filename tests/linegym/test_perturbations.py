"""What disturbs a line: the mission's laws to the letter, ladders without steps back, clear refusals."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from mpmath import exp, mp, mpf

from linegym import layout
from linegym.errors import PerturbationError
from linegym.perturbations import (
    INTENSITIES,
    LOAD,
    NETWORK,
    SENSOR,
    LoadPerturbation,
    NetworkPerturbation,
    Perturbations,
    SensorPerturbation,
)
from linegym.plant import MESSAGES, SINE_INCREMENT, SINE_TURN, TICK

FAMILIES = (SensorPerturbation, NetworkPerturbation, LoadPerturbation)
EASIER_WHEN_MORE = {"to_good", "snr"}
Family = type[SensorPerturbation] | type[NetworkPerturbation] | type[LoadPerturbation]


def test_sensor_intensity_1_is_the_law_of_the_mission() -> None:
    """reading = true × (1 + 0.02·sin(2πt/60) + 0.01·Bernoulli(0.05)): amplitudes, probability, sign, phase, period."""
    law = SensorPerturbation.at(1)
    assert (law.sine, law.impulse, law.impulse_p, law.signed) == (0.02, 0.01, 0.05, 0)
    assert (law.wander, law.hold_p) == (0, 0)
    assert TICK * SINE_TURN / SINE_INCREMENT == 60


def test_sensor_impulses_grow_faster_than_the_sine() -> None:
    """As given the impulse is invisible beside the sine; from intensity 2 on it is not, and goes both ways."""
    rungs = [SensorPerturbation.at(intensity) for intensity in range(1, 6)]
    assert [rung.impulse / 0.01 for rung in rungs] == [1, 4, 8, 16, 32]
    assert [rung.sine for rung in rungs] == [0.02, 0.04, 0.06, 0.08, 0.1]
    assert [rung.signed for rung in rungs] == [0, 1, 1, 1, 1]


def test_load_intensity_1_is_the_law_of_the_mission() -> None:
    """ε ~ N(0, 0.05) with 0.05 the standard deviation."""
    assert LoadPerturbation.at(1).ar == 0.05
    assert LoadPerturbation.at(1).periodic == 0


@pytest.mark.parametrize("ladder", [SENSOR, NETWORK, LOAD])
def test_no_rung_is_easier_than_the_one_below(ladder: dict[str, tuple[float, ...]]) -> None:
    """An intensity that helps somewhere would make a curve over intensities mean nothing."""
    for name, values in ladder.items():
        assert len(values) == INTENSITIES
        assert list(values) == sorted(values, reverse=name in EASIER_WHEN_MORE), name
    assert len(set(zip(*ladder.values(), strict=True))) == INTENSITIES


@pytest.mark.parametrize("family", FAMILIES)
def test_the_nuisance_level_is_small_but_not_nothing(family: Family) -> None:
    """A line without any disturbance exists nowhere; its nuisance must not be another family's test."""
    nuisance, first = family.at(0), family.at(1)
    assert nuisance != family()
    assert nuisance != first


def test_the_network_always_leaves_room_for_what_arrives() -> None:
    """A load above the capacity is a cliff: success drops to nothing between two rungs."""
    for intensity in range(INTENSITIES):
        network = NetworkPerturbation.at(intensity)
        assert network.arrivals < MESSAGES
        assert network.offered < network.throughput <= network.capacity


@pytest.mark.parametrize(("decibels", "megabits"), [(30, 199.3), (20, 133.2), (10, 69.2), (3, 31.7), (0, 20.0)])
def test_capacity_is_shannons(decibels: float, megabits: float) -> None:
    """20 MHz; log2 of 1001, 101, 11, 2.995, 2, worked out elsewhere."""
    assert NetworkPerturbation(snr=decibels).capacity / 1e6 == pytest.approx(megabits, abs=0.05)


@pytest.mark.parametrize(
    ("rtt", "loss", "megabits"), [(5, 1e-4, 285), (20, 1e-3, 22.5), (50, 1e-2, 2.85), (100, 5e-2, 0.637)]
)
def test_loss_bounds_the_rate_as_mathis_found(rtt: float, loss: float, megabits: float) -> None:
    """1.22·MSS/(RTT·√p) with 1460 bytes, worked out elsewhere."""
    assert NetworkPerturbation(rtt=rtt, loss_good=loss).loss_rate / 1e6 == pytest.approx(megabits, rel=2e-3)


def test_throughput_is_the_least_of_three_laws() -> None:
    """Each can be the one that binds."""
    assert NetworkPerturbation(snr=-10, rtt=0.1).throughput == NetworkPerturbation(snr=-10).capacity
    assert NetworkPerturbation(rtt=100).throughput == 8 * 65_535 / 0.1
    lossy = NetworkPerturbation(rtt=100, loss_good=0.1)
    assert lossy.throughput == lossy.loss_rate < lossy.window_rate


def test_bursts_lose_their_share() -> None:
    """Gilbert–Elliott: a fifth of the time bad at 0.1 in, 0.4 out."""
    network = NetworkPerturbation(to_bad=0.1, to_good=0.4, loss_bad=0.8, loss_good=0.01)
    assert network.loss == pytest.approx(0.2 * 0.8 + 0.8 * 0.01)


def test_row_holds_every_parameter_in_its_place() -> None:
    """The kernel reads by position: a swap would be another plant."""
    sensor = SensorPerturbation(0.01, 0.02, 0.03, 1, 0.05, 0.06, 0.07)
    network = NetworkPerturbation(0.5, 2.0, 0.1, 0.2, 0.3, 0.4, 5.0, 6.0)
    load = LoadPerturbation(0.11, 0.12, 0.13, 0.14, 0.15)
    row = Perturbations(sensor, network, load).row(42.0)
    assert (row.dtype, row.shape) == (np.float64, (layout.V_ROW,))
    assert row[layout.V_SINE : layout.V_HOLD_P + 1].tolist() == [0.01, 0.02, 0.03, 1, 0.05, 0.06, 0.07]
    assert row[[layout.V_ARRIVALS, layout.V_LATENCY, layout.V_RTT, layout.V_TARGET]].tolist() == [4.0, 2.0, 5.0, 42.0]
    loss = [layout.V_TO_BAD, layout.V_TO_GOOD, layout.V_LOSS_BAD, layout.V_LOSS_GOOD]
    assert row[loss].tolist() == [0.1, 0.2, 0.3, 0.4]
    laws = [layout.V_AR, layout.V_PERIODIC, layout.V_SPIKE_P, layout.V_SPIKE, layout.V_RIPPLE]
    assert row[laws].tolist() == [0.11, 0.12, 0.13, 0.14, 0.15]


def test_exponentials_are_correctly_rounded() -> None:
    """What a mathematical library gives differs between machines in the last bit; this does not."""
    with mp.workdps(40):
        for step in range(200):
            network = NetworkPerturbation(utilisation=step / 201, latency=step / 30)
            row = Perturbations(network=network).row(0)
            assert row[layout.V_EXP_ARRIVALS] == float(exp(-mpf(network.arrivals)))
            assert row[layout.V_EXP_LATENCY] == float(exp(-mpf(network.latency)))


def test_a_protocol_stretches_delays_and_nothing_else() -> None:
    """Otherwise two protocols would be one, or a protocol another intensity."""
    plain, slow = NetworkPerturbation.at(3), NetworkPerturbation.at(3).over(1.3)
    assert (slow.rtt, slow.latency) == (plain.rtt * 1.3, plain.latency * 1.3)
    differing = {each.name for each in fields(plain) if getattr(plain, each.name) != getattr(slow, each.name)}
    assert differing == {"rtt", "latency"}


def test_a_family_without_arguments_is_off() -> None:
    """A counterfactual without a family needs its true absence."""
    row = Perturbations().row(0)
    silent = np.zeros(layout.V_ROW)
    silent[[layout.V_EXP_ARRIVALS, layout.V_EXP_LATENCY, layout.V_TO_GOOD, layout.V_RTT]] = 1
    assert row.tolist() == silent.tolist()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("intensity", [-1, 8, 1.0, True, "3", None, float("nan")])
def test_other_intensities_are_refused(family: Family, intensity: object) -> None:
    """A typing mistake must not become another experiment."""
    with pytest.raises(PerturbationError, match=r"intensity .*expected 0"):
        family.at(intensity)  # type: ignore[arg-type]


def test_numpy_integers_are_intensities() -> None:
    """They come out of every array."""
    assert LoadPerturbation.at(np.int64(3)) == LoadPerturbation.at(3)


@pytest.mark.parametrize(
    ("family", "name", "value"),
    [
        (SensorPerturbation, "impulse_p", 1.5),
        (SensorPerturbation, "noise", float("nan")),
        (SensorPerturbation, "signed", 0.5),
        (SensorPerturbation, "sine", "0.02"),
        (SensorPerturbation, "sine", True),
        (NetworkPerturbation, "utilisation", 1.0),
        (NetworkPerturbation, "rtt", 0),
        (NetworkPerturbation, "latency", -1),
        (LoadPerturbation, "ar", float("inf")),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(family: Family, name: str, value: object) -> None:
    """Which field, which value, what is allowed."""
    with pytest.raises(PerturbationError, match=rf"{family.__name__}: {name} = .*, expected "):
        family(**{name: value})  # type: ignore[arg-type]


def test_perturbations_cannot_be_changed() -> None:
    """They are cached, shared and part of an episode's key."""
    with pytest.raises(FrozenInstanceError):
        SensorPerturbation.at(1).sine = 0.5  # type: ignore[misc]
