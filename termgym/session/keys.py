r"""Keystrokes: what an agent writes, as the bytes that a terminal sends.

A string is typed as it stands, except for key names that stand alone between spaces: a name becomes its key, and the
space that sets it apart is not typed. A backslash before a name makes it text.

    q                 the letter q               C-c           Control and c
    hello world       text, its space too        yes Enter     "yes" and the Enter key
    Esc :wq Enter     a vim user's farewell      Down Down     two arrow keys
    The \End          text: "The End"            C-c C-d       two keys

Names: Enter Tab Space Backspace Esc Delete Insert Home End PageUp PageDown Up Down Left Right F1 … F12, ``C-`` before a
letter or one of @ [ \ ] ^ _ ? and ``M-`` (Alt) before any character or before a name. Upper and lower case matter,
but for the letter after ``C-``. A line break in the text is sent as it is (C-j); Enter sends what the key sends (C-m).
"""

from __future__ import annotations

import difflib
import re

from termgym.errors import PlanError

# xterm's control sequences in normal mode (ctlseqs: PC-Style Function Keys).
NAMED: dict[str, bytes] = {
    "Enter": b"\r",
    "Tab": b"\t",
    "Space": b" ",
    "Backspace": b"\x7f",
    "Esc": b"\x1b",
    "Delete": b"\x1b[3~",
    "Insert": b"\x1b[2~",
    "Home": b"\x1b[H",
    "End": b"\x1b[F",
    "PageUp": b"\x1b[5~",
    "PageDown": b"\x1b[6~",
    "Up": b"\x1b[A",
    "Down": b"\x1b[B",
    "Right": b"\x1b[C",
    "Left": b"\x1b[D",
    **{f"F{number}": b"\x1bO" + b"PQRS"[number - 1 : number] for number in range(1, 5)},
    **{f"F{number}": b"\x1b[%d~" % code for number, code in enumerate((15, 17, 18, 19, 20, 21, 23, 24), start=5)},
}
_CONTROL = re.compile(r"C-([A-Za-z@\[\\\]^_?])")
# What looks like a key and is none: a slip that would otherwise be typed as text and lead the agent astray.
_LIKE_A_KEY = re.compile(
    r"C-\S{1,12}|M-\S{2,12}|F\d{1,2}|(?i:ctrl|control|alt|meta)[-+]\S{1,12}|<[A-Za-z][A-Za-z0-9-]{0,11}>"
)
_ESCAPED = re.compile(r"\\+(\S+)")


def to_bytes(text: str) -> bytes:
    """Return the bytes that a terminal sends for keystrokes.

    Raises:
        PlanError: something looks like a key and is none.
    """
    sent = b""
    after_text = False
    for token in text.split(" "):
        key = _key(token)
        if key is None and _LIKE_A_KEY.fullmatch(token):
            raise PlanError(_complaint(token))
        if after_text and key is None:
            sent += b" "
        sent += key if key is not None else _text(token)
        after_text = key is None
    return sent


def _key(token: str) -> bytes | None:
    """Return the bytes of a key name, or None if it is text."""
    if token in NAMED:
        return NAMED[token]
    if match := _CONTROL.fullmatch(token):
        letter = match[1].upper()
        return b"\x7f" if letter == "?" else bytes([ord(letter) & 0x1F])
    if token.startswith("M-") and len(token) > 2:
        rest = token[2:]
        key = _key(rest)
        if key is None and len(rest) == 1:
            key = rest.encode("utf-8", "surrogateescape")
        return None if key is None else b"\x1b" + key
    return None


def _text(token: str) -> bytes:
    """Return a token as text, without the backslash that keeps a key name from being a key."""
    if (match := _ESCAPED.fullmatch(token)) and (_key(match[1]) is not None or _LIKE_A_KEY.fullmatch(match[1])):
        token = token[1:]
    return token.encode("utf-8", "surrogateescape")


def _complaint(token: str) -> str:
    wanted = token.strip("<>")
    control = re.fullmatch(r"(?:ctrl|control|C)[-+](.)", wanted, re.IGNORECASE)
    near = [f"C-{control[1].lower()}"] if control else difflib.get_close_matches(wanted, NAMED, n=1, cutoff=0.5)
    meant = f" Did you mean {near[0]!r}?" if near and _key(near[0]) is not None else ""
    return (
        f"keys: {token!r} is not a key.{meant} Keys are {' '.join(NAMED)}, C- with a letter and M- with a character; "
        f"write {chr(92) + token!r} to type it as text"
    )
