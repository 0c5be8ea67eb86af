"""Where each number lies in the arrays that the kernel steps: one row an environment, one record a station.

``H`` rows are int16, ``I`` rows int32, ``F`` rows float32. Within a row come the station records, one after the other,
then the line's own numbers. A station's field ``X`` of station ``s`` is at ``s * STRIDE + X``.
"""

from __future__ import annotations

from linegym.plant import BUFFERS, CHANNELS, PACKETS, PARTS, STATIONS, SWITCHES, TECHNICIANS

# --- int16, a station -------------------------------------------------------------------------------------------
(
    H_WORK,  # 0 empty, 1 processing, 2 finished and waiting
    H_TIMER,  # process time left [1/1024 tick]
    H_STOPPED,  # 1 while in a minor stop
    H_DEST,  # of the finished part: 1 first output, 2 second
    H_LOADED,  # tick when the part was loaded
    H_DONE,  # parts passed on
    H_TRIP,  # watchdog timer [ticks]
    H_STILL,  # ticks of standstill in a row
    H_HOLD,  # ticks for which a disturbed sensor still repeats itself
    H_FAULT,  # plant.Fault
    H_FAULT_AT,  # tick when it appeared
    H_MENDED,  # FAULT_AT of the fault that the last repair mended
    H_SIGN,  # +1 or -1: way of a drift
    H_NEXT,  # class of the planned fault
    H_RENEWALS,  # faults mended so far
    H_ORDER,  # plant.Order
    H_CLAIM,  # claimed class - 1, or -1
    H_TECH,  # technician on the order, or -1
    H_OPENED,  # tick
    H_SENT,  # tick
    H_ARRIVED,  # tick
    H_FIXED,  # 1 when the repair mended the fault
    H_LAST,  # tick of the newest delivered sample, -1 before the first
    H_EXCEED,  # exceeding samples in a row
    H_FLAT,  # equal samples in a row
    H_ALARM,  # 1 while latched
    H_ALARM_AT,  # tick when it latched
    H_MUTED,  # tick until which it stays silent
    H_THROTTLED,  # 1 while throttled
    H_THROTTLE_DUE,  # tick when a throttle command arrives, -1 none
    H_THROTTLE_TO,  # what it sets
    H_INSPECTED,  # tick of the last inspection, -1 none
    H_PHASE,  # phase of the sensor sine [table entries]
    H_JITTER,  # steps of period jitter
    H_DUE,  # PACKETS fields: tick when the packet in that slot arrives, -1 none
) = range(35)
H_STRIDE = H_DUE + PACKETS
# --- int16, the line --------------------------------------------------------------------------------------------
H_BUFFER = STATIONS * H_STRIDE  # BUFFERS: parts in each
H_TECH_STATE = H_BUFFER + BUFFERS  # TECHNICIANS each
H_TECH_AT = H_TECH_STATE + TECHNICIANS
H_TECH_TO = H_TECH_AT + TECHNICIANS
H_TECH_TIMER = H_TECH_TO + TECHNICIANS
H_TECH_CHANNEL = H_TECH_TIMER + TECHNICIANS
H_STOCK = H_TECH_CHANNEL + TECHNICIANS  # PARTS each
H_COMING = H_STOCK + PARTS
H_COMES = H_COMING + PARTS  # tick of arrival, -1 none
H_BAD = H_COMES + PARTS  # SWITCHES: 1 while in the bad state
H_BACKLOG = H_BAD + SWITCHES
H_SPIKE = H_BACKLOG + SWITCHES  # ticks left of a load spike
H_ROW = H_SPIKE + 2  # padded

# --- int32, a station -------------------------------------------------------------------------------------------
I_EXPOSURE, I_ONSET, I_RTO = range(3)  # I_RTO: retransmission time-out in force [ms], 0 none
I_STRIDE = 3
# --- int32, the line --------------------------------------------------------------------------------------------
I_LINE = STATIONS * I_STRIDE
(
    I_TICK,
    I_EPISODE,
    I_OUTPUT,
    I_SCRAP,
    I_SPIKE_MASK,
    I_FAULTS_DUE,  # faults that appeared early enough to count
    I_CLOSED_DUE,  # of them, closed rightly and in time
    I_FAULTS,  # all faults that appeared
    I_CLOSED,  # all work orders closed rightly
    I_WRONG,  # work orders closed in vain, real faults dismissed
    I_LATE,
    I_OVER,  # 1 when the episode has ended
    I_INVALID,  # 1 when the last command was not possible
    I_SUCCESS,  # at the end: 1 when the episode succeeded
) = range(I_LINE, I_LINE + 14)
I_ROW = I_LINE + 14

