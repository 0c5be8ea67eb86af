"""What the parameters promise happens on the line that is stepped."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from linegym import layout, plant
from linegym.batch import Batch
from linegym.perturbations import LoadPerturbation, NetworkPerturbation, SensorPerturbation
from linegym.templates import TEMPLATES, CustomTemplate
from linegym.topologies import TOPOLOGIES
from linegym.variants import FAMILIES, Variant, variant

OFF = {"sensor": SensorPerturbation(noise=0.1), "network": NetworkPerturbation(), "load": LoadPerturbation()}
TRUTH = (layout.F_TEMPERATURE, layout.F_VIBRATION, layout.F_CURRENT, layout.F_SEVERITY)


def run(variants: list[Variant], ticks: int) -> Batch:
    """Return a batch after so many ticks in which alarms were dismissed and nothing else was done."""
    batch = Batch(variants, horizon=max(ticks, 600), autoreset="disabled", masks=False)
    batch.reset(np.full(len(variants), 7, np.uint64))
    for _ in range(ticks):
        batch.step(dismissals(batch))
    return batch


def dismissals(batch: Batch) -> np.ndarray:
    """Return commands (n, 1, 3) that dismiss an alarm in each line: one that nobody answers stops its station."""
    stations = batch.observations[:, : layout.SEEN_CREW].reshape(batch.n, plant.STATIONS, layout.SEEN_STRIDE)
    ringing = stations[:, :, 18] == 1
    commands = np.zeros((batch.n, 1, 3), np.int32)
    rows = ringing.any(axis=1)
    commands[rows, 0, 0] = plant.Verb.DIAGNOSE
    commands[rows, 0, 1] = ringing.argmax(axis=1)[rows]
    commands[rows, 0, 2] = plant.CLAIM_DISTURBANCE
    return commands


def fact(batch: Batch, name: str) -> np.ndarray:
    return batch.facts[:, layout.FACTS.index(name)]


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_nominal_output_is_what_an_undisturbed_line_makes(topology: str) -> None:
    """It scales the reward and is shown as the goal: within 8 % in every topology, on the kernel's own line."""
    lines = [each.plant() for each in TEMPLATES if each.topology == topology][::16]
    calm = [Variant(CustomTemplate("calm", replace(line, fault=-1.0)), **OFF) for line in lines]
    made = fact(run(calm, 3000), "output") / 3000
    assert made == pytest.approx(np.array([line.nominal for line in lines]), rel=0.08)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("intensity", [1, 5])
def test_every_family_reaches_what_the_agent_sees(family: str, intensity: int) -> None:
    """A peer's noise went to a field that no agent ever saw."""
    perturbed = Variant(TEMPLATES[0], **{family: intensity})
    batch = run([perturbed, perturbed.without(family)], 200)
    assert not np.array_equal(batch.observations[0], batch.observations[1])


CHANGES = {
    "sensor": {"sine": 0.3, "impulse": 0.9, "impulse_p": 0.9, "signed": 0, "noise": 3, "wander": 3, "hold_p": 0.5},
    "network": {
        "utilisation": 0.2,
        "latency": 6,
        "to_bad": 0.5,
        "to_good": 0.9,
        "loss_bad": 0.1,
        "loss_good": 0.7,
        "rtt": 3000,
    },
    "load": {"ar": 0.5, "periodic": 0.6, "spike_p": 0.3, "spike": 3, "ripple": 20},
}
"""For each parameter, but the signal-to-noise ratio, which sets figures in bit/s alone, another value."""


@pytest.mark.parametrize("family", FAMILIES)
def test_every_parameter_has_an_effect(family: str) -> None:
    """A parameter that was forgotten on its way into the kernel would be studied for nothing.

    The load is on for its own parameters alone: it fills the switches, and a time-out is then long whatever the rest.
    """
    made = {"sensor": SensorPerturbation, "network": NetworkPerturbation, "load": LoadPerturbation}[family]
    settled = Variant(TEMPLATES[0], sensor=4, network=4, load=4 if family == "load" else 0)
    changed = [
        replace(settled, **{family: replace(made.at(4), **{name: value})}, drawn_as=settled.uid)
        for name, value in CHANGES[family].items()
    ]
    assert {*CHANGES[family], "snr"} >= {field.name for field in fields(made)}
    batch = run([settled, *changed], 1)
    differs = np.zeros(len(changed), np.bool_)
    for _ in range(400):
        batch.step(dismissals(batch))
        differs |= (batch.observations[1:] != batch.observations[0]).any(axis=1)
    assert [name for name, seen in zip(CHANGES[family], differs, strict=True) if not seen] == []


def test_a_perturbed_sensor_or_network_leaves_the_truth_alone() -> None:
    """Counterfactual pairs: without the family, faults, parts and temperatures are the same to the last bit."""
    original = variant("rework-loop/current/profinet/jam+sensor:5+network:5")
    batch = run([original, original.without("sensor"), original.without("sensor", "network")], 400)
    truth = np.array([np.frombuffer(batch.save(row).real, np.float32) for row in range(3)])
    for field in TRUTH:
        values = truth[:, field : layout.F_LINE : layout.F_STRIDE]
        assert (values == values[0]).all()
        assert np.ptp(values[0]) > 0
    for name in ("output", "scrap", "faults"):
        assert len(set(fact(batch, name).tolist())) == 1
    assert fact(batch, "faults")[0] > 0


def test_another_variant_has_other_random_numbers() -> None:
    """The control of the test above: the same change by name, not by counterfactual, changes the faults."""
    original = variant("rework-loop/current/profinet/jam+sensor:5")
    batch = run([original, variant("rework-loop/current/profinet/jam")], 400)
    assert not np.array_equal(batch.faults()[0], batch.faults()[1])
