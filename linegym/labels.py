"""Labels: what is known of a variant beforehand, in physical units, for tables and curves."""

from __future__ import annotations

from functools import cache

from linegym.perturbations import LoadPerturbation, NetworkPerturbation, SensorPerturbation
from linegym.plant import CYCLE_MS
from linegym.variants import FAMILIES, Variant
from rolf.variant import Labels

CLEAN = "clean"
"""Family of a line that nothing disturbs beyond the nuisance level."""


def labels(variant: Variant) -> Labels:
    """Return the labels of a variant.

    Its cluster is its template. Its parameters are those of the families that disturb it, and of a clean line those of
    all three: else the families at their nuisance level, which are most, would be the beginning of every curve.
    """
    active = [family for family, level in zip(FAMILIES, variant.levels, strict=True) if level != 0]
    numbers = [level for level in variant.levels if isinstance(level, int)]
    figures: dict[str, float] = {}
    for family in active or FAMILIES:
        figures |= parameters(family, getattr(variant, family), variant.template.delay_factor)
    return Labels(
        cluster=variant.template.name,
        family="+".join(active) or CLEAN,
        level=max(numbers) if len(numbers) == len(FAMILIES) else None,
        parameters=figures,
    )


@cache
def parameters(
    family: str, level: int | SensorPerturbation | NetworkPerturbation | LoadPerturbation, delay_factor: float
) -> dict[str, float]:
    """Return what a family is at a level, by name and unit; what is the same at every intensity is left out.

    Args:
        family: One of the three.
        level: Intensity, or parameters of one's own.
        delay_factor: Of the template's protocol.
    """
    if family == "sensor":
        return _sensor(SensorPerturbation.at(level) if isinstance(level, int) else level)  # type: ignore[arg-type] # the family's
    if family == "network":
        return _network(NetworkPerturbation.at(level) if isinstance(level, int) else level, delay_factor)  # type: ignore[arg-type] # the family's
    return _load(LoadPerturbation.at(level) if isinstance(level, int) else level)  # type: ignore[arg-type] # the family's


def _sensor(sensor: SensorPerturbation) -> dict[str, float]:
    return {
        "sensor noise σ [normalised]": sensor.noise,
        "sensor sine amplitude [share]": sensor.sine,
        "sensor impulse height [share]": sensor.impulse,
        "sensor wander amplitude [normalised]": sensor.wander,
        "sensor hold [probability/sample]": sensor.hold_p,
    }


def _network(network: NetworkPerturbation, delay_factor: float) -> dict[str, float]:
    under_protocol = network.over(delay_factor)
    return {
        "network round trip [ms]": network.rtt,
        "network round trip under the protocol [ms]": under_protocol.rtt,
        "network gateway delay under the protocol [ms]": under_protocol.latency * CYCLE_MS,
        "network loss [share]": network.loss,
        "network utilisation [share]": network.utilisation,
        "network signal to noise [dB]": network.snr,
    }


def _load(load: LoadPerturbation) -> dict[str, float]:
    return {
        "scan time noise σ [nominal scans]": load.ar,
        "periodic load amplitude [nominal scans]": load.periodic,
        "load spike height [nominal scans]": load.spike,
        "load spike [probability/tick]": load.spike_p,
        "load ripple σ [normalised/nominal scan]": load.ripple,
    }
