"""Time LineEnv beside its peers and its twins in one run and print ratios.

    python benchmarks/line.py [--quick] [--json FILE] [--peers PYTHON]

Contestants take turns round by round, so that a busy machine slows all of them alike; each figure is a median of steps
per second of processor time on one thread. All play the same middle of a shift with the same legal commands. A peer
that is not installed is named as missing, never left out silently; ``--peers`` is an interpreter that has them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from time import thread_time
from typing import Any

import gymnasium
import numpy as np
from line_peers import PEERS, Contestant, Missing
from line_plain import NoCompiler, PlainC
from line_rows import Rows
from line_twin import NumpyTwin
from numpy.typing import NDArray

from linegym.actions import COMMANDS
from linegym.batch import Batch
from linegym.variants import Variant, split

Rate = Callable[[], float]
"""Takes a turn; returns its steps per second."""

MANY, SOME = 7000, 64
WARM_UP = 300
"""Ticks before the measurement, half a shift: faults have appeared, orders are under way."""
TRACE = 64
"""Steps whose commands are laid down before the measurement; then everybody begins again where they begin."""
TURN = 0.06
"""Length of a turn, about [s]."""


@dataclass
class Row:
    """One comparison."""

    what: str
    ours: float
    theirs: str
    reference: float
    bar: float | None = None
    """Lowest ratio that is good enough; None: shown for information."""
    least: bool = True
    """Whether the bar is the lowest ratio; else the highest."""

    @property
    def ratio(self) -> float:
        return self.ours / self.reference

    @property
    def missed(self) -> bool:
        return self.bar is not None and (self.ratio < self.bar if self.least else self.ratio > self.bar)


class Turns:
    """A contestant that goes through the laid down commands, turn by turn, again and again from the same state."""

    def __init__(
        self,
        load: Callable[[], object],
        step: Callable[[Any], object],
        commands: list[Any],
        n: int,
        digest: Callable[[], str] | None = None,
    ) -> None:
        self._load, self._step, self._commands, self._n = load, step, commands, n
        self.digest = digest
        self._at = TRACE

    def steps(self, count: int) -> float:
        """Take up to ``count`` steps, as far as the commands go; return their processor time [s]."""
        if self._at == TRACE:
            self._load()
            self._at = 0
        commands = self._commands[self._at : self._at + count]
        began = thread_time()
        for command in commands:
            self._step(command)
        self._at += len(commands)
        return thread_time() - began

    def __call__(self) -> float:
        """Take a turn; return its steps per second."""
        before, seconds, taken = self._at % TRACE, 0.0, 0
        while seconds < TURN:
            seconds += self.steps(1 if self._n > SOME else TRACE)
            taken += (self._at - before) * self._n
            before = self._at % TRACE
        return taken / seconds


class Shift:
    """The middle of a shift of some lines: the state, and the commands of the next steps."""

    def __init__(self, variants: tuple[Variant, ...]) -> None:
        self.n, self.variants = len(variants), variants
        self.rows = Rows.of(variants)
        self._generator = np.random.default_rng(0)
        envs = self._made()
        _, infos = envs.reset(seed=0)
        for _ in range(WARM_UP):
            infos = envs.step(self._legal(infos))[-1]
        self._saved = [envs.unwrapped.save(row) for row in range(self.n)]  # type: ignore[attr-defined]
        self.flat = []
        for _ in range(TRACE):
            self.flat.append(self._legal(infos))
            infos = envs.step(self.flat[-1])[-1]
        self.commands = [COMMANDS[actions][:, None].astype(np.int32) for actions in self.flat]

    def _made(self) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
        return gymnasium.make_vec("linegym:LineEnv-v1", num_envs=self.n, variants=self.variants)

    def _legal(self, infos: dict[str, Any]) -> NDArray[np.int64]:
        """Return a legal action of each line, drawn evenly."""
        mask = infos["action_mask"]
        drawn: NDArray[np.int64] = (mask * self._generator.random(mask.shape, np.float32)).argmax(axis=1)
        return drawn

    def face(self) -> Turns:
        envs = self._made()

        def load() -> None:
            for row, saved in enumerate(self._saved):
                envs.unwrapped.restore(row, saved)  # type: ignore[attr-defined]

        return Turns(load, envs.step, self.flat, self.n)

    def kernel(self) -> Turns:
        batch = Batch(self.variants)

        def load() -> None:
            for row, saved in enumerate(self._saved):
                batch.restore(row, saved.state)

        return Turns(load, batch.step, self.commands, self.n, batch.digest)

    def single(self, wrapped: bool) -> Turns:
        """The first line as one LineEnv, bare or as ``gymnasium.make`` wraps it."""
        env = gymnasium.make("linegym:LineEnv-v1", variant=self.variants[0])
        env.reset(seed=0)
        bare = env.unwrapped
        actions = [int(flat[0]) for flat in self.flat]
        return Turns(lambda: bare.restore(self._saved[0]), env.step if wrapped else bare.step, actions, 1)  # type: ignore[attr-defined]

    def state(self) -> tuple[NDArray[np.generic], ...]:
        """Return the state after the warm-up, as the twins load it."""
        return tuple(
            np.stack([np.frombuffer(getattr(saved.state, name), dtype) for saved in self._saved])
            for name, dtype in (("short", np.int16), ("whole", np.int32), ("real", np.float32))
        )

    def twin(self, kind: type[PlainC] | type[NumpyTwin]) -> Turns:
        twin = kind(self.rows)
        twin.reset(np.arange(self.n, dtype=np.uint64))
        state = self.state()
        return Turns(lambda: twin.load(*state), twin.step, self.commands, self.n, twin.digest)

    def bound(self) -> Turns:
        """Memory traffic alone: read and write the bytes that a step touches."""
        plain, state = PlainC(self.rows), self.state()
        return Turns(lambda: plain.load(*state), lambda _: plain.touch(), self.commands, self.n)

    def contestants(self) -> dict[str, Turns]:
        """Return the environment, its kernel and its twins."""
        made = {"LineEnv": self.face(), "kernel": self.kernel(), "NumPy": self.twin(NumpyTwin)}
        try:
            return {**made, "C": self.twin(PlainC), "memory": self.bound()}
        except NoCompiler as missing:
            print(f"plain C: not measured, {missing}", file=sys.stderr)
            return made


def agreement(shift: Shift) -> bool:
    """Return whether kernel and twins come to the same state, observations and rewards, bit for bit."""
    digests = set()
    for run in shift.contestants().values():
        if run.digest is not None:
            run.steps(TRACE)
            digests.add(run.digest())
    return len(digests) == 1


def peers_of(stack: ExitStack, python: str) -> dict[str, Rate]:
    found: dict[str, Rate] = {}
    for name in PEERS:
        try:
            peer = stack.enter_context(closing(Contestant(name, python)))
        except Missing as missing:
            print(f"{name}: not measured, {missing}", file=sys.stderr)
            continue
        steps = max(200, int(peer.rate(500) * TURN))
        found[name] = lambda peer=peer, steps=steps: peer.rate(steps)  # type: ignore[misc]
    return found


def measure(contestants: dict[str, Rate], rounds: int) -> dict[str, float]:
    """Return each contestant's median rate [steps/s]; one turn each a round."""
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, turn in contestants.items():
            rates[name].append(turn())
    return {name: statistics.median(found) for name, found in rates.items()}


