"""The 683 templates: topology × primary sensor × protocol × dominant fault, less what no plant would build.

The product has 1 440 combinations; five rules leave 683 (``possible``). The list is frozen in ``data/templates.csv``
and a test derives it from the rules. To be honest about the number: 683 is prime, so no product of axes could give
it; axes and rules were chosen so that they leave as many. The design is a constrained full factorial, and not
orthogonal: ``docs/explanation/variants-and-split.md`` gives the marginals.

What a template's plant is like is drawn from a generator whose key is the template's name, so that another template
more or less changes no other. The protocol sets the pace of the network: ``DELAY_FACTOR``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

from linegym.blueprint import EVERY_FAULT, Plant, Station
from linegym.errors import UnknownTemplate, did_you_mean
from linegym.floor import cells
from linegym.philox import Draws
from linegym.plant import PARTS, Fault, Quantity
from linegym.tables import published
from linegym.topologies import TOPOLOGIES

__all__ = ["TEMPLATES", "CustomTemplate", "Plant", "Station", "Template", "possible", "rule", "template"]

_T, _V, _I = Quantity.TEMPERATURE, Quantity.VIBRATION, Quantity.CURRENT
SENSORS = {
    "thermocouple": ((_T, _V, _I), 1.0),
    "rtd": ((_T, _V, _I), 0.6),
    "accelerometer": ((_V, _T, _I), 0.9),
    "current": ((_I, _T, _V), 0.7),
    "pressure": ((Quantity.PRESSURE, _T, _I), 0.7),
    "encoder": ((Quantity.SPEED, _V, _I), 0.5),
}
"""What the three channels of each kind of station measure, and the noise of the first against an ordinary sensor."""
DELAY_FACTOR = {"profinet": 0.8, "ethercat": 0.7, "modbus-tcp": 1.2, "opcua": 1.1, "mqtt": 1.3}
"""Round-trip time and gateway latency under each protocol, against the network's own: a frame on the fly (EtherCAT)
or in a time slot (PROFINET) waits for nobody; Modbus polls; MQTT goes by a broker."""
FAULTS = {fault.name.lower().replace("_", "-"): fault for fault in EVERY_FAULT}

OBSERVABLE = {
    "bearing": {"accelerometer", "current", "thermocouple", "rtd"},
    "overheat": {"thermocouple", "rtd", "current"},
    "jam": {"current", "encoder", "accelerometer"},
    "tool-wear": {"accelerometer", "current"},
    "leak": {"pressure", "current"},
    "sensor-drift": set(SENSORS) - {"encoder"},  # counts do not drift
    "sensor-stuck": set(SENSORS),
    "plc-comm": set(SENSORS),
}
"""Primary sensors that each fault shows up in."""
FAST_SENSORS = {"accelerometer", "encoder"}  # kilohertz and edges
FAST_PROTOCOLS = {"profinet", "ethercat"}  # the deterministic fieldbuses
NOT_BUILT = {
    ("hybrid", "modbus-tcp"),  # polling 24 stations exceeds the scan
    ("hybrid", "ethercat"),  # one segment cannot span the branches
    ("serial", "mqtt"),  # a transfer line has hard interlocks
}
TEMPLATES_SHA256 = "087e5de6901e49df17014784a254355ee5a60e32fc329af42799eafae373ee12"

TAKT = (3616, 5320)
"""Takt of a line, drawn evenly [1/1024 tick]."""
BALANCE = (871, 1177)
"""Process times lie this far about the takt, ±15 % [1/1024]: no line is one bottleneck [1/1024]."""
CAPACITY = (2, 8)
"""Of a buffer [parts]."""
LEAD = (20, 120)
"""Time until an ordered spare part is there [ticks]."""
BASE = (40 * 8, 60 * 8)
"""Temperature of a station at rest [1/8 °C]."""
PLC = (118, 138)
"""Scan time of a station's controller [1/128 of nominal]: 0.92 to 1.08."""
SPREAD, MINOR, CLEAR, SCRAP = 0.1, 0.004, 0.25, 0.01
FAULTS_A_LINE = 3
"""Expected faults of a shift besides the certain one."""


