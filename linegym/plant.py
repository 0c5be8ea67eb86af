"""What the numbers of the plant mean: classes, quantities, states, physical constants.

Both the compiled kernel and the readable reference take their constants from here and nothing else from each other.
The laws that use them, with the order of every operation: ``docs/reference/plant.md``.
"""

from __future__ import annotations

from enum import IntEnum

TICK = 6
"""Plant time of one step [s]."""
HORIZON = 600
"""Steps of a shift unless the caller says otherwise: one hour."""
LONGEST_HORIZON = 30_000
"""Ticks are kept in 16 bits."""
STATIONS = 24
"""Places for stations in every array; a template uses 8 to 24 of them."""
CHANNELS = 3
"""Sensor channels of a station; channel 0 carries the template's primary sensor."""
TECHNICIANS = 6
PARTS = 8
"""Kinds of spare part; kind ``i`` mends fault class ``i + 1``."""
SWITCHES = 4
"""Network switches; station ``s`` hangs on switch ``s // 6``."""
STATIONS_A_SWITCH = 6
PACKETS = 6
"""Newest packets of a station that can be under way at once; a later one is given up."""
BUFFERS = 26
SOURCE = 0
"""The buffer that never runs empty."""
SINK = 25
"""The buffer that never fills; what lies in it is output."""
NONE = -1
NEVER = 2_000_000_000
"""An exposure that no station reaches."""


class Fault(IntEnum):
    """What can be wrong with a station."""

    NONE = 0
    BEARING = 1
    OVERHEAT = 2
    JAM = 3
    TOOL_WEAR = 4
    LEAK = 5
    SENSOR_DRIFT = 6
    SENSOR_STUCK = 7
    PLC_COMM = 8


FAULTS = 8
CLAIMS = 10
"""What an agent can claim: claim ``i`` < 8 is fault class ``i + 1``; 8 and 9 dismiss an alarm."""
CLAIM_DISTURBANCE = 8
"""The alarm comes from sensor or load disturbance: no fault."""
CLAIM_NETWORK = 9
"""The alarm comes from the network: no fault."""


class Quantity(IntEnum):
    """What a channel measures."""

    TEMPERATURE = 0
    VIBRATION = 1
    CURRENT = 2
    PRESSURE = 3
    SPEED = 4


UNITS = ("°C", "mm/s", "A/A", "bar", "%")
"""Unit of each quantity; current is per rated current."""
NOMINAL = (10.0, 1.4, 0.75, 5.9, 70.0)
"""Usual value of each quantity; temperature is counted from the station's base temperature."""
SCALE = (6.0, 0.4, 0.25, 0.35, 25.0)
"""What one normalised unit of each quantity is."""
LAG = (0.08, 0.35, 0.6, 0.4, 0.6)
"""Share of the way to its target that each quantity goes in one tick."""

HEAT = 15.0
"""Temperature above base at full effort [°C]."""
VIBRATION_IDLE, VIBRATION_EFFORT = 1.0, 0.6
CURRENT_IDLE, CURRENT_EFFORT = 0.2, 0.8
PRESSURE_IDLE, PRESSURE_EFFORT = 6.0, 0.2
HOT = 95.0
"""True temperature above which an overheated station stops [°C]."""
THROTTLED_SPEED = 0.8

