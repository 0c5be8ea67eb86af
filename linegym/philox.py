"""Philox4x32-10 in plain Python: what draws the plants of templates, and a second opinion on the compiled one.

A counter-based generator: a pure function of key and counter, so a draw depends on what it is for and on nothing that
was drawn before. Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC11,
doi:10.1145/2063384.2063405; constants and known answers: the authors' Random123.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

MULTIPLIER_0, MULTIPLIER_1 = 0xD2511F53, 0xCD9E8D57
WEYL_0, WEYL_1 = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10
WORD = 0xFFFFFFFF

Words = tuple[int, int, int, int]


def philox4x32(key: tuple[int, int], counter: Words, rounds: int = ROUNDS) -> Words:
    """Return the four 32-bit words that belong to ``counter`` under ``key``."""
    k0, k1 = key
    c0, c1, c2, c3 = counter
    for _ in range(rounds):
        p0, p1 = MULTIPLIER_0 * c0, MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & WORD, (p0 >> 32) ^ c3 ^ k1, p0 & WORD
        k0, k1 = (k0 + WEYL_0) & WORD, (k1 + WEYL_1) & WORD
    return c0, c1, c2, c3


@dataclass(slots=True)
class Draws:
    """Whole numbers drawn one after the other for a purpose that has a name."""

    key: tuple[int, int]
    _counter: int = 0
    _words: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, purpose: str) -> Draws:
        """Return the draws whose key is the first eight bytes of the SHA-256 of ``purpose``."""
        digest = hashlib.sha256(purpose.encode()).digest()
        return cls((int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")))

    def between(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included (bias below 2**-20 for the ranges used)."""
        if not self._words:
            self._words = list(reversed(philox4x32(self.key, (self._counter, 0, 0, 0))))
            self._counter += 1
        return low + (self._words.pop() * (high - low + 1) >> 32)
