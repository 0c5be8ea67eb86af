"""Parts through small lines, tick by tick as worked out on paper."""

from __future__ import annotations

import pytest
from toy_lines import NOOP, TICK, chain, line

from linegym import plant as P
from linegym.blueprint import Plant, Station
from linegym.plant import SINK, SOURCE, Panel
from linegym.reference import ReferenceLine

EMPTY, RUNNING, BLOCKED, DOWN, STOPPED = Panel.STARVED, Panel.RUNNING, Panel.BLOCKED, Panel.DOWN, Panel.MINOR_STOP


def course(plant: ReferenceLine, ticks: int, station: int) -> list[Panel]:
    """Return what a station's stack light shows after each tick."""
    lights = []
    for _ in range(ticks):
        plant.step([NOOP])
        lights.append(plant.stations[station].panel(plant.t))
    return lights


def outputs(plant: ReferenceLine, ticks: int) -> list[int]:
    """Return the ticks in which a part left the line."""
    left = []
    for t in range(ticks):
        before = plant.ledger.output
        plant.step([NOOP])
        left += [t] * (plant.ledger.output - before)
    return left


def test_a_part_passes_a_balanced_line_in_the_sum_of_its_process_times() -> None:
    """Loaded at 0, worked on for 2 ticks, taken on at once, worked on for 1: out at 3, and one every 2 ticks after."""
    assert outputs(line(chain([2, 1], [2])), 12) == [3, 5, 7, 9, 11]


def test_a_fast_machine_behind_a_slow_one_starves() -> None:
    """It runs one tick in four: the parts come at 4, 8, 12 and keep it for one tick each."""
    lights = course(line(chain([4, 1], [2])), 11, station=1)
    assert lights == [EMPTY] * 4 + [RUNNING] + [EMPTY] * 3 + [RUNNING] + [EMPTY] * 2


def test_a_fast_machine_before_a_slow_one_blocks_when_the_buffer_is_full() -> None:
    """Parts 1 to 3 leave at 1, 2, 3; part 4 waits at 4 and 5. Room is made at 5, behind it: it goes at 6."""
    plant = line(chain([1, 4], [2]))
    assert course(plant, 11, station=0) == [RUNNING] * 4 + [BLOCKED] * 2 + [RUNNING] + [BLOCKED] * 3 + [RUNNING]
    assert plant.floor[1].parts == 2


def test_a_minor_stop_costs_the_tick_in_which_it_clears() -> None:
    """Every part stops its machine; the next tick clears that and does no work: a part every 2 ticks, not 1."""
    plant = line(chain([1], minor=1.0, clear=1.0))
    assert outputs(plant, 9) == [2, 4, 6, 8]
    assert plant.stations[0].panel(plant.t) == STOPPED


def test_scrap_leaves_the_line_and_never_reaches_the_next_station() -> None:
    """Half of all parts: the machine loads the next one at once, and what it did not pass on lies in the bin."""
    plant = line(chain([1, 1], [2], scrap=0.5))
    left = outputs(plant, 40)
    first, second = (station.machine for station in plant.stations)
    assert plant.floor.source.taken == 40
    assert 0 < first.done < 39
    assert second.done == len(left)
    assert plant.floor.scrap == 40 - len(left) - plant.floor[1].parts - (first.work > 0) - (second.work > 0)


def test_an_assembly_waits_for_both_parts() -> None:
    """Its feeders need 1 and 3 ticks: it works at the pace of the slower, and the faster one blocks."""
    plant = line(
        Plant(
            stations=(
                Station(TICK, (SOURCE,), (1,)),
                Station(3 * TICK, (SOURCE,), (2,)),
                Station(TICK, (1, 2), (SINK,)),
            ),
            capacities=(1, 1),
            fault=-1.0,
        )
    )
    assert outputs(plant, 12) == [4, 7, 10]
    assert plant.stations[0].panel(plant.t) == BLOCKED


def test_an_inspection_sends_parts_to_its_second_output() -> None:
    """All of them here; they leave by a branch of their own, and the main path stays empty."""
    plant = line(
        Plant(
            stations=(
                Station(TICK, (SOURCE,), (1, 2)),
                Station(TICK, (1,), (SINK,)),
                Station(TICK, (2,), (SINK,)),
            ),
            capacities=(1, 1),
            split=1.0,
            fault=-1.0,
        )
    )
    assert outputs(plant, 6) == [2, 3, 4, 5]
    assert plant.stations[1].machine.done == 0


def rework(allowed: bool) -> ReferenceLine:
    """Return a line whose inspection sends everything back to a buffer of one part."""
    return line(
        Plant(
            stations=(Station(TICK, (SOURCE,), (1,)), Station(2 * TICK, (1,), (SINK, 1))),
            capacities=(1,),
            split=1.0 - 2.0**-40,  # a line that puts nothing out is refused
            rework=allowed,
            fault=-1.0,
        )
    )


def test_rework_that_finds_no_room_becomes_scrap() -> None:
    """Else the inspection would wait for room that only itself can make, for ever."""
    plant = rework(allowed=True)
    outputs(plant, 20)
    assert plant.floor.scrap == 9
    assert plant.stations[1].panel(plant.t) == RUNNING


def test_without_rework_a_full_second_output_blocks() -> None:
    """A branch that is full is no reason to throw parts away."""
    plant = rework(allowed=False)
    outputs(plant, 20)
    assert plant.floor.scrap == 0
    assert plant.stations[1].panel(plant.t) == BLOCKED


def test_throttling_costs_speed_and_saves_wear() -> None:
    """At half speed a part of 2 ticks would take 4; the effort that wears it is as much smaller."""
    plant = line(chain([2]))
    plant.step([(P.Verb.THROTTLE, 0, 1)])
    ticks = -(-2 * TICK // int(TICK * P.THROTTLED_SPEED))
    assert outputs(plant, 9) == list(range(ticks - 1, 9, ticks))
    assert plant.stations[0].wear.exposure == 10 * (P.EXPOSURE_REST + int(P.EXPOSURE_EFFORT * P.THROTTLED_SPEED))


def test_the_observation_shows_the_flow() -> None:
    """Fill of the buffers and the stack light, where an agent looks for them."""
    plant = line(chain([1, 4], [2]))
    for _ in range(5):
        plant.step([NOOP])
    seen = plant.observation()
    assert seen[[11, 12, 13]] == pytest.approx([1, 1, BLOCKED / 4])
    assert seen[[24 + 11, 24 + 12, 24 + 13]] == pytest.approx([1, 0, RUNNING / 4])
    assert seen[10] == pytest.approx(0.03)


def test_a_shift_that_is_over_takes_no_step() -> None:
    plant = line(chain([1]), horizon=2)
    plant.step([NOOP])
    plant.step([NOOP])
    assert plant.ledger.over
    assert plant.ledger.success
    with pytest.raises(RuntimeError, match="over after 2 ticks"):
        plant.step([NOOP])


def test_success_needs_the_output() -> None:
    """A shift of 10 ticks puts out 9 parts: enough for 9, too few for 10."""
    for target, success in ((9.0, True), (10.0, False)):
        plant = line(chain([1]), horizon=10, target=target)
        outputs(plant, 10)
        assert plant.ledger.success is success


def test_reset_goes_back_to_the_start() -> None:
    plant = line(chain([2, 1], [2]))
    first = [plant.step([NOOP]) for _ in range(9)]
    plant.reset()
    assert [plant.step([NOOP]) for _ in range(9)] == first
