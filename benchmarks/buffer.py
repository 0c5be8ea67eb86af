"""Episodes written and drawn: the trajectory buffer beside LMDB, LevelDB (plyvel) and SQLite, in one run.

    python benchmarks/buffer.py [--episodes 10000] [--draws 20000] [--rounds 3] [--folder /tmp]

An episode is 50 steps of 256 bytes. The buffer keeps it with its actions, rewards, edges, key and priorities, and draws
by causal priority with importance weights; the others keep the same observations as bytes under a number, and read
random numbers. All of them have every 1,000 episodes on the disk before they go on, and every step that is read is
looked at. What the buffer hands over are episodes whose bytes agree with their CRC-32, looked at when they are first
read; their columns are views, made when asked for. As of the others, what was observed is asked for; in the row "all
columns" the actions, rewards and edges are too. Each round begins with another contender, as whoever comes first finds
memory that was never used. The figures are those of the median round, by the clock and per second of processor time.
A machine that others use shows it in the first and hardly in the second; the load is printed. A ratio is what the
buffer does in a second of processor time against what the other does. The exit status is 1 if the buffer misses a bar
by the clock.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import lmdb
import numpy as np
import plyvel
from numpy.typing import NDArray

from rolf_adapters.buffer import Causal, Edge, Episode, Graph, TrajectoryBuffer, Uniform
from rolf_adapters.buffer.graph import NO_EDGES

STEPS, SIZE, BATCH = 50, 256, 1_000
WRITTEN_BAR, DRAWN_BAR = 12_500, 100_000
"""Episodes a second that the buffer must write, and draw and read."""

_random = np.random.default_rng(0)
SEEN = [_random.integers(0, 256, (STEPS + 1, SIZE), np.uint8) for _ in range(64)]
REWARDS = [_random.normal(size=STEPS) for _ in range(64)]
ACTIONS = np.arange(STEPS)
GRAPH = Graph.of(Edge(step, step + 1 + step % 7, "claim") for step in range(0, STEPS - 8, 2))


class Store(NamedTuple):
    """One contender, open."""

    write: Callable[[int], None]
    """Write so many episodes, and have them on the disk."""
    read: Callable[[int], int]
    """Draw so many, look at every step, and return a sum of what was seen."""


Opened = Iterator[Store]


def looked_at(data: bytes | memoryview) -> int:
    return int(np.frombuffer(data, np.uint8).reshape(STEPS + 1, SIZE)[:, 0].sum())


def in_batches(count: int) -> Iterator[range]:
    for start in range(0, count, BATCH):
        yield range(start, min(start + BATCH, count))


def drawn(written: int, count: int) -> NDArray[np.int64]:
    return np.random.default_rng(1).integers(0, written, count)


@contextmanager
def rolf(
    folder: Path,
    backend: str = "lmdb",
    graph: Graph = GRAPH,
    how: Causal | Uniform = Causal(),  # noqa: B008
    whole: bool = False,
) -> Opened:
    with TrajectoryBuffer(folder, backend=backend, batch=BATCH) as buffer:

        def write(count: int) -> None:
            for number in range(count):
                at = number & 63
                episode = Episode("line", number, {"seen": SEEN[at]}, {"action": ACTIONS}, REWARDS[at], False, graph)
                buffer.add(episode)
            buffer.commit()

        def read(count: int) -> int:
            generator, total = np.random.default_rng(1), 0
            for part in in_batches(count):
                sample = buffer.sample_episodes(len(part), generator, how)
                for episode in buffer.episodes(sample.numbers):
                    total += int(np.asarray(episode.states["seen"])[:, 0].sum())
                    if whole:
                        total += len(episode.actions["action"]) + len(episode.rewards) + len(episode.graph)
            return total

        yield Store(write, read)


@contextmanager
def lmdb_alone(folder: Path) -> Opened:
    with lmdb.open(str(folder), map_size=1 << 36) as opened:
        written = 0

        def write(count: int) -> None:
            nonlocal written
            for part in in_batches(count):
                with opened.begin(write=True) as transaction:
                    for number in part:
                        transaction.put(b"%020d" % number, SEEN[number & 63].tobytes(), append=True)
            written = count

        def read(count: int) -> int:
            with opened.begin(buffers=True) as transaction:
                return sum(looked_at(transaction.get(b"%020d" % number)) for number in drawn(written, count).tolist())

        yield Store(write, read)


@contextmanager
def leveldb_alone(folder: Path) -> Opened:
    with closing(plyvel.DB(str(folder), create_if_missing=True, write_buffer_size=64 << 20)) as opened:
        written = 0

        def write(count: int) -> None:
            nonlocal written
            for part in in_batches(count):
                with opened.write_batch(sync=True) as batch:
                    for number in part:
                        batch.put(b"%020d" % number, SEEN[number & 63].tobytes())
            written = count

        def read(count: int) -> int:
            return sum(looked_at(opened.get(b"%020d" % number)) for number in drawn(written, count).tolist())

        yield Store(write, read)


@contextmanager
def sqlite(folder: Path) -> Opened:
    folder.mkdir()
    with closing(sqlite3.connect(folder / "episodes.sqlite", isolation_level=None)) as opened:
        for pragma in ("page_size=16384", "journal_mode=wal", "synchronous=full"):
            opened.execute(f"pragma {pragma}")
        opened.execute("create table episodes (number integer primary key, seen blob)")
        written = 0

        def write(count: int) -> None:
            nonlocal written
            for part in in_batches(count):
                opened.execute("begin")
                rows = ((number, SEEN[number & 63].tobytes()) for number in part)
                opened.executemany("insert into episodes values (?, ?)", rows)
                opened.execute("commit")
            written = count

        def read(count: int) -> int:
            one = "select seen from episodes where number = ?"
            return sum(looked_at(opened.execute(one, (n,)).fetchone()[0]) for n in drawn(written, count).tolist())

        yield Store(write, read)


CONTENDERS = {
    "buffer": rolf,
    "buffer, all columns": lambda folder: rolf(folder, whole=True),
    "buffer, LevelDB index": lambda folder: rolf(folder, "leveldb"),
    "buffer, no edges, uniform": lambda folder: rolf(folder, graph=NO_EDGES, how=Uniform()),
    "LMDB alone": lmdb_alone,
    "LevelDB alone (plyvel)": leveldb_alone,
    "SQLite, WAL": sqlite,
}
"""The first is what the others are compared with."""


class Rate(NamedTuple):
    """How much was done in a second."""

    clock: float
    processor: float


def rate(count: int, call: Callable[[int], object]) -> Rate:
    clock, processor = time.perf_counter(), time.process_time()
    call(count)
    return Rate(count / (time.perf_counter() - clock), count / (time.process_time() - processor))


def median(rates: list[Rate]) -> Rate:
    return Rate(*(statistics.median(each) for each in zip(*rates, strict=True)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="a folder on the disk that is to be measured")
    args = parser.parse_args()
    written: dict[str, list[Rate]] = {name: [] for name in CONTENDERS}
    read: dict[str, list[Rate]] = {name: [] for name in CONTENDERS}
    sizes: dict[str, int] = {}
    contenders = list(CONTENDERS.items())
    for number in range(args.rounds):
        first = number * len(contenders) // args.rounds
        for name, opened in contenders[first:] + contenders[:first]:
            work = Path(tempfile.mkdtemp(prefix="rolf-buffer-", dir=args.folder))
            try:
                with opened(work / "store") as store:
                    written[name].append(rate(args.episodes, store.write))
                    read[name].append(rate(args.draws, store.read))
                sizes[name] = sum(path.stat().st_blocks * 512 for path in work.rglob("*") if path.is_file())
            finally:
                shutil.rmtree(work)
    return report(
        {name: median(each) for name, each in written.items()},
        {name: median(each) for name, each in read.items()},
        sizes,
    )


def report(written: dict[str, Rate], read: dict[str, Rate], sizes: dict[str, int]) -> int:
    """Print the figures, and what the buffer does as a multiple of each; return the exit status."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; episodes a second, and of processor time")
    print(f"{'':<28}{'written':>9}{'CPU s':>9}{'ratio':>7}{'drawn':>10}{'CPU s':>9}{'ratio':>7}{'MB':>6}")
    first = next(iter(written))
    for name in written:
        w, r = written[name], read[name]
        ratios = written[first].processor / w.processor, read[first].processor / r.processor
        print(
            f"{name:<28}{w.clock:>9,.0f}{w.processor:>9,.0f}{ratios[0]:>7.2f}"
            f"{r.clock:>10,.0f}{r.processor:>9,.0f}{ratios[1]:>7.2f}{sizes[name] / 1e6:>6.0f}"
        )
    met = written[first].clock >= WRITTEN_BAR and read[first].clock >= DRAWN_BAR
    print(f"bars by the clock: {WRITTEN_BAR:,} written, {DRAWN_BAR:,} drawn: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
