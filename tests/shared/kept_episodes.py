"""Episodes that their number determines, and a writer of them that can be killed.

``python kept_episodes.py FOLDER`` writes for ever; ``python kept_episodes.py FOLDER told`` does what it is told.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from rolf_adapters.buffer import Edge, Episode, Graph, TrajectoryBuffer

ENV = "linegym:LineEnv-v1"
SMALL = 16 << 10
"""A segment of a few episodes."""
FEW = {"segment_size": SMALL, "capacity": 3 * SMALL}
"""A few such segments."""


def episode(number: int, env_id: str = ENV) -> Episode:
    """Return the episode of a number: 2 to 9 steps of 33 numbers, texts of many lengths, a few edges."""
    draw = np.random.Generator(np.random.Philox(number))
    steps = int(draw.integers(2, 10))
    edges = [Edge(cause, steps - 1, "close") for cause in range(0, steps - 1, 2)]
    edges += [Edge(step, step + 1, "claim") for step in range(0, steps - 1, 3)]
    return Episode(
        env_id,
        number,
        {"seen": draw.normal(size=(steps + 1, 33)).astype(np.float32)},
        {"tokens": [draw.integers(0, 99, int(draw.integers(0, 7))) for _ in range(steps)]},
        np.round(draw.normal(size=steps), 3),
        bool(number % 2),
        Graph.of(edges),
        {"said": [f"step {step} of episode {number}, größer" for step in range(steps)]},
    )


def same(one: Episode, other: Episode) -> bool:
    """Return whether two episodes are equal, bit by bit."""
    return plain(one) == plain(other)


def plain(given: Episode) -> Any:
    """Return an episode as something that ``==`` compares."""
    groups = [
        {name: [_plain(row) for row in column] for name, column in columns.items()}
        for columns in (given.states, given.actions, given.extras)
    ]
    return (given.env_id, given.timestamp, groups, given.rewards.tolist(), given.terminated, list(given.graph))


def _plain(row: Any) -> Any:
    return (row.dtype.str, row.tolist()) if isinstance(row, np.ndarray) else row


def write(buffer: TrajectoryBuffer, start: int, stop: int) -> None:
    """Add the episodes of some numbers, and commit them."""
    for number in range(start, stop):
        buffer.add(episode(number))
    buffer.commit()


def obey(folder: str) -> None:
    """Do what each line of the input says to a buffer of a few small segments, and say when it is done."""
    with TrajectoryBuffer(Path(folder), **FEW, states=0) as buffer:
        state = buffer.state()
        print("open", flush=True)
        for line in sys.stdin:
            what, *numbers = line.split()
            if what == "write":
                write(buffer, *map(int, numbers))
            elif what == "state":
                state = buffer.state()
            else:
                buffer.load(state)
            print(buffer.numbers.start, buffer.numbers.stop, flush=True)


def write_for_ever(folder: str) -> None:
    """Write episodes, seven a commit, drop the oldest, keep states; say after each commit how many are promised."""
    with TrajectoryBuffer(Path(folder), **FEW) as buffer:
        print(buffer.numbers.stop, flush=True)
        while True:
            write(buffer, buffer.numbers.stop, buffer.numbers.stop + 7)
            print(buffer.numbers.stop, flush=True)
            if buffer.numbers.stop % 3 == 0:
                buffer.state()


if __name__ == "__main__":
    (obey if sys.argv[2:] else write_for_ever)(sys.argv[1])
