"""Keystrokes: names are keys, everything else is text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termgym.errors import PlanError
from termgym.session.keys import NAMED, to_bytes


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("q", b"q"),
        ("", b""),
        (" ", b" "),
        ("a  b ", b"a  b "),
        ("hello world", b"hello world"),
        ("Enter", b"\r"),
        ("yes Enter", b"yes\r"),
        ("hello world Enter", b"hello world\r"),
        ("Esc :wq Enter", b"\x1b:wq\r"),
        ("y Enter n Enter", b"y\rn\r"),
        ("Down Down Enter", b"\x1b[B\x1b[B\r"),
        ("C-c", b"\x03"),
        ("C-C", b"\x03"),
        ("C-c C-d", b"\x03\x04"),
        ("C-@ C-[ C-\\ C-] C-^ C-_ C-?", b"\x00\x1b\x1c\x1d\x1e\x1f\x7f"),
        ("M-x", b"\x1bx"),
        ("M-Enter", b"\x1b\r"),
        ("M-C-a", b"\x1b\x01"),
        ("F1 F4 F5 F12", b"\x1bOP\x1bOS\x1b[15~\x1b[24~"),
        ("a Space b", b"a b"),
        ("Tab Backspace Delete", b"\t\x7f\x1b[3~"),
        ("The \\End", b"The End"),
        ("\\\\End", b"\\End"),
        ("\\C-3PO", b"C-3PO"),
        ("\\n", b"\\n"),
        ("one\ntwo", b"one\ntwo"),
        ("enter", b"enter"),
        ("é世", "é世".encode()),
        ("x<5 && y>3", b"x<5 && y>3"),
        ("#include <stdio.h>", b"#include <stdio.h>"),
    ],
)
def test_types_what_is_written(text: str, sent: bytes) -> None:
    assert to_bytes(text) == sent


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("ctrl-c", "Did you mean 'C-c'"),
        ("Ctrl+X", "Did you mean 'C-x'"),
        ("<Enter>", "Did you mean 'Enter'"),
        ("F13", "F12"),
        ("yes C-foo", "'C-foo' is not a key"),
        ("M-nope", "type it as text"),
    ],
)
def test_refuses_what_only_looks_like_a_key(text: str, hint: str) -> None:
    with pytest.raises(PlanError) as caught:
        to_bytes(text)
    assert hint in str(caught.value)


@given(st.lists(st.sampled_from(sorted(NAMED)), min_size=1))
def test_any_row_of_keys_is_their_bytes(names: list[str]) -> None:
    assert to_bytes(" ".join(names)) == b"".join(NAMED[name] for name in names)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="CMFcma<\\")))
def test_text_is_typed_as_it_stands(text: str) -> None:
    """Unless a word of it is a key's name."""
    if not set(text.split(" ")) & set(NAMED):
        assert to_bytes(text) == text.encode()
