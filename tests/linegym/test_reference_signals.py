"""What sensors, network and load do to what is seen, one law at a time and everything else switched off."""

from __future__ import annotations

from dataclasses import replace
from math import pi, sin
from typing import Any

import pytest
from toy_lines import NOOP, chain, line, without_noise

from linegym import plant as P
from linegym.plant import Fault, Panel, Quantity
from linegym.reference import ReferenceLine
from linegym.reference.station import Station

SHIFT = int(P.FIRST_ONSET / P.CERTAIN_SHARE)
"""A shift so short that its certain fault has no choice when to come."""
CURRENT_FIRST = (Quantity.CURRENT, Quantity.TEMPERATURE, Quantity.VIBRATION)


def watch(plant: ReferenceLine, ticks: int) -> Station:
    for _ in range(ticks):
        plant.step([NOOP])
    return plant.stations[0]


def faulty(fault: Fault, **rest: Any) -> ReferenceLine:
    """Return a line just after that fault has appeared."""
    plant = line(chain([2], fault=0.0, dominant=fault, **rest), horizon=SHIFT)
    while plant.ledger.faults == 0:
        watch(plant, 1)
    return plant


def test_quantities_settle_where_full_effort_puts_them() -> None:
    """15 °C above base, 1.6 mm/s, rated current; what lies between is a first-order lag."""
    plant = line(chain([2]), horizon=200)
    body = watch(plant, 1).body
    assert body.temperature == pytest.approx(50 + 0.08 * 15)
    watch(plant, 149)
    assert (body.temperature, body.vibration, body.current) == pytest.approx((65, 1.6, 1.0), rel=1e-4)


def test_the_missions_sensor_law_to_the_letter() -> None:
    """Reading = true value × (1 + 0.02 sin(2 pi t / 60 s) + 0.01 Bernoulli(0.05)), with 6 s a tick."""
    plant = line(chain([2]), without_noise(sine=0.02, impulse=0.01, impulse_p=0.05), horizon=1000)
    impulses = 0
    for t in range(1000):
        station = watch(plant, 1)
        extra = station.sensors.held[0] / station.body.temperature - 1 - 0.02 * sin(2 * pi * 6 * t / 60)
        assert extra == pytest.approx(0, abs=1e-6) or extra == pytest.approx(0.01, abs=1e-6)
        impulses += extra > 0.005
    assert 30 <= impulses <= 75


def test_the_channels_of_a_station_are_a_third_of_a_turn_apart() -> None:
    """Else one look at two channels would tell the sine from the plant."""
    plant = line(chain([2]), without_noise(sine=0.1))
    for t in range(20):
        station = watch(plant, 1)
        gains = [station.sensors.held[k] / station.body.value(station.channels[k].quantity) - 1 for k in range(3)]
        assert gains == pytest.approx([0.1 * sin(2 * pi * (t / 10 + k / 3)) for k in range(3)], abs=1e-6)


def test_a_drifting_sensor_runs_away_from_the_truth_and_no_other_does() -> None:
    """A little more every tick, up or down, from the tick after the fault."""
    plant = faulty(Fault.SENSOR_DRIFT, quantities=CURRENT_FIRST)
    for ticks in range(1, 6):
        station = watch(plant, 1)
        offset = station.sensors.held[0] - station.body.current
        assert offset == pytest.approx(station.wear.sign * ticks * P.DRIFT_RATE * P.SCALE[Quantity.CURRENT], abs=1e-5)
        assert station.sensors.held[1] == station.body.temperature
    assert abs(station.wear.bias) < P.DRIFT_LIMIT * P.SCALE[Quantity.CURRENT]


def test_a_stuck_sensor_repeats_itself_until_that_is_noticed() -> None:
    """The alarm needs 12 equal samples in a row."""
    plant = faulty(Fault.SENSOR_STUCK)
    station = plant.stations[0]
    reading = station.sensors.held[0]
    for equal in range(2, P.ALARM_FLAT + 1):
        assert not station.monitor.alarm
        watch(plant, 1)
        assert station.sensors.held[0] == reading
        assert station.monitor.flat == equal
    assert station.monitor.alarm