@dataclass(frozen=True, slots=True, order=True)
class Template:
    """One of the 683 lines, by what is characteristic of it."""

    topology: str
    sensor: str
    protocol: str
    fault: str

    @property
    def name(self) -> str:
        """``"serial/thermocouple/profinet/bearing"``."""
        return f"{self.topology}/{self.sensor}/{self.protocol}/{self.fault}"

    @property
    def delay_factor(self) -> float:
        """How the protocol stretches the network's delays."""
        return DELAY_FACTOR[self.protocol]

    def plant(self) -> Plant:
        """Return the line; the same object each time."""
        return _plant(self)


@dataclass(frozen=True, slots=True)
class CustomTemplate:
    """A line of your own, to be used wherever one of the 683 can be."""

    label: str
    line: Plant
    delay_factor: float = 1.0

    @property
    def name(self) -> str:
        """``"custom:LABEL:DIGEST"``; lines that differ have names that differ."""
        return f"custom:{self.label}:{self.line.digest[:12]}"

    def plant(self) -> Plant:
        """Return the line."""
        return self.line


def possible(topology: str, sensor: str, protocol: str, fault: str) -> bool:
    """Return whether a plant would be built like this."""
    return (
        sensor in OBSERVABLE[fault]
        and (sensor not in FAST_SENSORS or protocol in FAST_PROTOCOLS)
        and (topology, fault) != ("inspection-split", "leak")  # no pressurised actuators on an inspection line
        and (topology, protocol) not in NOT_BUILT
    )


def rule() -> tuple[Template, ...]:
    """Return what the axes and the rules give, in the order of the axes."""
    combinations = product(TOPOLOGIES, SENSORS, DELAY_FACTOR, FAULTS)
    return tuple(Template(*combination) for combination in combinations if possible(*combination))


def _frozen() -> tuple[Template, ...]:
    lines = published("templates.csv", TEMPLATES_SHA256).decode().splitlines()
    return tuple(Template(*line.split(",")) for line in lines[1:])


TEMPLATES: tuple[Template, ...] = _frozen()
"""All of them, in the order of the rule."""
_BY_NAME = {template.name: template for template in TEMPLATES}


def template(name: str) -> Template:
    """Return the template of that name.

    Raises:
        UnknownTemplate: there is none.
    """
    if name not in _BY_NAME:
        raise UnknownTemplate(
            f"no template is named {name!r}{did_you_mean(name, _BY_NAME)}; "
            "a name is topology/sensor/protocol/fault, linegym.TEMPLATES has all 683"
        )
    return _BY_NAME[name]


@cache
def _plant(template: Template) -> Plant:
    shape_draws, time_draws, floor_draws, store_draws = (
        Draws.of(f"linegym-v1/{what}/{template.name}") for what in ("shape", "times", "floor", "stores")
    )
    shape = TOPOLOGIES[template.topology](shape_draws)
    places = cells([(spot.step, spot.lane) for spot in shape.spots], floor_draws)
    takt = time_draws.between(*TAKT)
    stations = []
    for spot, at in zip(shape.spots, places, strict=True):
        cycle = takt * time_draws.between(*BALANCE) // 1024 * (2 if spot.doubled else 1)
        base, plc = time_draws.between(*BASE) / 8, time_draws.between(*PLC) / 128
        stations.append(Station(cycle, spot.inputs, spot.outputs, at, base, plc))
    quantities, noise = SENSORS[template.sensor]
    dominant = FAULTS[template.fault]
    return Plant(
        stations=tuple(stations),
        capacities=tuple(store_draws.between(*CAPACITY) for _ in range(shape.buffers)),
        leads=tuple(store_draws.between(*LEAD) for _ in range(PARTS)),
        stock=tuple(2 if kind == dominant - 1 else 1 for kind in range(PARTS)),
        quantities=quantities,
        dominant=dominant,
        allowed=_allowed(template),
        fault=FAULTS_A_LINE / len(stations),
        noise=noise,
        spread=SPREAD,
        split=shape.split,
        minor=MINOR,
        clear=CLEAR,
        scrap=SCRAP,
        rework=shape.rework,
    )


def _allowed(template: Template) -> tuple[Fault, ...]:
    """Return the fault classes that can appear: not those that the rules exclude."""
    excluded = set()
    if template.topology == "inspection-split":
        excluded.add(Fault.LEAK)
    if template.sensor == "encoder":
        excluded.add(Fault.SENSOR_DRIFT)
    return tuple(fault for fault in EVERY_FAULT if fault not in excluded)
