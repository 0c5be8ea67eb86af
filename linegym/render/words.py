"""Words for what a scene holds, the same in the picture and in the text."""

from __future__ import annotations

from linegym.actions import CLAIM_NAMES
from linegym.plant import TICK, Crew, Fault, Order, Panel, Quantity
from linegym.render.scene import Scene, StationView, TechnicianView

LIGHTS = {
    Panel.STARVED: "waiting for parts",
    Panel.RUNNING: "running",
    Panel.BLOCKED: "blocked",
    Panel.DOWN: "down",
    Panel.MINOR_STOP: "minor stop",
}
ORDERS = {
    Order.OPEN: "assess",
    Order.TRAVEL: "technician on the way",
    Order.REPAIR: "repair",
    Order.DONE: "repaired, to be closed",
}
UNITS = ("°C", "mm/s", "of rated current", "bar", "%")
"""Unit of each quantity, for an axis."""


def fault_name(fault: Fault) -> str:
    """Return a fault class as it is written in ids."""
    return fault.name.lower().replace("_", "-")


def quantity_name(quantity: Quantity) -> str:
    """Return a quantity in words."""
    return quantity.name.lower()


def clock(tick: int) -> str:
    """Return the time since the shift began."""
    seconds = tick * TICK
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def order_words(station: StationView, tick: int) -> str:
    """Return the state of a station's work order."""
    claim = CLAIM_NAMES[station.claim] if station.claim >= 0 else "no claim"
    who = f", T{station.technician}" if station.technician >= 0 else ""
    return f"{claim}: {ORDERS[station.order]}{who}, {tick - station.opened} ticks"


def technician_words(who: TechnicianView) -> str:
    """Return what a technician does."""
    match who.state:
        case Crew.IDLE:
            return f"idle at S{who.near}"
        case Crew.TO_REPAIR:
            return f"to repair S{who.to}, {who.timer} ticks"
        case Crew.REPAIR:
            return f"repairs S{who.near}, {who.timer} ticks"
        case Crew.TO_INSPECT:
            return f"to inspect S{who.to}, {who.timer} ticks"
        case _:
            return f"inspects S{who.near}, {who.timer} ticks"


def end_words(scene: Scene) -> str:
    """Return how the shift went, or nothing while it goes on."""
    if not scene.over:
        return ""
    return "shift over: success" if scene.success else "shift over: no success"