def memory(variants: tuple[Variant, ...]) -> tuple[float, float]:
    """Return what one environment of many takes [kB]: the state that a line is, and all that its row costs.

    The latter is everything that ``make_vec`` and a reset allocate and keep: state, parameters, observations, masks,
    facts, the copies handed out, spaces with their bounds.
    """
    gymnasium.make_vec("linegym:LineEnv-v1", num_envs=1, variants=variants[:1]).reset(seed=0)
    for variant in variants:
        variant.row()  # plants and parameters are built once a process, whoever needs them
    tracemalloc.start()
    envs = gymnasium.make_vec("linegym:LineEnv-v1", num_envs=len(variants), variants=variants)
    kept = envs.reset(seed=0)
    allocated, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept[0]) == len(variants)
    state = envs.unwrapped.save(0).state  # type: ignore[attr-defined]
    own = len(state.short) + len(state.whole) + len(state.real) + variants[0].row().nbytes
    return own / 1000, allocated / len(variants) / 1000


START = """
import os
import gymnasium
env = gymnasium.make("linegym:LineEnv-v1")
env.reset(seed=0)
env.step(0)
print(sum(os.times()[:2]))
"""


def start(times: int) -> float:
    """Return the processor time of a fresh interpreter that imports, makes, resets and steps [s]; the cache is warm."""
    found = [
        float(subprocess.run([sys.executable, "-c", START], check=True, capture_output=True, text=True).stdout)
        for _ in range(times + 1)
    ]
    return statistics.median(found[1:])