def test_a_disturbed_sensor_holds_for_five_ticks() -> None:
    """With a hold certain, it begins in tick 0, lasts until it has counted down, and begins again."""
    plant = line(chain([2]), without_noise(hold_p=1.0))
    holds = [watch(plant, 1).sensors.hold for _ in range(12)]
    assert holds == [5, 4, 3, 2, 1, 0, 5, 4, 3, 2, 1, 0]


def test_lost_packets_come_later_and_later_and_then_not_at_all() -> None:
    """With every packet lost the time-outs are 1, 2, 4, 8, 16, 32, 60, 60 … s, that is 0, 0, 0, 1, 2, 5, 10, 10 …
    ticks; later than 5 is given up. So packet 3 comes in 4, 4 in 6, 5 in 10, and no other ever."""
    plant = line(chain([2]), without_noise(loss_good=1.0))
    last = [watch(plant, 1).monitor.last for _ in range(13)]
    assert last == [0, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5]


def test_silence_raises_the_alarm() -> None:
    """Nothing newer than tick 5: in tick 36 that is 31 ticks old, one more than may be."""
    plant = line(chain([2]), without_noise(loss_good=1.0))
    monitor = watch(plant, 6 + P.ALARM_AGE).monitor
    assert not monitor.alarm
    watch(plant, 1)
    assert (monitor.alarm, monitor.alarm_at) == (True, 6 + P.ALARM_AGE)


def test_a_controller_that_does_not_communicate_sends_nothing() -> None:
    """And its station stands, which the panel shows; the others go on sending."""
    plant = line(chain([2, 2], [2], fault=0.0, dominant=Fault.PLC_COMM), horizon=50)
    while plant.ledger.faults == 0:
        watch(plant, 1)
    mute = next(station for station in plant.stations if station.wear.fault)
    other = plant.stations[1 - mute.number]
    watch(plant, 5)
    assert mute.monitor.last == mute.wear.fault_at - 1
    assert mute.panel(plant.t) == Panel.DOWN
    assert other.monitor.last == plant.t - 1


def test_gaps_count_the_packets_that_never_came() -> None:
    """Half of the packets are lost in one way or another; what is missing between two that came is counted."""
    plant = line(chain([2]), without_noise(loss_good=0.5, latency=2.0), horizon=300)
    missing = 0.0
    for _ in range(300):
        before, gap = plant.stations[0].monitor.last, plant.stations[0].monitor.gap
        monitor = watch(plant, 1).monitor
        if monitor.last != before:
            assert monitor.gap == pytest.approx(0.9 * gap + monitor.last - before - 1, rel=1e-6)
            missing += monitor.last - before - 1
    assert missing > 10


def test_a_busy_switch_delays_what_is_sent_and_what_is_commanded() -> None:
    """A backlog of 64 messages is 8 ticks at 8 messages a tick."""
    plant = line(chain([2]))
    switch = plant.stations[0].link.switch
    switch.backlog = 64
    assert plant.stations[0].link.command_delay == 8
    watch(plant, 1)
    assert switch.backlog == 56
    assert plant.stations[0].monitor.last == P.NONE


def test_the_round_trip_time_is_not_sampled_during_a_burst() -> None:
    """Karn: a packet that was sent again tells nothing about the way."""
    plant = line(chain([2]), without_noise(rtt=20.0, to_bad=1.0, to_good=0.0))
    switch = plant.switches[0]
    watch(plant, 10)
    assert (switch.bad, switch.srtt, switch.rttvar) == (True, 20.0, 10.0)
    calm = line(chain([2]), without_noise(rtt=20.0))
    watch(calm, 10)
    assert calm.switches[0].rttvar == pytest.approx(10 * 0.75**10, rel=1e-6)


def test_a_long_scan_trips_the_watchdog_for_five_ticks() -> None:
    """A spike of 1.5 on top of 1 is beyond 2: down for 5 ticks, and no new trip within 15."""
    plant = line(chain([2]), without_noise(spike=1.5, spike_p=1.0), horizon=400)
    station = plant.stations[0]
    while station.controller.trip == 0:
        watch(plant, 1)
    panels = [station.panel(plant.t)]
    while station.controller.trip > 0:
        watch(plant, 1)
        panels.append(station.panel(plant.t))
    assert panels[:5] == [Panel.DOWN] * 5
    assert Panel.DOWN not in panels[5:]
    assert len(panels) == P.TRIP_TICKS + 1


