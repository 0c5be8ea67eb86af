"""The tables hold what the plant's description says, entry for entry."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linegym import tables
from linegym.data import make_tables
from linegym.errors import DataError
from linegym.plant import SINE_ENTRIES

LEVELS = ((0, 2**26, 2**31, 22), (513, 2**20, 2**26, 18), (770, 2**14, 2**20, 12), (1027, 0, 2**14, 6))
"""Offset, first and last argument, shift of each level, as docs/reference/plant.md gives them."""


def cells() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both ends and the probability of every cell of the normal table that is used."""
    low, high, weight = [], [], []
    for offset, first, last, shift in LEVELS:
        for entry in range(first >> shift, last >> shift):
            low.append(tables.NORMAL[offset + entry])
            high.append(tables.NORMAL[offset + entry + 1])
            weight.append(2.0 ** (shift - 31))
    return np.array(low), np.array(high), np.array(weight)


def test_the_shipped_file_is_what_its_script_makes() -> None:
    """Whoever doubts a number can make it again."""
    for name, entries in make_tables.tables().items():
        assert [float.fromhex(entry) for entry in entries] == getattr(tables, name.upper()).tolist()


def test_normal_table_has_the_moments_of_a_normal() -> None:
    """A noise of the wrong width would be a wrong plant: standard deviation within 1e-5, kurtosis within 1e-4."""
    a, b, weight = cells()
    assert math.fsum(weight) == 1.0
    second = math.fsum(weight * (a * a + a * b + b * b) / 3)
    fourth = math.fsum(weight * (a**4 + a**3 * b + a * a * b * b + a * b**3 + b**4) / 5)
    assert math.sqrt(second) == pytest.approx(1, abs=1e-5)
    assert fourth / second**2 == pytest.approx(3, abs=1e-4)


def test_normal_table_is_the_quantile_at_every_knot() -> None:
    """Against another implementation of the normal distribution than the one that made it."""
    for offset, first, last, shift in LEVELS:
        for entry in range(max(1, first >> shift), last >> shift, 7):
            probability = math.erfc(tables.NORMAL[offset + entry] / math.sqrt(2)) / 2
            assert probability == pytest.approx((entry << shift) * 2**-32, rel=1e-12)


def test_normal_table_falls_to_zero_without_a_step() -> None:
    """Where two levels meet they agree, so that no value is preferred."""
    a, b, _ = cells()
    order = np.argsort(-a, kind="stable")
    assert (np.diff(a[order]) < 0).all()
    assert (b[order][:-1] == a[order][1:]).all()
    assert b[order][-1] == 0.0
    assert a[order][0] == pytest.approx(6.34, abs=0.01)


def test_sine_table_is_exact_where_it_can_be_known() -> None:
    """Zero at half a turn, one at a quarter, and odd: a rounding mistake would show here first."""
    assert tables.SINE.shape == (SINE_ENTRIES,)
    assert tables.SINE[[0, SINE_ENTRIES // 4, SINE_ENTRIES // 2, 3 * SINE_ENTRIES // 4]].tolist() == [0, 1, 0, -1]
    assert tables.SINE[SINE_ENTRIES // 12] == 0.5
    assert (tables.SINE[1:] == -tables.SINE[:0:-1]).all()
    computed = np.sin(2 * np.pi * np.arange(SINE_ENTRIES) / SINE_ENTRIES)
    assert np.abs(tables.SINE - computed).max() < 2e-15


def test_another_file_is_refused() -> None:
    """A table that differs in one bit gives other episodes under the same name."""
    with pytest.raises(DataError, match=r"tables\.json has SHA-256 '7069c7.*expected '0000"):
        tables.published("tables.json", "0" * 64)
