"""Random words, normals, sines and Poisson numbers for whole arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linegym import plant as P
from linegym.tables import NORMAL, SINE

Words = NDArray[np.uint64]
Reals = NDArray[np.float64]

_LOW, _32 = np.uint64(0xFFFFFFFF), np.uint64(32)
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_PIECE = 4096
"""Words drawn at once: ten arrays of this length fit the second cache."""
_TAILS = ((1 << 26, 18, 513), (1 << 20, 12, 770), (1 << 14, 6, 1027))
"""Below which half-word, shift and offset of the finer levels of the normal table."""


def episode_keys(uids: Words, seeds: Words, episode: int) -> Words:
    return _mix(_mix(_mix(uids + _GOLDEN) ^ (seeds + _GOLDEN)) ^ (np.uint64(episode) + _GOLDEN))


def _mix(z: Words) -> Words:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def words(keys: Words, stream: int, index: NDArray[np.integer], tick: int | NDArray[np.integer]) -> Words:
    """Return the four words of each counter: (4, len(keys))."""
    drawn = np.empty((4, len(keys)), np.uint64)
    second = index.astype(np.uint64) | np.uint64(stream << 16)
    for begin in range(0, len(keys), _PIECE):
        piece = slice(begin, begin + _PIECE)
        first = tick if isinstance(tick, int) else tick[piece]
        _philox(keys[piece], first, second[piece], drawn[:, piece])
    return drawn


def _philox(keys: Words, first: int | NDArray[np.integer], second: Words, drawn: Words) -> None:
    x0, x1, x2, x3 = drawn
    x0[:], x1[:], x2[:], x3[:] = first, second, 0, 0
    k0, k1 = keys & _LOW, keys >> _32
    p0, p1 = np.empty_like(x0), np.empty_like(x0)
    for _ in range(10):
        np.multiply(x0, _M0, out=p0)
        np.multiply(x2, _M1, out=p1)
        np.right_shift(p1, _32, out=x0)
        x0 ^= x1
        x0 ^= k0
        np.bitwise_and(p1, _LOW, out=x1)
        np.right_shift(p0, _32, out=x2)
        x2 ^= x3
        x2 ^= k1
        np.bitwise_and(p0, _LOW, out=x3)
        k0 += _W0
        k0 &= _LOW
        k1 += _W1
        k1 &= _LOW


def unit(word: Words) -> Reals:
    number: Reals = word.astype(np.float64) * 2.0**-32
    return number


def normal(word: Words) -> Reals:
    positive = word >= np.uint64(0x80000000)
    h = np.where(positive, _LOW - word, word).astype(np.int64)
    size = _between(h, 22, 0)
    for below, shift, offset in _TAILS:
        rare = np.flatnonzero(h < below)
        size[rare] = _between(h[rare], shift, offset)
    signed: Reals = np.where(positive, size, -size)
    return signed


def _between(h: NDArray[np.int64], shift: int, offset: int) -> Reals:
    cell = (h >> shift) + offset
    a = NORMAL[cell]
    size: Reals = a + (h & ((1 << shift) - 1)) * 2.0**-shift * (NORMAL[cell + 1] - a)
    return size


def sine(phase: NDArray[np.int64]) -> Reals:
    found: Reals = SINE[(phase % P.SINE_TURN) >> 8]
    return found


def poisson_ladder(mean: Reals, exp_minus_mean: Reals, most: int) -> Reals:
    """Return the sums that the sequential search compares with: (most, n). A number is how many of them lie below u."""
    ladder = np.empty((most, len(mean)))
    p = c = exp_minus_mean
    for n in range(most):
        ladder[n] = c
        p = p * mean / (n + 1)
        c = c + p
    return ladder


def poisson(word: Words, ladder: Reals, column: NDArray[np.integer] | slice = slice(None)) -> NDArray[np.int32]:
    """Return Poisson numbers; ``column`` says which column of the ladder each word climbs."""
    u = unit(word)
    number = np.zeros(len(u), np.int32)
    for step in ladder:
        above = u > step[column]
        if not above.any():
            break
        number += above
    return number
