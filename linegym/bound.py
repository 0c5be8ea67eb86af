"""What a number of variants can promise, and what the mission's bound says.

The mission quotes ``N ≥ C·log(1/δ)/ε²`` with C = 42, δ = 0.01, ε = 0.03 and the value 6 892. The formula gives 214 908
(``quoted``). What does hold is Hoeffding's inequality with a union over K policies that were fixed before they were
scored: with ``N ≥ ln(2K/δ)/(2ε²)`` variants, the mean score (between 0 and 1) of each is within ε of its expectation
with probability 1 − δ (Hoeffding 1963, theorem 1). 7 000 variants cover 1 482 candidate policies at ε = 0.03, δ = 0.01;
3 245 held-out ones tell one policy's score to 0.029.

It is a statement about policies that did not see these variants. For a network trained on them no honest constant is
known: report the measured gap instead. The variants of one template are alike, so they count for fewer than they are.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

_EXACT = Context(prec=50)


def _exactly(value: float) -> Decimal:
    """Return the decimal number that was meant: 0.01 for 0.01, not the double next to it."""
    return Decimal(repr(value))


def _check(epsilon: float, delta: float) -> None:
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not 0 < value < 1:
            raise ValueError(f"{name} = {value!r}, expected a number between 0 and 1")


def variants_needed(epsilon: float, delta: float, candidates: int = 1) -> int:
    """Return how many variants tell the scores of ``candidates`` policies to ``epsilon`` with probability 1 − δ."""
    _check(epsilon, delta)
    log = _EXACT.ln(2 * candidates / _exactly(delta))
    return int((log / (2 * _exactly(epsilon) ** 2)).to_integral_value(ROUND_CEILING))


def candidates_covered(variants: int, epsilon: float, delta: float) -> int:
    """Return how many policies can be compared on ``variants`` to ``epsilon`` with probability 1 − δ."""
    _check(epsilon, delta)
    grown = _EXACT.exp(2 * _exactly(epsilon) ** 2 * variants)
    return int((_exactly(delta) / 2 * grown).to_integral_value(ROUND_FLOOR))


def precision(variants: int, delta: float, candidates: int = 1) -> float:
    """Return the ε to which ``variants`` tell the scores of ``candidates`` policies with probability 1 − δ."""
    _check(0.5, delta)
    return float(_EXACT.sqrt(_EXACT.ln(2 * candidates / _exactly(delta)) / (2 * variants)))


def quoted(constant: float, epsilon: float, delta: float) -> int:
    """Return what the mission's formula ``C·ln(1/δ)/ε²`` gives."""
    _check(epsilon, delta)
    value = -_exactly(constant) * _EXACT.ln(_exactly(delta)) / _exactly(epsilon) ** 2
    return int(value.to_integral_value(ROUND_CEILING))
