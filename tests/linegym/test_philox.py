"""The generator is Philox4x32-10, and what is drawn depends on its purpose alone."""

from __future__ import annotations

import pytest

from linegym.philox import Draws, Words, philox4x32

KNOWN = (  # Random123, tests/kat_vectors, philox4x32 10: counter, key, answer
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_gives_the_published_answers(counter: Words, key: tuple[int, int], answer: Words) -> None:
    """The generator's reputation holds only for the generator itself."""
    assert philox4x32(key, counter) == answer


def test_draws_depend_on_their_purpose_alone() -> None:
    """Another template in the list must not change the plant of this one."""
    first, second = Draws.of("a"), Draws.of("b")
    interleaved = [(first.between(0, 999), second.between(0, 999)) for _ in range(9)]
    alone = Draws.of("a")
    assert [a for a, _ in interleaved] == [alone.between(0, 999) for _ in range(9)]
    assert [a for a, _ in interleaved] != [b for _, b in interleaved]


def test_draws_reach_both_ends_alike() -> None:
    """A die, thrown six thousand times: every face within five standard deviations of a thousand."""
    die = Draws.of("die")
    thrown = [die.between(1, 6) for _ in range(6000)]
    assert set(thrown) == {1, 2, 3, 4, 5, 6}
    assert all(abs(thrown.count(face) - 1000) < 145 for face in range(1, 7))
