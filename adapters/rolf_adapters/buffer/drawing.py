"""Drawing: episodes or steps from a table, a pure function of its rows and of what the generator says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.buffer import sampling
from rolf_adapters.buffer.sampling import Sample, Sampling, Uniform
from rolf_adapters.buffer.table import Table

Values = Callable[[int], NDArray[np.float32]]
"""The priorities of the steps of an episode, by its number."""


def draw_episodes(table: Table, count: int, generator: np.random.Generator, how: Sampling) -> Sample:
    """Draw episodes; see `TrajectoryBuffer.sample_episodes`."""
    uniform = _uniform(table, count, generator)
    size = table.count
    rows = _index(uniform[:, 1], size)
    if isinstance(how, Uniform):
        return _alike(rows + table.first, None, size)
    weights, total = table.tree.weights, table.tree.total
    if total > 0:
        causal = uniform[:, 0] >= how.share
        rows[causal] = table.tree.draw(uniform[causal, 1])[0]
    probabilities = sampling.mixed(weights[rows], total, size, how.share)
    least = sampling.mixed(np.array([table.least_episode]), total, size, how.share)
    return Sample(
        rows + table.first, None, probabilities, sampling.importance(probabilities, size, float(least[0]), how)
    )


def draw_steps(table: Table, count: int, generator: np.random.Generator, how: Sampling, values: Values) -> Sample:
    """Draw steps of all episodes; see `TrajectoryBuffer.sample_steps`."""
    uniform = _uniform(table, count, generator)
    size = int(table.ends[-1])
    flat = _index(uniform[:, 1], size)
    rows = np.searchsorted(table.ends, flat, side="right")
    steps = flat - (table.ends[rows] - table.rows["steps"][rows])
    if isinstance(how, Uniform):
        return _alike(rows + table.first, steps, size)
    total = table.tree.total
    rest = np.full(count, -1.0)
    if total > 0:
        causal = uniform[:, 0] >= how.share
        rows[causal], rest[causal] = table.tree.draw(uniform[causal, 1])
    weights = _chosen(table, rows, steps, rest, values)
    probabilities = sampling.mixed(weights, total, size, how.share)
    least = sampling.mixed(np.array([table.least_step]), total, size, how.share)
    return Sample(
        rows + table.first, steps, probabilities, sampling.importance(probabilities, size, float(least[0]), how)
    )


def top_steps(table: Table, count: int, values: Values) -> list[tuple[int, int]]:
    """Return the steps of the highest priority; see `TrajectoryBuffer.top_steps`."""
    # Each of them is in one of as many episodes, those that hold the highest single priorities.
    rows = np.argsort(-table.rows["most"], kind="stable")[:count]
    found: list[tuple[float, int, int]] = []
    for row in sorted(rows.tolist()):
        number = row + table.first
        found += [(-value, number, step) for step, value in enumerate(values(number).tolist()) if value > 0]
    return [(number, step) for _, number, step in sorted(found)[:count]]


def _uniform(table: Table, count: int, generator: np.random.Generator) -> NDArray[np.float64]:  # (count, 2)
    """Return two numbers from [0, 1) for each draw: how it is drawn, and what."""
    if count < 1:
        raise ValueError(f"count={count!r}; draw one at least")
    if not table.count:
        raise ValueError("the buffer is empty: nothing can be drawn before the first commit")
    return generator.random((count, 2))


def _index(uniform: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    return np.minimum((uniform * size).astype(np.int64), size - 1)


def _alike(numbers: NDArray[np.int64], steps: NDArray[np.int64] | None, size: int) -> Sample:
    return Sample(numbers, steps, np.full(len(numbers), 1 / size), np.ones(len(numbers)))


def _chosen(
    table: Table, rows: NDArray[np.int64], steps: NDArray[np.int64], rest: NDArray[np.float64], values: Values
) -> NDArray[np.float64]:
    """Return the weight of each step, having chosen it where ``rest`` says what is left of its episode's weight."""
    known: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    weights = np.zeros(len(rows))
    for at, row in enumerate(rows.tolist()):
        if row not in known:
            each = table.preference(values(row + table.first))
            known[row] = each, each.cumsum()
        each, ends = known[row]
        if rest[at] >= 0:
            # where a sum was rounded, what is left may reach the end: then the last step that has weight is meant
            steps[at] = min(np.searchsorted(ends, rest[at], "right"), np.searchsorted(ends, ends[-1], "left"))
        weights[at] = each[steps[at]]
    return weights
