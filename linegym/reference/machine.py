"""A machine: it loads a part, works on it, and passes it on, when its buffers allow.

Blocking after service, as in the theory of production lines (Gershwin, *Manufacturing Systems Engineering*, 1994,
chapter 3): a finished part stays on the machine until there is room for it. Minor stops clear by themselves.
"""

from __future__ import annotations

from linegym.plant import CYCLE_GAIN, FAULT_DERATE, FAULT_SCRAP, NONE, Panel, Stream
from linegym.reference.blueprint import Place, Setting
from linegym.reference.buffer import Buffer, Floor
from linegym.reference.chance import Words, uniform
from linegym.reference.controller import Controller
from linegym.reference.single import f32
from linegym.reference.wear import Wear

EMPTY, PROCESSING, FINISHED = 0, 1, 2
"""What lies on the machine: nothing, a part in work, a finished part."""
FIRST, SECOND = 1, 2
"""Where a finished part goes."""
_UNIT = 1024
"""Process time is counted in this share of a tick."""
_STILL_MOST = 1000


class Machine:
    """The machine of one station.

    Args:
        number: Of the station.
        setting: The episode's.
        floor: The buffers it takes from and puts into.
    """

    def __init__(self, number: int, setting: Setting, floor: Floor) -> None:
        self.number = number
        self._setting = setting
        self._floor = floor
        self.place: Place = setting.blueprint.places[number]
        self.work = EMPTY
        self.timer = 0
        """Process time left [1/1024 tick]."""
        self.stopped = False
        """Whether it is in a minor stop."""
        self.destination = FIRST
        self.loaded = 0
        """Tick when the part was loaded."""
        self.done = 0
        """Parts passed on."""
        self.cycle = 1.0
        """Smoothed process time against nominal."""
        self.still = 0
        """Ticks of standstill in a row."""

    @property
    def is_working(self) -> bool:
        """Say whether a part is in work and nothing stops it."""
        return self.work == PROCESSING and not self.stopped

    @property
    def panel(self) -> Panel:
        """What the stack light shows of a machine that is not down."""
        if self.stopped:
            return Panel.MINOR_STOP
        return (Panel.STARVED, Panel.RUNNING, Panel.BLOCKED)[self.work]

    @property
    def inputs(self) -> list[Buffer]:
        """The buffers of which it needs a part each."""
        return [self._floor[b] for b in (self.place.in1, self.place.in2) if b != NONE]

    @property
    def upstream(self) -> Buffer:
        """The first input buffer."""
        return self._floor[self.place.in1]

    @property
    def downstream(self) -> Buffer:
        """The first output buffer."""
        return self._floor[self.place.out1]

    @property
    def output(self) -> Buffer:
        """Where the finished part goes."""
        return self._floor[self.place.out2 if self.destination == SECOND else self.place.out1]

    def tick(self, t: int, down: bool, scan: float, wear: Wear, controller: Controller) -> None:
        """Move on by one tick; a machine that is down keeps what it has."""
        if down:
            self.still = min(self.still + 1, _STILL_MOST)
            return
        self.still = 0
        words = self._setting.chance.words(Stream.FLOW, self.number, t)
        if self.stopped:
            if uniform(words.w2) < self._setting.blueprint.clear:
                self.stopped = False
        elif self.work == PROCESSING:
            speed = controller.slowed((1 - FAULT_DERATE[wear.fault] * wear.severity) / max(1, scan))
            self.timer -= int(_UNIT * speed)
            if self.timer <= 0:
                self._finish(t, words, wear)
        if self.work == FINISHED and not self.stopped:
            self._pass_on()
        if self.work == EMPTY and not self.stopped:
            self._load(t, words)

    def _finish(self, t: int, words: Words, wear: Wear) -> None:
        """End the work on a part and decide its fate."""
        plan = self._setting.blueprint
        self.work = FINISHED
        took = ((t - self.loaded) * float(_UNIT)) / self.place.cycle
        self.cycle = f32(self.cycle + CYCLE_GAIN * (took - self.cycle))
        fate = uniform(words.w1)
        bad = plan.scrap + FAULT_SCRAP[wear.fault] * wear.severity
        if fate < bad:
            self._scrap()
        elif self.place.out2 >= 0 and fate < bad + plan.split:
            self.destination = SECOND
        else:
            self.destination = FIRST

    def _pass_on(self) -> None:
        if self.output.has_room:
            self.output.put()
            self.done += 1
            self.work = EMPTY
        elif self.destination == SECOND and self._setting.blueprint.rework:
            self._scrap()

    def _scrap(self) -> None:
        self._floor.throw_away()
        self.work = EMPTY

    def _load(self, t: int, words: Words) -> None:
        """Take a part from every input and begin, if there is one in each."""
        plan = self._setting.blueprint
        if not all(buffer.has_part for buffer in self.inputs):
            return
        for buffer in self.inputs:
            buffer.take()
        self.work = PROCESSING
        self.timer = int(self.place.cycle * (1 + plan.spread * (2 * uniform(words.w0) - 1)))
        self.loaded = t
        if uniform(words.w2) < plan.minor:
            self.stopped = True
