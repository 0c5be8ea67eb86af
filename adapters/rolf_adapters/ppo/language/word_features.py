"""Word features: what a marked word is worth, and how it is spelled, as numbers that a network can compare.

A number is told twice. Its *size* is sines and cosines of its logarithm, slow ones and quick ones: near numbers look
alike, 4.2 K as 5 K, and a number that was never seen falls between those that were; a table of ten thousand numbers
(``Embedding(10000)``) knows nothing of the next one, and of none behind the point. Its *digits* stand one by one,
counted from the point to the left, for process 812 is not nearly process 813: two numbers agree in as many features as
they have places in common, and in all of them only if they are the same. Users and paths have signs drawn from a digest
of their letters instead: equal words agree, any two others do by chance.
"""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rolf_adapters.ppo.language.marks import Mark, number

WAVES = 8
"""Of the logarithm: one goes through 24 decades, each next one twice as often."""
DECADES = 24.0
PLACES, DIGITS = 6, 11
"""Digits before the point that stand by themselves, and what may stand there: a digit or nothing."""
SIGNS = 64
"""Of a spelling; two different words agree in them by 0 of `PLACES`, give or take 0.75."""
SIZE = 2 + 2 * WAVES
"""Sign, count of digits, and waves."""
IDENTITY = PLACES * DIGITS + SIGNS
"""What two words agree in: `PLACES` if they are the same."""
LARGEST = 1e18
"""Numbers beyond are told like this one."""


@lru_cache(maxsize=65_536)
def features(mark: Mark, text: str) -> NDArray[np.float32]:
    """Return the features of a word, ``(SIZE + IDENTITY,)``; all 0 where it has no mark.

    Args:
        mark: What it is.
        text: The word, or its beginning.
    """
    found = np.zeros(SIZE + IDENTITY, np.float32)
    if mark in (Mark.USER, Mark.PATH):
        found[-SIGNS:] = _spelled(text)
    elif mark in (Mark.PID, Mark.NUMBER):
        value = number(text)
        assert value is not None, "a word is marked as a number because it is one"
        found[:SIZE] = _size(value, sum(each.isdigit() for each in text))
        found[SIZE:-SIGNS] = _digits(value)
    found.flags.writeable = False
    return found


def _size(value: float, digits: int) -> list[float]:
    decades = math.log10(1.0 + min(abs(value), LARGEST)) / DECADES
    angles = [2.0 * math.pi * decades * 2.0**wave for wave in range(WAVES)]
    waves = [turn(angle) for angle in angles for turn in (math.sin, math.cos)]
    return [float(np.sign(value)), min(digits, 16) / 8.0, *waves]


def _digits(value: float) -> NDArray[np.float32]:
    """Return which digit stands where, ``(PLACES * DIGITS,)``; the last kind is none: the number is shorter."""
    table = np.zeros((PLACES, DIGITS), np.float32)
    written = str(int(min(abs(value), LARGEST)))[::-1]
    for place in range(PLACES):
        table[place, int(written[place]) if place < len(written) else DIGITS - 1] = 1.0
    return table.reshape(-1)


def _spelled(text: str) -> NDArray[np.float32]:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=SIGNS // 8).digest()
    bits = np.unpackbits(np.frombuffer(digest, np.uint8)).astype(np.float32)
    return (2.0 * bits - 1.0) * np.float32(math.sqrt(PLACES / SIGNS))
