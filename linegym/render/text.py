"""Text: the line as a table that a terminal shows."""

from __future__ import annotations

from linegym.actions import CLAIM_NAMES
from linegym.plant import UNITS, Fault, Order
from linegym.render.scene import BufferView, StationView
from linegym.render.viewer import View
from linegym.render.words import LIGHTS, clock, end_words, fault_name, order_words, quantity_name, technician_words

BAR = 8
"""Width of a full buffer [characters]."""


def text(view: View) -> str:
    """Return the line now, as plain text."""
    scene = view.scene
    lines = [
        f"{scene.variant}, episode {scene.episode}",
        f"{clock(scene.tick)}  tick {scene.tick} of {scene.horizon}  output {scene.output} of {scene.nominal:.0f} "
        f"possible  scrap {scene.scrap}  closed {scene.closed} right, {scene.wrong} wrong  reward {view.total:.2f}",
    ]
    if view.said:
        lines.append(f"last command: {view.said}{' (not possible)' if view.refused else ''}")
    if scene.over:
        lines.append(end_words(scene))
    quantity = scene.quantities[0]
    lines += ["", _row("", "light", "buffer before", f"{quantity_name(quantity)} [{UNITS[quantity]}]", "age", "")]
    for station in scene.stations:
        before = next((each for each in scene.buffers if station.number in each.after), None)
        lines.append(
            _row(
                f"S{station.number}",
                LIGHTS[station.panel] + (", half speed" if station.throttled else ""),
                "source" if before is None else _fill(before),
                f"{station.seen[0]:8.2f} ({station.true[0]:.2f})",
                str(station.age),
                _remarks(station, scene.tick),
            )
        )
    lines.append("")
    lines += [f"T{who.number} {technician_words(who)}" for who in scene.technicians]
    lines += ["", "spare parts: " + ", ".join(_part(view, number) for number in range(len(scene.parts)))]
    lines += ["In brackets, and after '!': the truth, which the agent does not see."]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _row(number: str, light: str, before: str, reading: str, age: str, remarks: str) -> str:
    return f"{number:4}{light:19}{before:16}{reading:24}{age:>4}  {remarks}"


def _fill(buffer: BufferView) -> str:
    full = round(BAR * buffer.level / buffer.capacity)
    return f"[{'#' * full}{'.' * (BAR - full)}] {buffer.level}/{buffer.capacity}"


def _remarks(station: StationView, tick: int) -> str:
    remarks = []
    if station.fault is not Fault.NONE:
        remarks.append(f"!{fault_name(station.fault)}")
    if station.alarm:
        remarks.append("ALARM")
    if station.order is not Order.NONE:
        remarks.append(order_words(station, tick))
    return "  ".join(remarks)


def _part(view: View, number: int) -> str:
    part = view.scene.parts[number]
    coming = f" (+{part.coming} in {part.arrival})" if part.arrival >= 0 else ""
    return f"{CLAIM_NAMES[number]} {part.stock}{coming}"