# Effects of each fault class at severity 1; index 0 is no fault.
FAULT_TEMPERATURE = (0.0, 8.0, 36.0, 4.0, 2.0, 0.0, 0.0, 0.0, 0.0)
FAULT_VIBRATION = (0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
FAULT_CURRENT = (0.0, 0.15, 0.15, 1.2, 0.35, 0.7, 0.0, 0.0, 0.0)
FAULT_PRESSURE = (0.0, 0.0, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0)
"""Pressure lost [bar]."""
FAULT_DERATE = (0.0, 0.25, 0.3, 0.0, 0.15, 0.35, 0.1, 0.1, 0.0)
"""Share of the speed lost."""
FAULT_SCRAP = (0.0, 0.0, 0.0, 0.0, 0.25, 0.0, 0.05, 0.05, 0.0)
"""Added probability that a part is scrap."""
FAULT_ONSET = (0.0, 0.4, 0.4, 1.0, 0.4, 0.4, 1.0, 1.0, 1.0)
"""Severity when the fault appears."""
SEVERITY_RATE = 0.06
"""Share of the way to severity 1 that a fault goes in one tick."""
DRIFT_RATE = 0.15
"""Growth of a drifting sensor's offset a tick, in normalised units."""
DRIFT_LIMIT = 8.0
"""Largest offset of a drifting sensor, in normalised units."""

# Exposure: what brings the next fault nearer.
EXPOSURE_REST = 8
"""Exposure a tick, running or not."""
EXPOSURE_EFFORT = 8.0
"""Exposure a tick at effort 1, on top."""
EXPOSURE_TICK = 14
"""Exposure of an ordinary tick: what turns planned ticks into exposure."""
FIRST_ONSET = 30
"""No planned fault comes before this many ordinary ticks."""
PLANNED_SHARE = 0.9
"""Planned faults lie in this share of the horizon."""
CERTAIN_SHARE = 0.6
"""The fault that every episode has lies in this share of the horizon."""
DOMINANT = 0.5
"""Probability that a planned fault is of the template's dominant class whatever else is drawn."""
DUE_SHARE = 0.75
"""Faults that appear before this share of the horizon count for success."""
DEADLINE = 45
"""A work order closed later than this after its fault appeared is late [ticks]."""

# Load.
AR_1, AR_2 = 0.7, 0.2
"""Coefficients of the scan offset, from the mission."""
SCAN_LOW, SCAN_HIGH = 0.25, 4.0
PERIODIC_INCREMENT = 20_480
"""Phase a tick of the periodic load: period 48 ticks [1/256 of a table entry]."""
SPIKE_SHORTEST = 5
TRIP_SCAN = 2.0
"""A scan longer than this many times nominal trips the watchdog."""
TRIP_TICKS = 15
"""Ticks before the watchdog can trip again; the station stands for the first five."""
TRIP_DOWN = 10

# Sensors.
SINE_ENTRIES = 3840
SINE_TURN = SINE_ENTRIES * 256
SINE_INCREMENT = 98_304
"""Phase a tick of the sensor law's sine: period 60 s exactly."""
SINE_JITTER = 154
"""Phase a tick for each of the up to 64 steps of period jitter."""
WANDER_INCREMENT = 3_072
"""Phase a tick of slow wander: period 320 ticks, 32 minutes."""
CHANNEL_SHIFT = 327_680
"""Phase between the channels of a station: a third of a turn."""
SECONDARY_NOISE = 0.8
"""Noise of channels 1 and 2 against an ordinary primary sensor."""
HOLD_TICKS = 5
"""How long a disturbed sensor repeats itself [ticks]."""

# Network.
MESSAGES = 8
"""Messages that a switch passes on a tick."""
BACKLOG_LIMIT = 64
LOAD_MESSAGES = 16.0
"""Further messages a tick for each unit of scan above nominal."""
CYCLE_MS = 3000
"""Length of a gateway cycle, the unit of latency [ms]."""
TICK_MS = 6000
RTO_FLOOR_MS = 1000.0
RTO_CAP_MS = 60_000
SRTT_GAIN, RTTVAR_GAIN = 0.125, 0.25
"""RFC 6298, section 2."""
SMOOTHING = 0.2
"""Gain of the window mean and variance."""
GAP_DECAY = 0.9
GAP_LIMIT = 16
CYCLE_GAIN = 0.25

# Alarms.
ALARM_LEVEL = 3.0
"""Normalised deviation of a delivered value beyond which a sample counts as exceeding."""
ALARM_SAMPLES = 3
"""Exceeding samples in a row that raise the alarm."""
ALARM_FLAT = 12
"""Equal samples in a row that raise it."""
ALARM_AGE = 30
"""Age of the newest sample that raises it [ticks]."""
ALARM_CYCLE = 1.35
"""Cycle time against nominal that raises it."""
ALARM_DOWN = 10
"""Ticks of standstill in a row that raise it."""
ALARM_STOPS = 25
"""A station whose alarm nobody answers for longer than this stands still until somebody does [ticks]."""
MUTE_TICKS = 60
"""How long an alarm stays silent after it was dismissed or its work order closed [ticks]."""
INSPECTED_FOR = 60
"""How long an inspection allows a work order without an alarm [ticks]."""

# Crew.
INSPECTION_TICKS = 3
REPAIR_TICKS = (8, 10, 6, 7, 9, 4, 4, 5)
"""Repair time by claimed class [ticks]."""
SKILL_TICKS = 2
"""Added for each step of skill that technician ``k`` lacks: ``k % 3`` steps."""


class Verb(IntEnum):
    """First number of a command."""

    NOOP = 0
    INSPECT = 1
    DIAGNOSE = 2
    ORDER = 3
    DISPATCH = 4
    CLOSE = 5
    THROTTLE = 6


VERBS = 7
ARGUMENTS = 16
"""Values of a command's third number."""
ACTIONS = 545
"""1 + 24*3 inspect + 24*10 diagnose + 8*2 order + 6*24 dispatch + 24 close + 24*2 throttle."""
FIRST_INSPECT, FIRST_DIAGNOSE, FIRST_ORDER, FIRST_DISPATCH, FIRST_CLOSE, FIRST_THROTTLE = 1, 73, 313, 329, 473, 497
ORDER_SIZES = (1, 3)


class Order(IntEnum):
    """State of a station's work order."""

    NONE = 0
    OPEN = 1
    """Claimed; the assessment runs until somebody is sent."""
    TRAVEL = 2
    REPAIR = 3
    DONE = 4
    """Repaired, rightly or not; to be verified and closed."""


class Crew(IntEnum):
    """State of a technician."""

    IDLE = 0
    TO_REPAIR = 1
    REPAIR = 2
    TO_INSPECT = 3
    INSPECT = 4


class Panel(IntEnum):
    """What the stack light of a station shows."""

    STARVED = 0
    RUNNING = 1
    BLOCKED = 2
    DOWN = 3
    MINOR_STOP = 4


class Stream(IntEnum):
    """Stream of random numbers of each mechanism: second half of the Philox counter's second word."""

    FLOW = 1
    SENSE = 2
    LINK = 3
    SWITCH = 4
    LOAD = 5
    FAULT = 6
    PLAN = 7
    PHASE = 8


# Reward, a tick.
REWARD_OUTPUT = 100.0
"""For the shift's whole nominal output."""
REWARD_SCRAP = 20.0
"""Taken for scrap as large as the nominal output."""
REWARD_FAULT = 0.03
"""Taken a tick for each station with a fault."""
REWARD_PART = 0.05
"""Taken for each spare part ordered."""
REWARD_TRAVEL = 0.002
"""Taken a tick for each technician on the way."""
REWARD_INSPECT = 0.01
"""Taken for each inspection."""
REWARD_FALSE = 0.2
"""Taken for a work order closed in vain, and for dismissing a real fault."""
REWARD_LATE = 2.0
"""Taken for closing late."""
REWARD_INVALID = 0.01
"""Taken for a command that is not possible now."""
