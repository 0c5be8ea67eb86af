"""The flow of parts against theory: what a line puts out without and with breakdowns.

Three witnesses that share no code with the kernel: a SimPy model, the exact Markov chain of two machines and one
buffer, and the closed formula that Gershwin gives for them. A minor stop is the breakdown here: it strikes with a
probability a part and ends with a probability a tick, which is what the literature calls operation-dependent
geometric failures and repairs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pytest
import simpy
from numpy.typing import NDArray

from linegym import layout
from linegym.batch import Batch
from linegym.blueprint import WHOLE_TICK, Plant, Station
from linegym.perturbations import LoadPerturbation, NetworkPerturbation, SensorPerturbation
from linegym.plant import CLAIM_DISTURBANCE, CLAIMS, FIRST_DIAGNOSE, SINK, SOURCE, STATIONS, Verb
from linegym.templates import CustomTemplate
from linegym.variants import Variant

OUTPUT = layout.FACTS.index("output")
SIGMAS = 3.5
"""Seeds are fixed, so this says how far from the truth a correct line may lie, not how often a test fails."""


@dataclass(frozen=True)
class Serial:
    """A chain of stations without faults."""

    cycles: tuple[int, ...]
    """Process times [1/1024 tick]."""
    capacity: int
    spread: float = 0.0
    minor: float = 0.0
    clear: float = 1.0

    def variant(self) -> Variant:
        """Return the line with nothing that disturbs it: the scan time is exactly 1."""
        last = len(self.cycles) - 1
        stations = tuple(
            Station(cycle, (s if s else SOURCE,), (s + 1 if s < last else SINK,), at=(s, 0))
            for s, cycle in enumerate(self.cycles)
        )
        plant = Plant(
            stations, (self.capacity,) * last, fault=-1.0, spread=self.spread, minor=self.minor, clear=self.clear
        )
        calm = SensorPerturbation(), NetworkPerturbation(), LoadPerturbation()
        return Variant(CustomTemplate("flow", plant), *calm)


def outputs(line: Serial, rows: int, ticks: int, warm_up: int = 0) -> NDArray[np.int32]:
    """Return what each of ``rows`` lines puts out in the ticks after the warm-up.

    Somebody dismisses the alarms, which long cycles and readings without noise raise: unanswered they would stop
    their stations, and the theory knows nothing of that.
    """
    batch = Batch([line.variant()] * rows, horizon=warm_up + ticks + 1, commands=3)
    batch.reset(np.arange(rows, dtype=np.uint64))
    before = np.zeros(rows, np.int32)
    for tick in range(warm_up + ticks):
        if tick == warm_up:
            before = batch.facts[:, OUTPUT].copy()
        batch.step(dismissals(batch.masks))
    return batch.facts[:, OUTPUT] - before


def dismissals(masks: NDArray[np.bool_]) -> NDArray[np.int32]:  # (rows, 3, 3)
    """Return commands that dismiss up to three alarms of each line."""
    first = FIRST_DIAGNOSE + CLAIM_DISTURBANCE
    latched = masks[:, first : first + STATIONS * CLAIMS : CLAIMS]
    stations = np.argsort(~latched, axis=1, kind="stable")[:, :3]
    verbs = np.where(np.take_along_axis(latched, stations, axis=1), Verb.DIAGNOSE, Verb.NOOP)
    return np.stack([verbs, stations, np.full_like(stations, CLAIM_DISTURBANCE)], axis=2).astype(np.int32)


def rate(counts: NDArray[np.integer] | list[int], ticks: int) -> tuple[float, float]:
    """Return mean output a tick and its standard error over the replications."""
    rates = np.asarray(counts) / ticks
    return float(rates.mean()), float(rates.std(ddof=1) / math.sqrt(len(rates)))


# --- without breakdowns ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ticks_a_part", [1, 3, 4])
@pytest.mark.parametrize("stations", [1, 2, 5, 24])
def test_an_even_line_puts_out_a_part_a_cycle_after_the_first_has_passed(stations: int, ticks_a_part: int) -> None:
    """Worked out by hand: loaded in tick 0, a part needs ``ticks_a_part`` at each station and moves on at once."""
    line = Serial((ticks_a_part * WHOLE_TICK,) * stations, capacity=1)
    for ticks in (ticks_a_part * stations, ticks_a_part * stations + 1, 200):
        expected = max(0, (ticks - 1 - ticks_a_part * stations) // ticks_a_part + 1)
        assert outputs(line, 1, ticks).tolist() == [expected]


@pytest.mark.parametrize("slowest", [0, 2, 4])
def test_the_slowest_station_sets_the_pace_wherever_it_stands(slowest: int) -> None:
    cycles = [2 * WHOLE_TICK] * 5
    cycles[slowest] = 5 * WHOLE_TICK
    assert outputs(Serial(tuple(cycles), capacity=2), 1, ticks=500, warm_up=100).tolist() == [100]


# --- against SimPy -----------------------------------------------------------------------------------------------


def simulated(line: Serial, seed: int, ticks: int, warm_up: int) -> int:
    """Return what a SimPy model of the line puts out in the ticks after the warm-up.

    The plant's rules, told as processes: station ``s`` acts ``s / 1024`` after the tick, so that upstream comes first;
    who is blocked or starved looks again at the next tick.
    """
    world, draws = simpy.Environment(), random.Random(seed)
    levels = [0] * (len(line.cycles) - 1)
    out = [0]

    def station(s: int) -> Generator[simpy.Event, None, None]:
        yield world.timeout(s / 1024)
        while True:
            while s and levels[s - 1] == 0:
                yield world.timeout(1)
            if s:
                levels[s - 1] -= 1
            time = int(line.cycles[s] * (1 + line.spread * (2 * draws.random() - 1)))
            if draws.random() < line.minor:
                stop = 1
                while draws.random() >= line.clear:
                    stop += 1
                yield world.timeout(stop)
            yield world.timeout(math.ceil(time / WHOLE_TICK))
            if s == len(levels):
                out[0] += 1
                continue
            while levels[s] == line.capacity:
                yield world.timeout(1)
            levels[s] += 1

    for s in range(len(line.cycles)):
        world.process(station(s))
    world.run(until=warm_up)
    before = out[0]
    world.run(until=warm_up + ticks)
    return out[0] - before


UNEVEN = tuple(int(WHOLE_TICK * ticks) for ticks in (3.6, 4.0, 3.8, 4.1, 3.5, 3.9, 4.0, 3.7))
SERIAL_LINES = {
    "reliable": Serial(UNEVEN, capacity=2, spread=0.3),
    "rare long stops": Serial(UNEVEN, capacity=3, spread=0.1, minor=0.02, clear=0.1),
    "frequent short stops": Serial(UNEVEN, capacity=1, spread=0.1, minor=0.2, clear=0.4),
}
TICKS, WARM_UP = 3000, 500


@cache
def witness(name: str) -> tuple[float, float]:
    """Return SimPy's output a tick and its standard error."""
    return rate([simulated(SERIAL_LINES[name], seed, TICKS, WARM_UP) for seed in range(32)], TICKS)