# --- float32, a station -----------------------------------------------------------------------------------------
(
    F_TEMPERATURE,
    F_VIBRATION,
    F_CURRENT,
    F_AUX,  # pressure or speed, in templates that measure it
    F_SEVERITY,
    F_BIAS,  # offset of a drifting sensor [unit of the primary quantity]
    F_CYCLE,  # smoothed process time against nominal
    F_GAP,  # smoothed count of missing samples
    F_HELD,  # CHANNELS: last reading, which a stuck or disturbed sensor repeats
    *_,
) = range(8 + CHANNELS)
F_SEEN = F_HELD + CHANNELS  # CHANNELS + 1: newest delivered reading, and reported scan
F_MEAN = F_SEEN + CHANNELS + 1
F_VARIANCE = F_MEAN + CHANNELS
F_CLEAN = F_VARIANCE + CHANNELS  # CHANNELS: what the last inspection of each channel measured, normalised
F_PACKET = F_CLEAN + CHANNELS  # PACKETS * (CHANNELS + 1)
F_STRIDE = F_PACKET + PACKETS * (CHANNELS + 1)
# --- float32, the line ------------------------------------------------------------------------------------------
F_LINE = STATIONS * F_STRIDE
F_AR1, F_AR2, F_SCAN = range(F_LINE, F_LINE + 3)
F_SRTT = F_SCAN + 1  # SWITCHES
F_RTTVAR = F_SRTT + SWITCHES
F_ROW = F_RTTVAR + SWITCHES

# --- a template: int32 ------------------------------------------------------------------------------------------
(
    T_CYCLE,  # process time [1/1024 tick]
    T_IN1,
    T_IN2,  # -1 none
    T_OUT1,
    T_OUT2,  # -1 none
) = range(5)
T_STRIDE = 5
T_CAPACITY = STATIONS * T_STRIDE  # BUFFERS
T_TRAVEL = T_CAPACITY + BUFFERS  # STATIONS * STATIONS [ticks]
T_LEAD = T_TRAVEL + STATIONS * STATIONS  # PARTS [ticks]
T_STOCK = T_LEAD + PARTS  # PARTS: stock at the start
T_STATIONS = T_STOCK + PARTS
T_DOMINANT = T_STATIONS + 1  # plant.Fault
T_ALLOWED = T_DOMINANT + 1  # bit i: fault class i can appear
T_QUANTITY = T_ALLOWED + 1  # CHANNELS: plant.Quantity of each
T_REWORK = T_QUANTITY + CHANNELS  # 1: a part whose second output is full becomes scrap
T_ROW = T_REWORK + 1
# --- a template: float64 ----------------------------------------------------------------------------------------
G_BASE, G_PLC = range(2)  # base temperature [°C]; scan time of the station's PLC against nominal
G_STRIDE = 2
G_LINE = STATIONS * G_STRIDE
G_NOMINAL, G_NOISE, G_SPREAD, G_SPLIT, G_MINOR, G_CLEAR, G_FAULT, G_SCRAP = range(G_LINE, G_LINE + 8)
"""Nominal output [parts/tick]; noise of the primary sensor; spread of process times; share of parts for the second
output; probability of a minor stop a part; probability that it clears a tick; probability of a planned fault a station,
negative for a line without faults; probability that a part is scrap."""
G_ROW = G_LINE + 8

# --- a variant: float64 -----------------------------------------------------------------------------------------
(
    V_SINE,
    V_IMPULSE,
    V_IMPULSE_P,
    V_SIGNED,  # 1: impulses of both signs, own phase and period a station
    V_NOISE,  # [normalised units]
    V_WANDER,  # [normalised units]
    V_HOLD_P,
    V_ARRIVALS,  # messages a tick
    V_EXP_ARRIVALS,  # exp(-arrivals)
    V_LATENCY,  # gateway cycles
    V_EXP_LATENCY,
    V_TO_BAD,
    V_TO_GOOD,
    V_LOSS_BAD,
    V_LOSS_GOOD,
    V_RTT,  # [ms]
    V_AR,
    V_PERIODIC,
    V_SPIKE_P,
    V_SPIKE,
    V_RIPPLE,  # noise that a scan off its nominal adds [normalised units a unit of scan]
    V_TARGET,  # output that success needs [parts]
) = range(22)
V_ROW = 22

# --- what a step tells besides observation and reward: int32 ----------------------------------------------------
FACTS = (
    "episode",
    "tick",
    "invalid",  # 1 when a command of this step was not possible
    "phase",  # 0 nothing to do, 1 identify, 2 assess, 3 dispatch, 4 execute: the furthest open work order's
    "output",
    "scrap",
    "faults",
    "faults_due",
    "closed",
    "closed_due",
    "wrong",
    "late",
    "success",  # of the episode; decided in its last step
    "closed_station",  # station of the order closed in this step, -1 none
    "closed_right",
    "identify",  # phases of that order [ticks]: fault to claim
    "assess",  # claim to dispatch
    "dispatch",  # dispatch to arrival
    "execute",  # arrival to closing
)
"""Columns of ``Batch.facts``."""
FACT_CLOSED_STATION = FACTS.index("closed_station")

# --- the observation: float32 -----------------------------------------------------------------------------------
SEEN_STRIDE = 24  # numbers a station
SEEN_CREW = STATIONS * SEEN_STRIDE
SEEN_LINE = SEEN_CREW + 4 * TECHNICIANS + 3 * PARTS
SEEN_ROW = SEEN_LINE + 8
