"""The story of one work order: from the fault that nobody knows of to the order that is closed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from linegym.actions import COMMANDS, describe
from linegym.batch import Batch
from linegym.layout import FACTS
from linegym.plant import Quantity, Verb
from linegym.policies import Lineup, policy
from linegym.render.scene import StationView, scene
from linegym.render.viewer import Viewer
from linegym.render.words import fault_name
from linegym.variants import Variant

PHASES = ("identify", "assess", "dispatch", "execute")
SHIFTS = 50
"""Shifts that are looked through for an order to tell of."""
BEFORE, AFTER = 25, 12
"""Ticks shown before the fault and after the closing."""
_STATION_VERBS = frozenset(set(Verb) - {Verb.NOOP, Verb.ORDER})


@dataclass(frozen=True, slots=True)
class Moment:
    """One tick of the line, as far as it belongs to the story."""

    tick: int
    command: NDArray[np.int32]
    """(3,) what was commanded in it: verb, station, argument."""
    station: StationView | None
    """The station of the story; None while it is looked for."""


@dataclass(frozen=True, slots=True)
class Story:
    """A work order that was closed rightly."""

    variant: Variant
    seed: int
    station: int
    fault: str
    quantity: Quantity
    """What the primary sensor measures."""
    starts: tuple[int, int, int, int, int]
    """When each phase began, and when the last ended [ticks]."""
    deeds: tuple[tuple[str, ...], ...]
    """What was commanded for this station in each phase, in words."""
    delivered: tuple[tuple[int, float], ...]
    """(tick, what the primary sensor said)."""
    true: tuple[tuple[int, float], ...]
    picture: bytes
    """The line amid the repair, as PNG."""


def story(player: str, variant: Variant, seed: int) -> Story:
    """Return the first work order that a policy closes rightly with every phase of some length.

    Args:
        player: Name of a policy that does without the truth.
        variant: The line.
        seed: Of the first shift that is looked through.

    Raises:
        RuntimeError: in many shifts there is none.
    """
    for later in range(SHIFTS):
        found = _find(player, variant, seed + later)
        if found is not None:
            return _tell(player, variant, seed + later, *found)
    raise RuntimeError(f"{player!r} closed nothing rightly in {SHIFTS} shifts of {variant.id!r} from seed {seed}")


def _find(player: str, variant: Variant, seed: int) -> tuple[int, tuple[int, int, int, int, int]] | None:
    """Return station and times of an order of a shift."""
    batch = _line(variant, seed)
    for moment in _moments(player, batch, seed):
        fact = dict(zip(FACTS, batch.facts[0].tolist(), strict=True))
        lengths = [fact[phase] for phase in PHASES]
        end = moment.tick
        if fact["closed_right"] and min(lengths) > 0 and end + AFTER < batch.horizon:
            starts = [end - sum(lengths[at:]) for at in range(len(PHASES))]
            return fact["closed_station"], (starts[0], starts[1], starts[2], starts[3], end)
    return None


def _tell(player: str, variant: Variant, seed: int, station: int, starts: tuple[int, int, int, int, int]) -> Story:
    """Play the shift again, this time with an eye on one station."""
    batch = _line(variant, seed)
    viewer = Viewer(batch, "rgb_array")
    viewer.begin()
    moments, picture, fault = [], b"", ""
    for moment in _moments(player, batch, seed, station):
        viewer.step(moment.command)
        moments.append(moment)
        if moment.tick == starts[3] and moment.station is not None:
            frame = viewer.render()
            assert isinstance(frame, np.ndarray)
            picture, fault = _png(frame), fault_name(moment.station.fault)
        if moment.tick >= starts[4] + AFTER:
            break
    shown = [moment for moment in moments if moment.tick >= starts[0] - BEFORE and moment.station is not None]
    return Story(
        variant=variant,
        seed=seed,
        station=station,
        fault=fault,
        quantity=variant.template.plant().quantities[0],
        starts=starts,
        deeds=tuple(_deeds(moments, station, starts, at) for at in range(len(PHASES))),
        delivered=tuple((each.tick, each.station.seen[0]) for each in shown if each.station is not None),
        true=tuple((each.tick, each.station.true[0]) for each in shown if each.station is not None),
        picture=picture,
    )


def _deeds(moments: list[Moment], station: int, starts: tuple[int, ...], phase: int) -> tuple[str, ...]:
    """Return what was commanded for a station in a phase; the command that ends a phase belongs to it."""
    return tuple(
        describe(moment.command)
        for moment in moments
        if int(moment.command[0]) in _STATION_VERBS
        and int(moment.command[1]) == station
        and starts[phase] < moment.tick <= starts[phase + 1]
    )


def _line(variant: Variant, seed: int) -> Batch:
    """Return a line at the start of a shift."""
    batch = Batch([variant], autoreset="disabled")
    batch.reset(np.array([seed], np.uint64))
    return batch


def _moments(player: str, batch: Batch, seed: int, station: int | None = None) -> Iterator[Moment]:
    """Play a shift, a tick after the other."""
    chosen = policy(player)
    chosen.begin(Lineup.of(batch.variants, [seed]))
    for tick in range(batch.horizon):
        # Picked by an array it is a copy: for a view of a table that is read-only the kernel would be compiled anew.
        command = COMMANDS[chosen.act(batch.observations, batch.masks, {})][0]
        batch.step(command[None, None])
        seen = None if station is None else scene(batch, 0).stations[station]
        yield Moment(tick, command, seen)


def _png(frame: NDArray[np.uint8]) -> bytes:
    """Return a frame as a PNG file."""
    kept = io.BytesIO()
    Image.fromarray(frame).quantize(64).save(kept, "PNG", optimize=True)
    return kept.getvalue()
