"""A station: a machine with its controller, its wear, its sensors and its link, and the control room's view of it."""

from __future__ import annotations

from linegym.plant import Fault, Order, Panel
from linegym.reference.blueprint import Setting
from linegym.reference.body import Body
from linegym.reference.buffer import Floor
from linegym.reference.controller import Controller
from linegym.reference.inspection import Inspection
from linegym.reference.ledger import Ledger
from linegym.reference.link import Link
from linegym.reference.load import Load
from linegym.reference.machine import Machine
from linegym.reference.monitor import Monitor
from linegym.reference.sensors import Sensors
from linegym.reference.switch import Switch
from linegym.reference.wear import Wear
from linegym.reference.workorder import WorkOrder


class Station:
    """One station of the line.

    Args:
        number: Of the station.
        setting: The episode's.
        floor: The line's buffers.
        switch: The network switch that it hangs on.
        certain: Whether its first fault is certain.
    """

    def __init__(self, number: int, setting: Setting, floor: Floor, switch: Switch, certain: bool) -> None:
        self.number = number
        self.channels = setting.blueprint.channels(number)
        self.place = setting.blueprint.places[number]
        self.controller = Controller()
        self.machine = Machine(number, setting, floor)
        self.wear = Wear(number, setting, self.channels[0], certain)
        self.body = Body(self.place.base, self.channels[0].quantity)
        self.sensors = Sensors(number, setting, self.channels)
        self.link = Link(number, setting, switch)
        self.monitor = Monitor(self.channels)
        self.order = WorkOrder()
        self.inspection = Inspection()

    def is_down(self, t: int) -> bool:
        """Say whether something holds the whole station at tick ``t``."""
        return (
            self.wear.fault in (Fault.JAM, Fault.PLC_COMM)
            or (self.wear.fault == Fault.OVERHEAT and self.body.is_hot)
            or self.order.state == Order.REPAIR
            or self.controller.has_tripped
            or self.is_interlocked(t)
        )

    def is_interlocked(self, t: int) -> bool:
        """Say whether an alarm that nobody answers stops the station at tick ``t``."""
        return self.order.state == Order.NONE and self.monitor.has_rung_out(t)

    def panel(self, t: int) -> Panel:
        """Return what the stack light shows at tick ``t``."""
        return Panel.DOWN if self.is_down(t) else self.machine.panel

    def tick(self, t: int, load: Load, ledger: Ledger) -> None:
        """Move on by one tick."""
        scan = load.scan_of(self.number, self.place.plc)
        self.controller.tick(t, scan)
        down = self.is_down(t)
        self.machine.tick(t, down, scan, self.wear, self.controller)
        running = self.machine.is_working and not down
        effort = self.controller.slowed(running * scan)
        self.wear.tick(t, effort, ledger)
        self.body.tick(running, effort, scan, self.wear, self.controller)
        self.sensors.tick(t, scan, self.body, self.wear)
        self.link.send(t, self.sensors.held, scan, self.wear.fault)
        arrived = self.link.receive(t, self.monitor.last)
        if arrived:
            self.monitor.take(*arrived)
        if self.order.state == Order.NONE:
            self.monitor.watch(t, self.machine.cycle, self.machine.still)
