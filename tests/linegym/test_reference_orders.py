"""Faults, and what an agent does about them: work orders, inspections, spare parts, worked out on paper.

The line has one station and a part every 2 ticks. In a shift this short the certain fault has no choice: 0.6 × 50 - 30
= 0 ticks of freedom, so it comes after the exposure of 30 ordinary ticks, 420; at full effort 16 a tick: in tick 26.
Numbers in these explanations are those of the constants when they were written; the tests take them by name.
"""

from __future__ import annotations

from typing import Any

import pytest
from toy_lines import NOOP, chain, line

from linegym import plant as P
from linegym.plant import Crew, Fault, Order, Verb
from linegym.reference import ReferenceLine

SHIFT = int(P.FIRST_ONSET / P.CERTAIN_SHARE)
ONSET = P.EXPOSURE_TICK * P.FIRST_ONSET
"""Exposure at which the certain fault of such a shift appears."""
FULL = P.EXPOSURE_REST + int(P.EXPOSURE_EFFORT)
"""Exposure a tick at full effort."""
APPEARS = -(-ONSET // FULL) - 1
"""Tick in which it is reached."""
LOOK = P.INSPECTION_TICKS
BEARING, OVERHEAT = Fault.BEARING - 1, Fault.OVERHEAT - 1
"""Claims."""


def broken(fault: Fault = Fault.BEARING, horizon: int = SHIFT, **rest: Any) -> ReferenceLine:
    """Return the line just after its fault has appeared."""
    plant = line(chain([2], fault=0.0, dominant=fault, **rest), horizon=horizon)
    wait(plant, horizon, until=fault)
    return plant


def wait(plant: ReferenceLine, ticks: int, until: Fault | None = None) -> None:
    for _ in range(ticks):
        plant.step([NOOP])
        if until is not None and plant.stations[0].wear.fault == until:
            break


def do(plant: ReferenceLine, verb: Verb, argument: int, station: int = 0) -> float:
    """Give one command, which must be possible."""
    reward = plant.step([(verb, station, argument)])
    assert not plant.ledger.invalid
    return reward


def refused(plant: ReferenceLine, verb: int, station: int, argument: int) -> bool:
    """Say whether a command is refused."""
    plant.step([(verb, station, argument)])
    return plant.ledger.invalid


def inspected() -> ReferenceLine:
    """Return the broken line after an inspection, which allows a claim without an alarm."""
    plant = broken()
    do(plant, Verb.INSPECT, 0)
    wait(plant, LOOK)
    return plant


def mended(plant: ReferenceLine, claim: int) -> None:
    """Inspect, claim, send technician 0, and wait until he has done."""
    do(plant, Verb.INSPECT, 0)
    wait(plant, LOOK)
    do(plant, Verb.DIAGNOSE, claim)
    do(plant, Verb.DISPATCH, 0)
    while plant.stations[0].order.state != Order.DONE:
        plant.step([NOOP])


def test_the_certain_fault_comes_when_its_exposure_is_reached() -> None:
    plant = line(chain([2], fault=0.0), horizon=SHIFT)
    wait(plant, APPEARS)
    assert plant.stations[0].wear.fault == Fault.NONE
    plant.step([NOOP])
    wear = plant.stations[0].wear
    assert (wear.exposure, wear.onset, wear.fault, wear.fault_at) == (
        (APPEARS + 1) * FULL,
        ONSET,
        Fault.BEARING,
        APPEARS,
    )
    assert (plant.ledger.faults, plant.ledger.faults_due) == (1, 1)


def test_a_slower_line_breaks_later() -> None:
    """Throttled, 12 a tick: 420 is reached in tick 34."""
    plant = line(chain([2], fault=0.0), horizon=SHIFT)
    plant.step([(Verb.THROTTLE, 0, 1)])
    wait(plant, SHIFT, until=Fault.BEARING)
    slow = P.EXPOSURE_REST + int(P.EXPOSURE_EFFORT * P.THROTTLED_SPEED)
    assert plant.stations[0].wear.fault_at == -(-ONSET // slow) - 1


def test_a_fault_grows_towards_severity_one() -> None:
    plant = broken()
    severity = P.FAULT_ONSET[Fault.BEARING]
    for _ in range(10):
        assert plant.stations[0].wear.severity == pytest.approx(severity, rel=1e-6)
        plant.step([NOOP])
        severity += P.SEVERITY_RATE * (1 - severity)


def test_a_fault_becomes_a_closed_work_order() -> None:
    """Inspected in 27 (he is there at once, and measures for 3 ticks), claimed in 31, sent in 32, mended in 40,
    closed in 41."""
    plant = broken()
    repair = P.REPAIR_TICKS[BEARING]
    total = do(plant, Verb.INSPECT, 1)
    technician, order = plant.crew[0], plant.stations[0].order
    assert technician.state == Crew.INSPECT
    total += sum(plant.step([NOOP]) for _ in range(LOOK))
    assert technician.is_idle
    assert plant.stations[0].inspection.at == APPEARS + 1 + LOOK
    assert plant.stations[0].inspection.clean[1] > 0
    total += do(plant, Verb.DIAGNOSE, BEARING)
    total += do(plant, Verb.DISPATCH, 0)
    assert (order.state, technician.state, plant.store.shelves[BEARING].stock) == (Order.REPAIR, Crew.REPAIR, 0)
    total += sum(plant.step([NOOP]) for _ in range(repair))
    assert (order.state, plant.stations[0].wear.fault) == (Order.DONE, Fault.NONE)
    total += do(plant, Verb.CLOSE, 0)
    facts = plant.facts()
    told = ("closed_station", "closed_right", "identify", "assess", "dispatch", "execute")
    assert [facts[name] for name in told] == [0, 1, LOOK + 2, 1, 0, repair + 1]
    assert (facts["closed"], facts["closed_due"], facts["wrong"], facts["late"]) == (1, 1, 0, 0)
    total += sum(plant.step([NOOP]) for _ in range(SHIFT - plant.t))
    assert plant.ledger.success
    assert plant.facts()["closed_station"] == -1
    before = APPEARS // 2  # parts out in ticks 2, 4, … 26, before the first command
    output = P.REWARD_OUTPUT * (plant.ledger.output - before) / (0.5 * SHIFT)
    faulty = (LOOK + 2 + repair) * P.REWARD_FAULT  # ticks 27 to 39
    assert total == pytest.approx(output - faulty - P.REWARD_INSPECT - 2 * P.REWARD_TRAVEL)


def test_a_repair_holds_the_station_for_as_long_as_it_takes() -> None:
    """Arrived in 32, at work from 33 to 40: eight ticks, and not one part."""
    plant = broken()
    mended(plant, BEARING)
    assert plant.stations[0].machine.still == P.REPAIR_TICKS[BEARING]


def test_a_wrong_claim_mends_nothing_and_costs() -> None:
    plant = broken()
    mended(plant, OVERHEAT)
    assert plant.stations[0].wear.fault == Fault.BEARING
    do(plant, Verb.CLOSE, 0)
    facts = plant.facts()
    assert (facts["wrong"], facts["closed"], facts["closed_right"], facts["identify"]) == (1, 0, 0, 0)
    assert plant.stations[0].order.state == Order.NONE


def test_a_repair_that_mended_nothing_is_taken_up_again() -> None:
    """With another claim, without closing: the order keeps the time when it was opened, and that costs nothing."""
    plant = broken(horizon=600)
    mended(plant, OVERHEAT)
    opened = plant.stations[0].order.opened
    do(plant, Verb.DIAGNOSE, BEARING)
    do(plant, Verb.DISPATCH, 0)
    while plant.stations[0].order.state != Order.DONE:
        plant.step([NOOP])
    assert plant.stations[0].wear.fault == Fault.NONE
    do(plant, Verb.CLOSE, 0)
    assert (plant.ledger.wrong, plant.ledger.closed, plant.stations[0].order.opened) == (0, 1, opened)


def test_a_repair_that_mended_something_is_better_closed() -> None:
    """Who takes it up again forgets the success: what is closed after another claim was wrong."""
    plant = broken(horizon=600)
    mended(plant, BEARING)
    assert plant.stations[0].order.fixed
    do(plant, Verb.DIAGNOSE, OVERHEAT)
    do(plant, Verb.DISPATCH, 0)
    while plant.stations[0].order.state != Order.DONE:
        plant.step([NOOP])
    do(plant, Verb.CLOSE, 0)
    assert (plant.ledger.wrong, plant.ledger.closed) == (1, 0)


def test_the_skill_of_a_technician_counts() -> None:
    """Numbers 1 and 2 need 2 and 4 ticks more than 0 for the same repair; 3 is as quick as 0."""
    for number, more in ((0, 0), (1, P.SKILL_TICKS), (2, 2 * P.SKILL_TICKS), (3, 0)):
        plant = inspected()
        do(plant, Verb.DIAGNOSE, BEARING)
        do(plant, Verb.DISPATCH, number)
        assert plant.crew[number].timer == P.REPAIR_TICKS[BEARING] + more


def test_dismissing_a_real_fault_costs_and_mutes() -> None:
    plant, twin = inspected(), inspected()
    at = plant.t
    reward = do(plant, Verb.DIAGNOSE, P.CLAIM_DISTURBANCE)
    assert reward == pytest.approx(twin.step([NOOP]) - P.REWARD_FALSE)
    assert plant.ledger.wrong == 1
    assert plant.stations[0].monitor.muted == at + P.MUTE_TICKS


def test_dismissing_nothing_costs_nothing() -> None:
    """A false alarm, or an inspection that found nothing, may be put away."""
    plant = line(chain([2]))
    do(plant, Verb.INSPECT, 0)
    wait(plant, LOOK)
    do(plant, Verb.DIAGNOSE, P.CLAIM_NETWORK)
    assert plant.ledger.wrong == 0


def test_withdrawing_an_order_costs_nothing() -> None:
    """Nobody was sent yet: a claim may be taken back."""
    plant = inspected()
    do(plant, Verb.DIAGNOSE, OVERHEAT)
    do(plant, Verb.CLOSE, 0)
    assert (plant.ledger.wrong, plant.stations[0].order.state) == (0, Order.NONE)
    assert plant.facts()["closed_station"] == -1


def test_closing_too_late_costs() -> None:
    """150 ticks after the fault are in time, 151 are not."""
    for after, late in ((P.DEADLINE, 0), (P.DEADLINE + 1, 1)):
        plant = broken(horizon=600)
        appeared = plant.stations[0].wear.fault_at
        mended(plant, BEARING)
        wait(plant, appeared + after - plant.t)
        do(plant, Verb.CLOSE, 0)
        assert (plant.ledger.late, plant.ledger.closed_due) == (late, 1 - late)
        assert plant.ledger.closed == 1


def test_a_mended_station_gets_a_new_plan() -> None:
    """Here: that nothing more will come, since no further fault is planned at probability 0."""
    plant = broken()
    mended(plant, BEARING)
    wear = plant.stations[0].wear
    assert (wear.onset, wear.renewals, wear.mended_at) == (P.NEVER, 1, APPEARS)


def test_commands_that_are_not_possible_are_refused() -> None:
    """Numbers out of range, places that are not there, things that are not the case: the same small cost, no effect."""
    plant = broken(stock=(0,) * P.PARTS)
    for command in [
        (Verb.INSPECT, 0, 3),
        (Verb.INSPECT, 1, 0),
        (Verb.INSPECT, -1, 0),
        (Verb.INSPECT, 0, -1),
        (Verb.DIAGNOSE, 0, 0),  # no alarm, no inspection
        (Verb.ORDER, 0, 16),
        (Verb.DISPATCH, 0, 0),  # no order
        (Verb.CLOSE, 0, 0),
        (Verb.THROTTLE, 0, 0),  # it is not throttled
        (Verb.THROTTLE, 0, 2),
        (7, 0, 0),
        (-1, 0, 0),
    ]:
        assert refused(plant, *command), command
    do(plant, Verb.INSPECT, 0)
    wait(plant, LOOK)
    do(plant, Verb.DIAGNOSE, BEARING)
    assert refused(plant, Verb.DISPATCH, 0, 0), "no spare part"
    assert refused(plant, Verb.CLOSE, 0, 1)


def test_a_refused_command_costs_and_changes_nothing_else() -> None:
    """Two lines, one of which is asked for the impossible: all but the cost and the flag stays the same."""
    asked, left = broken(), broken()
    assert asked.step([(Verb.CLOSE, 0, 0)]) == pytest.approx(left.step([NOOP]) - P.REWARD_INVALID)
    assert asked.ledger.invalid
    asked.step([NOOP])
    left.step([NOOP])
    for one, other in zip(asked.state_rows(), left.state_rows(), strict=True):
        assert (one == other).all()


def test_an_ordered_part_comes_after_its_lead_time() -> None:
    plant = line(chain([2], leads=(7,) * P.PARTS))
    reward = do(plant, Verb.ORDER, BEARING * 2 + 1)
    assert reward == pytest.approx(-3 * P.REWARD_PART)
    shelf = plant.store.shelves[BEARING]
    assert refused(plant, Verb.ORDER, 0, BEARING * 2), "one is under way"
    wait(plant, 5)
    assert (shelf.stock, shelf.coming, shelf.comes) == (1, 3, 7)
    plant.step([NOOP])
    assert (shelf.stock, shelf.coming, shelf.comes) == (4, 0, P.NONE)


def test_the_nearest_idle_technician_inspects() -> None:
    """Six stations, one of the crew at each: who stands there goes, then his neighbours, the lower number first."""
    for calls, expected in enumerate(
        ({3}, {3, 2}, {3, 2, 4}, {3, 2, 4, 1}, {3, 2, 4, 1, 5}, {0, 1, 2, 3, 4, 5}), start=1
    ):
        plant = line(chain([1] * 6, [2] * 5))
        assert [technician.at for technician in plant.crew] == [0, 1, 2, 3, 4, 5]
        plant.step([(Verb.INSPECT, 3, 0)] * calls)
        assert {technician.number for technician in plant.crew if not technician.is_idle} == expected
        assert not plant.ledger.invalid
    assert refused(plant, Verb.INSPECT, 3, 0), "nobody is idle"


def test_somebody_on_the_way_takes_a_tick_for_each_cell() -> None:
    """From station 0 to station 4, and one tick to set out: there in the fifth tick, and paid for five."""
    plant = line(chain([1] * 5, [2] * 4), horizon=60)
    plant.crew = plant.crew[:1]
    do(plant, Verb.INSPECT, 0, station=4)
    ways = 1
    while plant.crew[0].is_on_the_way:
        plant.step([NOOP])
        ways += 1
    assert (ways, plant.crew[0].at) == (5, 4)


def test_three_roles_act_in_one_tick() -> None:
    """The commands of a step are carried out in order: an order can be opened and served at once."""
    plant = inspected()
    plant.step([(Verb.DIAGNOSE, 0, BEARING), (Verb.ORDER, 0, BEARING * 2), (Verb.DISPATCH, 0, 0)])
    assert not plant.ledger.invalid
    assert plant.stations[0].order.state == Order.REPAIR
