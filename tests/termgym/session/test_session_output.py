"""Output within its budget, as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termgym.session.capture import Capture, decode


@given(st.lists(st.binary(max_size=300)), st.integers(2, 200))
def test_keeps_head_and_tail_whatever_the_chunks(chunks: list[bytes], limit: int) -> None:
    capture = Capture(limit)
    for chunk in chunks:
        capture.add(chunk)
    whole = b"".join(chunks)
    assert capture.total == len(whole)
    if len(whole) <= limit:
        assert capture.kept() == whole
    else:
        half = limit // 2
        assert capture.kept() == whole[:half] + whole[len(whole) - (limit - half) :]


def test_keeps_the_tail_of_a_flood() -> None:
    capture = Capture(10)
    for number in range(20_000):
        capture.add(b"%05d\n" % number)
    assert capture.kept() == b"00000" + b"9999\n"


@given(st.binary(max_size=100), st.binary(max_size=100), st.integers(2, 60))
def test_cuts_at_a_mark(before: bytes, after: bytes, limit: int) -> None:
    """The mark is in the kept part as long as what follows it fits."""
    mark = b"\x1e0123456789abcdef\x1e"
    capture = Capture(4 * limit)
    capture.add(before + mark + after)
    if len(before + mark + after) <= 4 * limit:
        assert capture.cut(mark) == after
        assert capture.kept() == before
        assert capture.total == len(before)


@pytest.mark.parametrize("point", ["é", "世", "🎉"])
@pytest.mark.parametrize("limit", range(20, 33))
def test_never_cuts_a_code_point_in_half(point: str, limit: int) -> None:
    capture = Capture(limit)
    capture.add(point.encode() * 100)
    text = decode(capture.kept(), capture.total)
    head, mark, tail = text.split("\n")
    assert set(head + tail) == {point}
    left_out = int(mark.split()[1])
    assert left_out + len((head + tail).encode()) == capture.total


def test_marks_nothing_where_nothing_is_missing() -> None:
    assert decode(b"abc", 3) == "abc"
    assert decode(b"a\xffb\xe2\x82") == "a\ufffdb\ufffd"


@given(st.binary(max_size=200), st.integers(2, 50))
def test_turns_any_bytes_into_text(data: bytes, limit: int) -> None:
    capture = Capture(limit)
    capture.add(data)
    text = decode(capture.kept(), capture.total)
    text.encode("utf-8")
    assert (text == data.decode("utf-8", "replace")) == (len(data) <= limit), text