@pytest.mark.parametrize("name", SERIAL_LINES)
def test_puts_out_what_a_simpy_model_of_the_line_does(name: str) -> None:
    mean, error = rate(outputs(SERIAL_LINES[name], 64, TICKS, WARM_UP), TICKS)
    expected, own_error = witness(name)
    total = math.hypot(error, own_error)
    assert total < 0.01 * expected, "too few replications to tell anything"
    assert abs(mean - expected) < SIGMAS * total


def test_the_comparison_with_simpy_notices_one_place_more_in_each_buffer() -> None:
    """What the test above is worth: a line that differs in the smallest possible way is told apart."""
    line = SERIAL_LINES["frequent short stops"]
    wider = Serial(line.cycles, line.capacity + 1, line.spread, line.minor, line.clear)
    mean, error = rate(outputs(wider, 64, TICKS, WARM_UP), TICKS)
    expected, own_error = witness("frequent short stops")
    assert abs(mean - expected) > 2 * SIGMAS * math.hypot(error, own_error)


# --- two machines, one buffer ------------------------------------------------------------------------------------


def gershwin(p1: float, r1: float, p2: float, r2: float, size: int) -> float:
    """Return the production rate of the deterministic two-machine line with a buffer of ``size``.

    S. B. Gershwin, An Efficient Decomposition Method for the Approximate Evaluation of Tandem Queues with Finite
    Storage Space and Blocking, Operations Research 35 (2), 1987, appendix; Manufacturing Systems Engineering, 1994,
    section 3.2: ``p(n, a1, a2) = X**n Y1**a1 Y2**a2`` inside, and the boundary states below. ``size`` counts the
    places at the machines too.
    """
    both = r1 + r2 - r1 * r2
    neither = p1 + p2 - p1 * p2
    y1, y2 = (both - r1 * p2) / (neither - p1 * r2), (both - p1 * r2) / (neither - r1 * p2)
    x = y2 / y1
    weight: dict[tuple[int, int, int], float] = {
        (0, 0, 1): x * (both - r1 * p2) / (r1 * p2),
        (1, 0, 0): x,
        (1, 0, 1): x * y2,
        (1, 1, 1): x / p2 * (both - r1 * p2) / (neither - r1 * p2),
        (size - 1, 0, 0): x ** (size - 1),
        (size - 1, 1, 0): x ** (size - 1) * y1,
        (size - 1, 1, 1): x ** (size - 1) / p1 * (both - p1 * r2) / (neither - p1 * r2),
        (size, 1, 0): x ** (size - 1) * (both - p1 * r2) / (p1 * r2),
    }
    for n, a1, a2 in product(range(2, size - 1), (0, 1), (0, 1)):
        weight[n, a1, a2] = x**n * y1**a1 * y2**a2
    whole = sum(weight.values())
    return sum(w for (n, _, a2), w in weight.items() if n > 0 and a2) / whole


