"""The reference's random numbers: known answers, and the laws they must follow."""

from __future__ import annotations

from fractions import Fraction
from math import exp, factorial, isclose, pi, sin
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linegym.plant import SINE_TURN, Stream
from linegym.reference.chance import Chance, episode_key, mix, normal, philox4x32_10, poisson, sine, uniform
from linegym.reference.single import f32

WORDS = st.integers(0, 2**32 - 1)
ONES = 0xFFFF_FFFF


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_published_answers(
    counter: tuple[int, int, int, int], key: tuple[int, int], words: tuple[int, int, int, int]
) -> None:
    """Random123's ``kat_vectors``: the same generator as everybody else's."""
    assert philox4x32_10(key, counter) == words


def test_mixing_gives_the_published_answers() -> None:
    """SplitMix64 from seed 0: its first two outputs."""
    golden = 0x9E37_79B9_7F4A_7C15
    assert mix(golden) == 0xE220_A839_7B1D_CDAF
    assert mix(2 * golden % 2**64) == 0x6E78_9E6A_A1B9_65F4


def test_every_part_of_the_key_counts() -> None:
    """Variant, seed, episode and namespace each lead to other numbers; the halves are both used."""
    keys = [
        episode_key(uid, seed, episode, evaluation)
        for uid in (0, 1, 2**64 - 1)
        for seed in (0, 1, 2**63 - 1, 2**64 - 1)
        for episode in (0, 1)
        for evaluation in (False, True)
    ]
    assert len(set(keys)) == len(keys)
    assert len({low for low, _ in keys}) == len({high for _, high in keys}) == len(keys)


def test_streams_places_and_ticks_do_not_share_words() -> None:
    chance = Chance((1, 2))
    words = [chance.words(stream, index, tick) for stream in Stream for index in range(24) for tick in range(20)]
    assert len(set(words)) == len(words)


@given(st.integers(2**10, 2**32 - 2**10))
def test_normal_is_the_quantile(word: int) -> None:
    """But for the outermost 2^-22 on each side, where 64 words share a cell; the table ends at 6.3."""
    expected = NormalDist().inv_cdf((word + 0.5) / 2**32)
    assert normal(word) == pytest.approx(expected, abs=2e-3)


@given(st.integers(0, 2**31 - 1))
def test_normal_is_symmetric(word: int) -> None:
    assert normal(word) == -normal(2**32 - 1 - word)
    assert normal(word) <= 0


@given(WORDS)
def test_normal_never_falls(word: int) -> None:
    """Across the borders of cells and levels too."""
    if word < 2**32 - 1:
        assert normal(word) <= normal(word + 1)


@pytest.mark.parametrize("border", [2**26, 2**20, 2**14])
def test_normal_has_no_step_where_the_cells_change(border: int) -> None:
    assert normal(border) - normal(border - 1) == pytest.approx(0, abs=1e-4)


@given(st.integers(0, 10**10))
def test_sine_is_the_sine(phase: int) -> None:
    """Of the table entry below the phase."""
    assert sine(phase) == pytest.approx(sin(2 * pi * (phase % SINE_TURN >> 8) / 3840), abs=1e-15)


@given(WORDS, st.floats(0, 8))
def test_poisson_is_the_smallest_count_that_reaches_the_word(word: int, mean: float) -> None:
    """The count ``n`` with P(X < n) < u <= P(X <= n), up to rounding of the sums, cut off at the most."""
    count = poisson(word, mean, exp(-mean), 12)
    below = sum(exp(-mean) * mean**n / factorial(n) for n in range(count))
    assert 0 <= count <= 12
    assert count == 0 or uniform(word) > below or isclose(uniform(word), below)
    reached = below + exp(-mean) * mean**count / factorial(count)
    assert count == 12 or uniform(word) <= reached or isclose(uniform(word), reached)


@given(st.floats(-1e30, 1e30))
def test_single_precision_is_the_nearest(x: float) -> None:
    """No neighbour is nearer: it differs by at most half of the last of 24 bits."""
    rounded = f32(x)
    assert f32(rounded) == rounded
    assert abs(Fraction(rounded) - Fraction(x)) <= max(abs(Fraction(x)) / 2**24, Fraction(1, 2**150))
