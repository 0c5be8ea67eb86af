"""Edges of a production line: fault, alarm, inspection, work order, part, dispatch, arrival, repair, closing.

Each is found where it is told: faults in ``info["true_faults"]``, what was commanded by the action, and all else as
changes of the observation, by the names that ``obs_spec`` gives its numbers.

| kind | from the step of | to the step of |
|---|---|---|
| ``alarm`` | the fault | its alarm |
| ``inspection`` | the alarm | the order to measure |
| ``finding`` | the order to measure | what was measured |
| ``claim`` | alarm, measurement, or an earlier claim | the diagnosis |
| ``order`` | the diagnosis | the order of its part |
| ``delivery`` | the order of parts | their coming |
| ``part`` | the coming of a part | the dispatch that takes it |
| ``dispatch`` | the diagnosis | the dispatch |
| ``arrival`` | the dispatch | the technician's arrival |
| ``repair`` | the arrival | the end of the repair |
| ``mended`` | the fault | its end |
| ``close`` | the end of the repair, or the diagnosis | the closing |
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolf.interface import Call
from rolf_adapters.buffer.edges import Edges
from rolf_adapters.buffer.graph import Graph

NONE, OPEN, TRAVEL, REPAIR, DONE = range(5)
"""States of a work order, as the observation numbers them."""
DISMISSALS = ("disturbance", "network")


@dataclass(slots=True)
class _Station:
    """Steps in which something happened to a station that what follows depends on."""

    fault: int | None = None
    alarm: int | None = None
    asked: int | None = None
    """An inspection was ordered."""
    findings: list[int] = field(default_factory=list)
    claim: int | None = None
    claimed: str = ""
    sent: int | None = None
    arrived: int | None = None
    done: int | None = None


class LineEdges:
    """Listens to a production line.

    Args:
        world: The environment, unwrapped: a `rolf.interface.Tooled` with ``obs_spec``.
    """

    def __init__(self, world: Any) -> None:
        self._world = world
        places = {entry.name: entry.index for entry in world.obs_spec}
        self._places = {name: _indices(places, "station", name) for name in ("alarm", "order", "inspection_age")}
        self._stock = _indices(places, "part", "stock")
        self._coming = _indices(places, "part", "coming")
        self._parts = _part_names(world)

    def begin(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Hear what ``reset`` returned."""
        self._seen, self._faults = _numbers(observation), np.array(info["true_faults"])
        self._edges, self._step = Edges(), 0
        self._stations: defaultdict[int, _Station] = defaultdict(_Station)
        self._ordered: defaultdict[int, list[int]] = defaultdict(list)
        # None stands for a piece that was there at the start; they are used up in the order in which they came.
        self._pieces: defaultdict[int, deque[int | None]] = defaultdict(deque)
        for part, count in enumerate(self._counts(self._seen, self._stock)):
            self._pieces[part].extend([None] * count)

    def step(self, action: Any, observation: Any, info: Mapping[str, Any]) -> None:
        """Hear an action, and what came of it."""
        seen, faults = _numbers(observation), np.array(info["true_faults"])
        for number in np.flatnonzero(faults != self._faults).tolist():
            self._edges.add(self._stations[number].fault, self._step, "mended")
            self._stations[number].fault = self._step if faults[number] else None
        for number in np.flatnonzero(self._rose(seen, "alarm")).tolist():
            station = self._stations[number]
            self._edges.add(station.fault, self._step, "alarm")
            station.alarm = self._step
        if not info["invalid_action"]:
            self._command(self._call(action))
        self._work(seen)
        self._measured(seen)
        self._store(seen)
        self._seen, self._faults = seen, faults
        self._step += 1

    def graph(self) -> Graph:
        """Return the edges between the steps heard so far."""
        return self._edges.graph()

    def _call(self, action: Any) -> Call:
        try:
            call: Call = self._world.call_of(action)
        except ValueError:  # three numbers of the action space that name nothing
            return Call("wait")
        return call

    # ---- what was commanded

    def _command(self, call: Call) -> None:
        told = call.arguments
        if call.tool == "order":
            self._order(str(told["part"]))
        elif "station" in told:
            station = self._stations[int(told["station"])]
            if call.tool == "inspect":
                self._edges.add(station.alarm, self._step, "inspection")
                station.asked = self._step
            elif call.tool == "diagnose":
                self._diagnose(station, str(told["claim"]))
            elif call.tool == "dispatch":
                self._edges.add(station.claim, self._step, "dispatch")
                station.sent = self._step
            elif call.tool == "close":
                cause = station.claim if station.done is None else station.done
                self._edges.add(cause, self._step, "close")
                self._end(station)

    def _diagnose(self, station: _Station, claim: str) -> None:
        grounds = [station.fault if station.alarm is None else station.alarm, station.claim, *station.findings]
        for ground in grounds:
            self._edges.add(ground, self._step, "claim")
        if claim in DISMISSALS:
            self._end(station)
        else:
            station.claim, station.claimed, station.done = self._step, claim, None

    def _end(self, station: _Station) -> None:
        """Forget a work order; the fault, if it is still there, stays."""
        station.alarm = station.asked = station.claim = station.sent = station.arrived = station.done = None
        station.findings, station.claimed = [], ""

    def _order(self, part: str) -> None:
        for station in self._stations.values():
            if station.claimed == part:
                self._edges.add(station.claim, self._step, "order")
        self._ordered[self._parts.index(part)].append(self._step)

    # ---- what happened

    def _work(self, seen: NDArray[np.float32]) -> None:
        """Look at the work orders."""
        before, after = (self._counts(each, self._places["order"], 4) for each in (self._seen, seen))
        for number, (was, now) in enumerate(zip(before, after, strict=True)):
            station = self._stations.get(number)
            if station is None or was == now:
                continue
            if now in (REPAIR, DONE) and was < REPAIR:
                self._edges.add(station.sent, self._step, "arrival")
                station.arrived = self._step
            if now == DONE:
                self._edges.add(station.arrived, self._step, "repair")
                station.done = self._step

    def _measured(self, seen: NDArray[np.float32]) -> None:
        """Look at what technicians have measured."""
        ages = self._places["inspection_age"]
        for number in np.flatnonzero(seen[ages] < self._seen[ages]).tolist():
            station = self._stations[number]
            self._edges.add(station.asked, self._step, "finding")
            if station.asked is not None:
                station.findings.append(self._step)

    def _store(self, seen: NDArray[np.float32]) -> None:
        """Look at the store: pieces that came, and those that were taken."""
        stock = [self._counts(each, self._stock) for each in (self._seen, seen)]
        coming = [self._counts(each, self._coming) for each in (self._seen, seen)]
        for part, pieces in self._pieces.items():
            if coming[1][part] < coming[0][part]:
                for cause in self._ordered.pop(part, []):
                    self._edges.add(cause, self._step, "delivery")
                pieces.extend([self._step] * coming[0][part])
            while len(pieces) > stock[1][part]:
                self._edges.add(pieces.popleft(), self._step, "part")

    def _rose(self, seen: NDArray[np.float32], name: str) -> NDArray[np.bool_]:
        places = self._places[name]
        rose: NDArray[np.bool_] = (seen[places] > 0) & (self._seen[places] <= 0)
        return rose

    def _counts(self, seen: NDArray[np.float32], places: NDArray[np.int64], unit: int = 10) -> list[int]:
        """Return whole numbers that the observation shows as shares of a unit."""
        counts: list[int] = np.rint(seen[places] * unit).astype(int).tolist()
        return counts


def _indices(places: Mapping[str, int], group: str, name: str) -> NDArray[np.int64]:
    """Return where the numbers of one name lie, station by station or part by part."""
    found: list[int] = []
    while (key := f"{group}[{len(found)}].{name}") in places:
        found.append(places[key])
    if not found:
        raise ValueError(f"obs_spec names no {group}[0].{name}; LineEdges understands LineEnv-v1")
    return np.array(found, np.int64)


def _part_names(world: Any) -> tuple[str, ...]:
    """Return the names of the parts, in the order in which the observation has them."""
    order = next(tool for tool in world.tools if tool.name == "order")
    return tuple(order.parameters.model_json_schema()["properties"]["part"]["enum"])


def _numbers(observation: Any) -> NDArray[np.float32]:
    """Return the flat observation, as a copy."""
    return np.array(observation["observation"] if isinstance(observation, Mapping) else observation)