def rows_of(rates: dict[str, float]) -> list[Row]:
    """Return the comparisons that the rates allow."""
    rows = []
    for n in (MANY, SOME, 1):
        kernel = rates[f"kernel, {n}"]
        for name, bar in (("C", 0.75 if n == MANY else None), ("NumPy", None), ("memory", None)):
            theirs = f"{name}, {n}"
            if theirs in rates:
                rows.append(Row(f"kernel, {n}", kernel, theirs, rates[theirs], bar))
        rows.append(Row(f"LineEnv, {n}", rates[f"LineEnv, {n}"], f"kernel, {n}", kernel))
    many = rates[f"LineEnv, {MANY}"]
    if f"C, {MANY}" in rates:
        rows.append(Row(f"LineEnv, {MANY}", many, f"C, {MANY}", rates[f"C, {MANY}"], 0.75))
    # No bar: a peer's step is another model's. What bounds ours is what this plant costs in C, and that has a bar.
    rows += [Row(f"LineEnv, {MANY}", many, name, rates[name]) for name in PEERS if name in rates]
    rows.append(Row("one env.step", rates["env.step"], "bar", 80_000.0, 1.0))
    rows.append(Row("one env.step", rates["env.step"], "as gymnasium.make wraps it", rates["env.step, wrapped"]))
    return rows


def short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def report(rows: list[Row], agree: bool) -> bool:
    print(f"{'what':<24}{'ours':>13}  {'beside':<28}{'theirs':>13}{'ratio':>10}{'bar':>8}")
    for row in rows:
        bar = "" if row.bar is None else f"{row.bar:g}"
        figures = f"{short(row.ours):>13}  {row.theirs:<28}{short(row.reference):>13}{row.ratio:>10.3f}{bar:>8}"
        print(f"{row.what:<24}{figures}{'  MISSED' if row.missed else ''}")
    print(f"kernel, C and NumPy agree bit for bit: {'yes' if agree else 'NO'}")
    return agree and not any(row.missed for row in rows)


def compete(train: tuple[Variant, ...], rounds: int, python: str) -> tuple[dict[str, float], bool]:
    """Return the rates of all contestants, and whether the twins agree."""
    shifts = {n: Shift(train[:: len(train) // n][:n]) for n in (1, SOME, MANY)}
    rates: dict[str, float] = {}
    with ExitStack() as stack:
        contestants: dict[str, Rate] = {
            f"{name}, {n}": turns for n, shift in shifts.items() for name, turns in shift.contestants().items()
        }
        contestants["env.step"] = shifts[1].single(wrapped=False)
        contestants["env.step, wrapped"] = shifts[1].single(wrapped=True)
        contestants.update(peers_of(stack, python))
        rates = measure(contestants, rounds)
    return rates, agreement(shifts[SOME])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="interpreter that has the peers")
    options = parser.parse_args()
    train = split("train")
    rates, agree = compete(train, 5 if options.quick else 15, options.peers)
    rows = rows_of(rates)
    state, whole = memory(train[:MANY])
    rows.append(Row("memory, state [kB]", state, "bar", 10.0, 1.0, least=False))
    rows.append(Row("memory, whole row [kB]", whole, "state", state))
    rows.append(Row("import to step [s]", start(1 if options.quick else 5), "bar", 2.0, 1.0, least=False))
    if options.json:
        figures = {"rows": [{**asdict(row), "ratio": row.ratio} for row in rows], "steps_per_s": rates, "agree": agree}
        options.json.write_text(json.dumps(figures, indent=1))
    return 0 if report(rows, agree) else 1


if __name__ == "__main__":
    sys.exit(main())
