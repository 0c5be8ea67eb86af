"""Traces: lines played by a fixed rule, and one digest an episode of everything that came of it.

    python tests/shared/line_traces.py ROWS STEPS      # print the digests of the standard lines, as JSON

An action depends on line, episode, tick and what is possible, and on nothing else, so that whoever plays the same line
(the kernel in any batch, the reference, an environment) can be held against the others.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linegym.actions import COMMANDS
from linegym.batch import Batch
from linegym.env import LineEnv
from linegym.plant import VERBS
from linegym.reference import ReferenceLine
from linegym.variants import Variant, split

HORIZON = 80
"""Of the standard lines: long enough for faults that are mended, short enough to see the next episode [ticks]."""
_FIRST = np.searchsorted(COMMANDS[:, 0], np.arange(VERBS))
"""The first flat action of each verb."""
_SEEDS = (0, 1, 2**31, 2**63 - 1)

Digests = dict[str, str]
"""``line/episode`` -> SHA-256 of the episode as far as it was played."""


@dataclass(frozen=True, slots=True)
class Line:
    """What is played in a row."""

    name: int
    """Decides the actions."""
    variant: Variant
    seed: int


def standard(count: int) -> list[Line]:
    """Return lines of all sorts: every topology, family and intensity, awkward seeds."""
    variants = split("train")
    return [Line(number, variants[number], _SEEDS[number % 4] ^ (number // 4)) for number in range(count)]


def mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the numbers stirred (SplitMix64)."""
    z = z * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def chosen(
    names: NDArray[np.int64], episodes: NDArray[np.int32], ticks: NDArray[np.int32], masks: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Return a flat action a row: any at all, or where masks are given a possible one, each verb as often as others."""
    z = (names.astype(np.uint64) << np.uint64(32)) + (episodes.astype(np.uint64) << np.uint64(16))
    words = mix(z + ticks.astype(np.uint64)).astype(np.int64) & 0x7FFF_FFFF
    if masks is None:
        return words % len(COMMANDS)
    counts = np.add.reduceat(masks, _FIRST, axis=1, dtype=np.int64)
    verb = _pick(counts > 0, words & 0xFF)
    own = masks & (COMMANDS[None, :, 0] == verb[:, None])
    return _pick(own, words >> 8)


def _pick(possible: NDArray[np.bool_], words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return in each row the place of one of those that are True."""
    passed = np.cumsum(possible, axis=1)
    return np.argmax(passed > (words % passed[:, -1])[:, None], axis=1)


class Trace:
    """Takes in one line, episode after episode."""

    def __init__(self, name: int) -> None:
        self._name = name
        self._digests: dict[int, hashlib._Hash] = {}

    def add(self, episode: int, *arrays: NDArray[np.generic] | bytes | float) -> None:
        """Take in what was seen, paid or left."""
        digest = self._digests.setdefault(episode, hashlib.sha256())
        for array in arrays:
            digest.update(np.float64(array).tobytes() if isinstance(array, float) else array)

    def digests(self) -> Digests:
        """Return one digest an episode."""
        return {f"{self._name}/{episode}": digest.hexdigest() for episode, digest in self._digests.items()}


def state(batch: Batch, row: int) -> tuple[bytes, bytes, bytes]:
    """Return all that the line in a row is."""
    saved = batch.save(row)
    return saved.short, saved.whole, saved.real


def now(batch: Batch) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return episode and tick of each row; where a step has begun the next episode, the facts tell of the last."""
    begun = batch.truncated if batch.autoreset == "same_step" else np.zeros(batch.n, np.bool_)
    return batch.facts[:, 0] + begun, np.where(begun, 0, batch.facts[:, 1])


def trace(
    batch: Batch,
    lines: Mapping[int, Line],
    steps: int,
    *,
    masked: bool = True,
    begun: bool = False,
    traces: dict[int, Trace] | None = None,
) -> Digests:
    """Play a batch and return the digests of some of its rows.

    Args:
        batch: Of one command a row and one tick a step; in a mode that begins no episodes, they are begun here.
        lines: What is in those rows that are of interest; the others get actions too.
        steps: To take.
        masked: Whether only possible actions are taken.
        begun: The episodes are under way; else they begin now, with the seeds of the lines.
        traces: Of the rows, where they began elsewhere.
    """
    names, seeds = np.arange(batch.n) + 1_000_000, np.arange(batch.n, dtype=np.uint64)
    for row, line in lines.items():
        names[row], seeds[row] = line.name, line.seed
    found = traces if traces is not None else {line.name: Trace(line.name) for line in lines.values()}
    if not begun:
        batch.reset(seeds)
        _add_beginnings(batch, lines, found)
    for _ in range(steps):
        episodes, ticks = now(batch)
        actions = chosen(names, episodes, ticks, batch.masks if masked else None)
        waiting = batch.truncated.copy() if batch.autoreset == "next_step" else np.zeros(batch.n, np.bool_)
        batch.step(COMMANDS[actions][:, None])
        _add_steps(batch, {row: line for row, line in lines.items() if not waiting[row]}, found, episodes)
        fresh = waiting if batch.autoreset == "next_step" else batch.truncated.copy()
        if fresh.any() and batch.autoreset == "disabled":
            batch.reset(rows=fresh)
        _add_beginnings(batch, {row: line for row, line in lines.items() if fresh[row]}, found)
    return {name: digest for each in found.values() for name, digest in each.digests().items()}


def _add_beginnings(batch: Batch, lines: Mapping[int, Line], traces: Mapping[int, Trace]) -> None:
    episodes, _ = now(batch)
    for row, line in lines.items():
        traces[line.name].add(int(episodes[row]), batch.observations[row], batch.masks[row], *state(batch, row))


def _add_steps(
    batch: Batch, lines: Mapping[int, Line], traces: Mapping[int, Trace], episodes: NDArray[np.int32]
) -> None:
    for row, line in lines.items():
        own = traces[line.name]
        seen = batch.observations
        if batch.truncated[row]:  # in the mode that begins at once, mask and state are already the next episode's
            last = batch.final_observations if batch.autoreset == "same_step" else seen
            own.add(int(episodes[row]), float(batch.rewards[row]), last[row])
        else:
            own.add(int(episodes[row]), float(batch.rewards[row]), seen[row], batch.masks[row], *state(batch, row))


def trace_kernel(lines: Sequence[Line], steps: int, *, masked: bool = True) -> Digests:
    """Return the digests of a batch of these lines alone."""
    batch = Batch([line.variant for line in lines], horizon=HORIZON)
    return trace(batch, dict(enumerate(lines)), steps, masked=masked)


def trace_alone(line: Line, steps: int, *, masked: bool = True, reference: bool) -> Digests:
    """Return what ``trace_kernel`` would of one line, played by the reference or by an environment."""
    player = _Reference(line) if reference else _Environment(line)
    found, episode, tick = Trace(line.name), 0, 0
    player.begin(episode)
    found.add(episode, *player.seen())
    for _ in range(steps):
        if tick == HORIZON:
            episode, tick = episode + 1, 0
            player.begin(episode)
            found.add(episode, *player.seen())
            continue
        mask = player.mask()[None] if masked else None
        action = chosen(np.array([line.name]), np.int32([episode]), np.int32([tick]), mask)[0]
        reward, tick = player.step(int(action)), tick + 1
        found.add(episode, reward, *player.seen()[: 1 if tick == HORIZON else None])
    return found.digests()


class _Reference:
    """The reference, taken by flat actions."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def begin(self, episode: int) -> None:
        line = self._line
        self._played = ReferenceLine(line.variant, horizon=HORIZON, seed=line.seed, episode=episode)

    def mask(self) -> NDArray[np.bool_]:
        return self._played.mask()

    def step(self, action: int) -> float:
        return self._played.step([tuple(COMMANDS[action].tolist())])

    def seen(self) -> tuple[NDArray[np.generic] | bytes, ...]:
        return self._played.observation(), self.mask(), *(row.tobytes() for row in self._played.state_rows())


class _Environment:
    """An environment with Gymnasium's face."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._env = LineEnv(line.variant, horizon=HORIZON)

    def begin(self, episode: int) -> None:
        self._seen, self._info = self._env.reset(seed=None if episode else self._line.seed)

    def mask(self) -> NDArray[np.bool_]:
        return np.asarray(self._info["action_mask"]).astype(np.bool_)

    def step(self, action: int) -> float:
        self._seen, reward, _, _, self._info = self._env.step(action)
        return reward

    def seen(self) -> tuple[NDArray[np.generic] | bytes, ...]:
        saved = self._env.save().state
        return self._seen, self.mask(), saved.short, saved.whole, saved.real


if __name__ == "__main__":
    print(json.dumps(trace_kernel(standard(int(sys.argv[1])), int(sys.argv[2]))))
