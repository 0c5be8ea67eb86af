"""Random numbers without a state: every draw is a pure function of key and counter.

Philox4x32-10 after Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), with the
known answers of their Random123 in the tests. Nothing here calls a mathematical library: normals and sines come from
tables, so all machines agree to the last bit (``docs/reference/plant.md``, Numbers).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from linegym.kernel.compiled import compiled
from linegym.plant import SINE_TURN

Words: TypeAlias = tuple[int, int, int, int]

EVALUATION = 0xE7A1_5EED_0000_0001
"""What turns a seed into one of the evaluation namespace: training can never draw an evaluation episode."""

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)
_UNIT = 2.0**-32


@compiled
def _mix(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@compiled
def episode_key(uid: np.uint64, seed: np.uint64, episode: int) -> np.uint64:
    """Return the key of one episode."""
    z = _mix(np.uint64(uid) + _GOLDEN)
    z = _mix(z ^ (np.uint64(seed) + _GOLDEN))
    return _mix(z ^ (np.uint64(episode) + _GOLDEN))


@compiled
def words(key: np.uint64, stream: int, index: int, tick: int) -> Words:
    """Return the four 32-bit words of one counter, as plain integers."""
    x0, x1 = np.uint64(tick), np.uint64((stream << 16) | index)
    x2 = x3 = np.uint64(0)
    k0, k1 = key & _LOW, key >> _32
    for _ in range(10):
        p0, p1 = _M0 * x0, _M1 * x2
        x0, x1, x2, x3 = (p1 >> _32) ^ x1 ^ k0, p1 & _LOW, (p0 >> _32) ^ x3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return np.int64(x0), np.int64(x1), np.int64(x2), np.int64(x3)  # type: ignore[return-value]  # int to numba


@compiled
def fill(key: np.uint64, stream: int, count: int, tick: int, out: NDArray[np.int64]) -> None:
    """Write the words of the counters ``0 … count - 1`` of a stream and tick into ``out``: (4, at least count).

    The same numbers as ``words``, but a loop that the compiler turns into vector instructions: a sixth of the time.
    """
    for index in range(count):
        out[0, index], out[1, index], out[2, index], out[3, index] = words(key, stream, index, tick)


@compiled
def unit(word: int) -> float:
    """Return the word as a number in [0, 1)."""
    return float(word) * _UNIT


@compiled
def normal(word: int, table: NDArray[np.float64]) -> float:
    """Return a standard normal number by linear interpolation in a table that is finer towards the tails."""
    positive = word >> 31
    h = word ^ (-positive & 0xFFFFFFFF)  # without a branch that could not be foreseen
    if h >= 1 << 26:
        shift, offset, scale = 22, 0, 2.0**-22
    elif h >= 1 << 20:
        shift, offset, scale = 18, 513, 2.0**-18
    elif h >= 1 << 14:
        shift, offset, scale = 12, 770, 2.0**-12
    else:
        shift, offset, scale = 6, 1027, 2.0**-6
    cell = offset + (h >> shift)
    a, b = table[cell], table[cell + 1]
    size = a + float(h & ((1 << shift) - 1)) * scale * (b - a)
    return math.copysign(size, float(positive) - 0.5)


@compiled
def sine(phase: int, table: NDArray[np.float64]) -> float:
    """Return the sine of a phase in 1/256 of a table entry."""
    return table[(phase % SINE_TURN) >> 8]


@compiled
def poisson(word: int, mean: float, exp_minus_mean: float, most: int) -> int:
    """Return a Poisson number of at most ``most``, by sequential search."""
    u = unit(word)
    p = c = exp_minus_mean
    n = 0
    while u > c and n < most:
        n += 1
        p = p * mean / n
        c = c + p
    return n
