"""Line: the layout of ``LineEnv-v1``, as its documentation has it: 24 stations, 6 technicians, 8 parts."""

from __future__ import annotations

from rolf_adapters.ppo.vector.layout import Block, Layout, Pointer

STATIONS, NUMBERS, TECHNICIANS = 24, 24, 6
CREW = STATIONS * NUMBERS
PANEL, ORDER, CLAIM, TECHNICIAN = 13, 14, 15, 17
SENSES = 37
"""Numbers of a station that ``linegym.senses`` works out."""
RUNNING, DOWN = 1, 3
"""Of the stack light: at work; standing still for itself."""
SCAN, CYCLE = 8, 9

TOPOLOGIES = "serial", "parallel", "assembly-merge", "inspection-split", "rework-loop", "hybrid"
SENSORS = "thermocouple", "rtd", "accelerometer", "current", "pressure", "encoder"
PROTOCOLS = "profinet", "ethercat", "modbus-tcp", "opcua", "mqtt"
FAULTS = "bearing", "overheat", "jam", "tool-wear", "leak", "sensor-drift", "sensor-stuck", "plc-comm"


def layout(gains: tuple[float, ...] = (0.3, 0.1, 0.03), *, senses: bool = False) -> Layout:
    """Return the layout.

    Args:
        gains: Of the exponential means through which the past is seen, a step; for the length of a step that is
            trained with.
        senses: Whether to show what ``linegym.senses`` works out as well.
    """
    return Layout(
        entities=STATIONS,
        size=NUMBERS,
        present=SCAN,
        levels=((PANEL, 5), (ORDER, 5), (CLAIM, 9), (TECHNICIAN, 7)),
        rest_levels=tuple((CREW + 4 * each, 5) for each in range(TECHNICIANS)),
        pointers=tuple(
            Pointer(column=CREW + 4 * each + of, scale=24.0, offset=offset)
            for each in range(TECHNICIANS)
            for of, offset in ((1, 0), (2, 1))
        ),
        actions=(
            Block(first=1, size=3),
            Block(first=73, size=10),
            Block(first=329, size=6, order="kind"),
            Block(first=473, size=1),
            Block(first=497, size=2),
        ),
        together=((313, 16),),
        traced=(*((number, -1) for number in (0, 1, 2, SCAN, CYCLE)), (PANEL, RUNNING), (PANEL, DOWN)),
        gains=gains,
        senses="linegym.senses:senses" if senses else "",
        senses_size=SENSES if senses else 0,
        words="template_id",
        vocabulary=(*TOPOLOGIES, *SENSORS, *PROTOCOLS, *FAULTS),
    )
