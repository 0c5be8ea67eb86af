"""Chance without a memory: a random number is a function of the episode, the mechanism, the place and the tick.

Nothing is ever "drawn next": switching one mechanism off, or leaving a station out, moves no other number. Source:
J. Salmon, M. Moraes, R. Dror, D. Shaw, *Parallel random numbers: as easy as 1, 2, 3*, SC 2011 (Philox4x32-10).
"""

from __future__ import annotations

from typing import NamedTuple

from linegym.plant import SINE_TURN, Stream
from linegym.tables import NORMAL, SINE

_WORD = 0xFFFF_FFFF
_LONG = 0xFFFF_FFFF_FFFF_FFFF
_GOLDEN = 0x9E37_79B9_7F4A_7C15
"""2^64 over the golden ratio: the increment of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
_EVALUATION = 0xE7A1_5EED_0000_0001
"""Turns a training seed into the evaluation seed of the same number."""
_LEVELS = ((1 << 26, 0, 22), (1 << 20, 513, 18), (1 << 14, 770, 12), (0, 1027, 6))
"""Of the table normal: least half-word of a level, where its entries begin, bits within a cell."""
_NORMAL: list[float] = [float(entry) for entry in NORMAL]
_SINE: list[float] = [float(entry) for entry in SINE]


class Words(NamedTuple):
    """Four random words of 32 bits."""

    w0: int
    w1: int
    w2: int
    w3: int


def philox4x32_10(key: tuple[int, int], counter: tuple[int, int, int, int]) -> Words:
    """Return the four words that belong to ``counter`` under ``key`` (Salmon et al., section 3.3 and table 2)."""
    k0, k1 = key
    c0, c1, c2, c3 = counter
    for _ in range(10):
        even, odd = 0xD251_1F53 * c0, 0xCD9E_8D57 * c2
        c0, c1, c2, c3 = (odd >> 32) ^ c1 ^ k0, odd & _WORD, (even >> 32) ^ c3 ^ k1, even & _WORD
        k0, k1 = (k0 + 0x9E37_79B9) & _WORD, (k1 + 0xBB67_AE85) & _WORD
    return Words(c0, c1, c2, c3)


def mix(z: int) -> int:
    """Return ``z`` with its 64 bits stirred: the finalizer of SplitMix64."""
    z = ((z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9) & _LONG
    z = ((z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB) & _LONG
    return z ^ (z >> 31)


def episode_key(uid: int, seed: int, episode: int, evaluation: bool) -> tuple[int, int]:
    """Return the Philox key of an episode, low half first."""
    if evaluation:
        seed ^= _EVALUATION
    z = mix((uid + _GOLDEN) & _LONG)
    z = mix(z ^ ((seed + _GOLDEN) & _LONG))
    z = mix(z ^ ((episode + _GOLDEN) & _LONG))
    return z & _WORD, z >> 32


class Chance:
    """All the random numbers of one episode.

    Args:
        key: The episode's, of ``episode_key``.
    """

    def __init__(self, key: tuple[int, int]) -> None:
        self.key = key

    def words(self, stream: Stream, index: int, tick: int) -> Words:
        """Return the words of one mechanism at one place and tick."""
        return philox4x32_10(self.key, (tick, int(stream) << 16 | index, 0, 0))


def uniform(word: int) -> float:
    """Return a number in [0, 1)."""
    return word * 2.0**-32


def normal(word: int) -> float:
    """Return a number of the normal distribution: its quantile, linear between the entries of a table.

    The cells grow finer towards the tail, in four levels, so that 1 284 entries reach 6.3 standard deviations.
    """
    below = word < 1 << 31
    half = word if below else _WORD - word
    offset, shift = next((offset, shift) for least, offset, shift in _LEVELS if half >= least)
    entry = offset + (half >> shift)
    share = (half & ((1 << shift) - 1)) * 2.0**-shift
    a, b = _NORMAL[entry], _NORMAL[entry + 1]
    size = a + share * (b - a)
    return -size if below else size


def sine(phase: int) -> float:
    """Return the sine of a phase in 1/256 of a table entry, 3 840 entries a turn."""
    return _SINE[(phase % SINE_TURN) >> 8]


def poisson(word: int, mean: float, exp_minus_mean: float, most: int) -> int:
    """Return a Poisson count, at most ``most``, by sequential search (Devroye 1986, X.3.3)."""
    p = exp_minus_mean
    cumulated = p
    count = 0
    while uniform(word) > cumulated and count < most:
        count += 1
        p = p * mean / count
        cumulated = cumulated + p
    return count