State = tuple[int, int, int]
Chain = dict[State, list[tuple[float, State, int]]]
"""From each state: probability, next state, parts put out."""


def steady_rate(chain: Chain) -> float:
    """Return the parts put out a step in the long run."""
    number = {state: place for place, state in enumerate(chain)}
    matrix, out = np.zeros((len(chain), len(chain))), np.zeros(len(chain))
    for state, ways in chain.items():
        for probability, following, parts in ways:
            matrix[number[state], number[following]] += probability
            out[number[state]] += probability * parts
    system = matrix.T - np.eye(len(chain))
    system[-1] = 1.0
    share = np.linalg.solve(system, np.eye(len(chain))[-1])
    return float(share @ out)


def reachable(start: State, ways: Callable[[State], Iterator[tuple[float, State, int]]]) -> Chain:
    """Return the chain of the states that can be reached."""
    chain: Chain = {}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        if state not in chain:
            chain[state] = [way for way in ways(state) if way[0] > 0]
            waiting += [following for _, following, _ in chain[state]]
    return chain


def book_chain(p1: float, r1: float, p2: float, r2: float, size: int) -> Chain:
    """Return the chain whose solution the formula is: first the machines change, then the buffer.

    State: parts in the buffer, machine 1 up, machine 2 up. A machine fails only when it can work: with room for the
    first, with a part for the second.
    """

    def ways(state: State) -> Iterator[tuple[float, State, int]]:
        n, a1, a2 = state
        for b1, b2 in product((0, 1), (0, 1)):
            up1 = (1 - p1 if n < size else 1.0) if a1 else r1
            up2 = (1 - p2 if n > 0 else 1.0) if a2 else r2
            probability = (up1 if b1 else 1 - up1) * (up2 if b2 else 1 - up2)
            into, out = int(b1 and n < size), int(b2 and n > 0)
            yield probability, (n + into - out, b1, b2), out

    return reachable((1, 1, 1), ways)