def test_a_shorter_scan_does_not_hurry_the_machine() -> None:
    """A controller that scans in 0.92 of the nominal time waits for its machine as any other."""
    quick = chain([2])
    quick = replace(quick, stations=(replace(quick.stations[0], plc=0.92),))
    plant = line(quick)
    watch(plant, 20)
    assert plant.ledger.output == 9
    assert plant.stations[0].machine.cycle == 1.0


def test_an_alarm_that_nobody_answers_stops_the_station() -> None:
    """Later than ALARM_STOPS ticks after it rang; an order sets it going again."""
    plant = line(chain([2]), without_noise(loss_good=1.0), horizon=300)
    station = watch(plant, 7 + P.ALARM_AGE)
    assert station.monitor.alarm
    watch(plant, P.ALARM_STOPS - 1)
    assert station.panel(plant.t) == Panel.RUNNING
    watch(plant, 1)
    assert station.panel(plant.t) == Panel.DOWN
    watch(plant, 5)
    assert station.machine.still == 5
    plant.step([(P.Verb.DIAGNOSE, 0, 0)])
    assert not plant.ledger.invalid
    assert (station.panel(plant.t), station.machine.still) == (Panel.RUNNING, 0)


def test_a_longer_scan_slows_and_heats() -> None:
    """Twice the period, and effort in proportion to the scan."""
    busy = line(chain([2]), without_noise(periodic=0.5), horizon=200)
    calm = line(chain([2]), horizon=200)
    watch(busy, 24)  # the first half of the period of 48 ticks
    watch(calm, 24)
    assert busy.stations[0].body.temperature > calm.stations[0].body.temperature + 2
    assert busy.ledger.output < calm.ledger.output


def test_only_an_overheated_station_stops_when_it_is_hot() -> None:
    """Beyond 95 °C; the interlock belongs to the fault, a sound station on a hot day goes on."""
    for fault, temperature, down in (
        (Fault.OVERHEAT, 95.0, False),
        (Fault.OVERHEAT, 95.1, True),
        (Fault.LEAK, 99.0, False),
    ):
        station = faulty(fault).stations[0]
        station.body.temperature = temperature
        assert station.is_down(0) is down


@pytest.mark.parametrize(
    ("fault", "quantity", "moves"),
    [
        (Fault.BEARING, Quantity.VIBRATION, 1.0),
        (Fault.TOOL_WEAR, Quantity.CURRENT, 0.1),
        (Fault.JAM, Quantity.CURRENT, 0.2),
        (Fault.OVERHEAT, Quantity.TEMPERATURE, 10.0),
    ],
)
def test_each_fault_shows_in_its_own_quantity(fault: Fault, quantity: Quantity, moves: float) -> None:
    """Above what the same line without it has."""
    broken, sound = faulty(fault), line(chain([2]), horizon=SHIFT)
    watch(broken, 20)
    watch(sound, broken.t)
    assert broken.stations[0].body.value(quantity) - sound.stations[0].body.value(quantity) > moves


def test_a_leak_shows_in_the_pressure() -> None:
    plant = faulty(Fault.LEAK, quantities=(Quantity.PRESSURE, Quantity.TEMPERATURE, Quantity.CURRENT))
    before = plant.stations[0].body.aux
    assert watch(plant, 20).body.aux < before - 0.5


def test_speed_is_measured_in_percent_of_nominal() -> None:
    plant = line(chain([2], quantities=(Quantity.SPEED, Quantity.VIBRATION, Quantity.CURRENT)), horizon=50)
    assert watch(plant, 30).body.aux == pytest.approx(100, rel=1e-5)
    plant.step([(P.Verb.THROTTLE, 0, 1)])
    assert watch(plant, 15).body.aux == pytest.approx(100 * P.THROTTLED_SPEED, rel=1e-4)
