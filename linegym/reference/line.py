"""The line: all of it, one tick after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linegym.plant import (
    REWARD_FAULT,
    REWARD_OUTPUT,
    REWARD_SCRAP,
    STATIONS_A_SWITCH,
    SWITCHES,
    TECHNICIANS,
    Fault,
    Stream,
)
from linegym.reference import mask, observation, rows
from linegym.reference.blueprint import Blueprint, Disturbance, Rows, Setting
from linegym.reference.buffer import Floor
from linegym.reference.chance import Chance, episode_key
from linegym.reference.commands import carry_out
from linegym.reference.crew import Technician
from linegym.reference.ledger import Ledger
from linegym.reference.load import Load
from linegym.reference.mask import Command
from linegym.reference.station import Station
from linegym.reference.store import Store
from linegym.reference.switch import Switch

if TYPE_CHECKING:
    from linegym.variants import Variant


class ReferenceLine:
    """A production line as readable objects: what the compiled kernel must agree with, bit for bit.

    Slow on purpose: written to be read beside ``docs/reference/plant.md``.

    Args:
        variant: A variant, or the rows that the kernel would get.
        horizon: Length of the shift [ticks].
        seed: Of the run, 0 to 2^64 - 1.
        episode: Number of the episode under that seed.
        evaluation: Whether to take the seed from the evaluation namespace.
    """

    def __init__(
        self, variant: Variant | Rows, *, horizon: int, seed: int, episode: int = 0, evaluation: bool = False
    ) -> None:
        given = variant if isinstance(variant, Rows) else rows_of(variant)
        self.episode = episode
        self.setting = Setting(
            Blueprint.read(given.integers, given.reals),
            Disturbance.read(given.disturbance),
            Chance(episode_key(given.uid, int(seed), episode, evaluation)),
            horizon,
        )
        self.reset()

    def reset(self) -> None:
        """Go back to the start of the episode."""
        setting, blueprint = self.setting, self.setting.blueprint
        stations = len(blueprint.places)
        self.t = 0
        self.ledger = Ledger()
        self.floor = Floor(blueprint.capacity)
        self.load = Load(setting)
        self.switches = [Switch(w, setting) for w in range(SWITCHES)]
        certain = setting.chance.words(Stream.PLAN, 0, 0).w0 * stations >> 32
        self.stations = [
            Station(s, setting, self.floor, self.switches[s // STATIONS_A_SWITCH], certain=s == certain)
            for s in range(stations)
        ]
        self.crew = [Technician(k, k * stations // TECHNICIANS, blueprint) for k in range(TECHNICIANS)]
        self.store = Store(blueprint)

    def step(self, commands: Sequence[Command]) -> float:
        """Carry out the commands in order, let a tick pass, and return the reward.

        Raises:
            RuntimeError: The shift is over.
        """
        if self.ledger.over:
            raise RuntimeError(f"the shift is over after {self.t!r} ticks: call reset()")
        self.ledger.begin_tick()
        for command in commands:
            carry_out(self, *(int(number) for number in command))
        scrapped = self.floor.scrap
        self._pass_tick()
        self._settle(self.floor.scrap - scrapped)
        return self.ledger.reward

    def _pass_tick(self) -> None:
        """Let everything move on, in the order of the specification."""
        self.load.tick(self.t)
        for switch in self.switches:
            switch.tick(self.t, self.load.scan)
        for station in self.stations:
            station.tick(self.t, self.load, self.ledger)
        for technician in self.crew:
            technician.tick(self.t, self.stations, self.ledger)
        self.store.tick(self.t)

    def _settle(self, scrap: int) -> None:
        """Take the output away, pay for the tick, and end the shift when it is time."""
        setting, ledger = self.setting, self.ledger
        output = self.floor.sink.empty()
        ledger.output += output
        faulty = sum(station.wear.fault != Fault.NONE for station in self.stations)
        whole = setting.blueprint.nominal * setting.horizon
        ledger.reward = ledger.reward + REWARD_OUTPUT * output / whole
        ledger.reward = ledger.reward - REWARD_SCRAP * scrap / whole
        ledger.reward = ledger.reward - REWARD_FAULT * faulty
        self.t += 1
        ledger.over = self.t == setting.horizon
        ledger.success = (
            ledger.over and ledger.closed_due == ledger.faults_due and ledger.output >= setting.disturbance.target
        )

    def observation(self) -> NDArray[np.float32]:
        """Return what an agent sees, shape (632,)."""
        return observation.seen(self)

    def mask(self) -> NDArray[np.bool_]:
        """Return for every flat action whether that command alone would be possible now, shape (545,)."""
        return mask.possible(self)

    def facts(self) -> dict[str, int]:
        """Return what a step tells besides observation and reward, named as ``layout.FACTS``."""
        return rows.facts(self)

    def state_rows(self) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.float32]]:
        """Return the whole state as the kernel keeps it: the ``H``, ``I`` and ``F`` row of ``linegym/layout.py``."""
        return rows.short(self), rows.long(self), rows.real(self)


def rows_of(variant: Variant) -> Rows:
    """Return a variant as the kernel gets it."""
    whole, real, perturbations = variant.rows()
    return Rows(whole.tolist(), real.tolist(), perturbations.tolist(), variant.uid)