WAITS, WORKS, STOPPED = 0, 1, 2


@dataclass(frozen=True)
class TwoMachines:
    """The plant's own rules for two stations of a tick a part, the first before the second.

    State: first machine (waits with a finished part, works, stopped), parts between, second machine (waits for a part,
    works, stopped). Whether a machine stops is decided when it loads.
    """

    p: float
    r: float
    capacity: int

    def rate(self) -> float:
        return steady_rate(reachable((WORKS, 0, WAITS), self.ways))

    def ways(self, state: State) -> Iterator[tuple[float, State, int]]:
        for chance1, machine1, between in self.first(state[0], state[1]):
            for chance2, machine2, left, out in self.second(state[2], between):
                yield chance1 * chance2, (machine1, left, machine2), out

    def first(self, state: int, parts: int) -> Iterator[tuple[float, int, int]]:
        if state == STOPPED:
            yield self.r, WORKS, parts
            yield 1 - self.r, STOPPED, parts
        elif parts == self.capacity:
            yield 1.0, WAITS, parts
        else:
            yield self.p, STOPPED, parts + 1
            yield 1 - self.p, WORKS, parts + 1

    def second(self, state: int, parts: int) -> Iterator[tuple[float, int, int, int]]:
        out = int(state == WORKS)
        if state == STOPPED:
            yield self.r, WORKS, parts, 0
            yield 1 - self.r, STOPPED, parts, 0
        elif parts == 0:
            yield 1.0, WAITS, 0, out
        else:
            yield self.p, STOPPED, parts - 1, out
            yield 1 - self.p, WORKS, parts - 1, out


FAILING = [(0.01, 0.1), (0.1, 0.3), (0.05, 0.05), (0.3, 0.5)]
CAPACITIES = [1, 4, 10]


@pytest.mark.parametrize("machines", [(0.01, 0.1, 0.01, 0.1), (0.05, 0.2, 0.1, 0.3), (0.3, 0.5, 0.1, 0.9)])
@pytest.mark.parametrize("size", [4, 5, 12])
def test_the_formula_is_the_solution_of_its_chain(machines: tuple[float, float, float, float], size: int) -> None:
    """So that a misprint in a formula taken from a paper cannot stand as a witness."""
    assert gershwin(*machines, size) == pytest.approx(steady_rate(book_chain(*machines, size)), abs=1e-12)


@pytest.mark.parametrize(("p", "r"), FAILING)
@pytest.mark.parametrize("capacity", CAPACITIES)
def test_two_machines_put_out_what_their_chain_does(p: float, r: float, capacity: int) -> None:
    expected = TwoMachines(p, r, capacity).rate()
    ticks = 4000
    line = Serial((WHOLE_TICK, WHOLE_TICK), capacity, minor=p, clear=r)
    mean, error = rate(outputs(line, 48, ticks, warm_up=300), ticks)
    assert error < 0.005
    assert abs(mean - expected) < SIGMAS * error


@pytest.mark.parametrize(("p", "r"), FAILING)
@pytest.mark.parametrize("capacity", [2, *CAPACITIES[1:]])
def test_the_formula_brackets_the_chain(p: float, r: float, capacity: int) -> None:
    """In the formula a machine without room does not fail. The plant's first machine may: it decides to stop when it
    loads, and holds its finished part until there is room. So it lies between the formula's lines with one place and
    with two places more than its buffer."""
    found = TwoMachines(p, r, capacity).rate()
    narrower, wider = (gershwin(p, r, p, r, capacity + more) for more in (1, 2))
    assert narrower <= found <= wider
    assert wider - narrower < 0.03


@pytest.mark.parametrize(("p", "r"), FAILING)
def test_a_large_buffer_leaves_each_machine_its_own_efficiency(p: float, r: float) -> None:
    """Buzacott's limit: with endless room between them, machines put out what the worse does alone."""
    alone = r / (r + p)
    assert 0.97 * alone < TwoMachines(p, r, 400).rate() < alone
