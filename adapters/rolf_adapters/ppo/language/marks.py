"""Marks: which words of a terminal's text are users, process ids, paths and numbers, as its tokens come in.

A tokenizer cuts `root`, `4.2` and `12345` where its merges end, and the meaning of a word goes with the cut. So each
token is marked with what the word means that it belongs to, as far as that word has been read: of `12|345` the first
token is the number 12, the second the number 12345. A mark follows from what came before and the token itself, and
from nothing later: a context that grows by appending tokens, one at a time or all at once, is marked alike.

A line's header (`USER  PID %CPU`) tells what its columns are, as `ps`, `top` and `lsof` write it; a line of `ls -l` is
told by its mode. Names that stood in a column of users are users from then on. What an observation tells apart
(`rolf.interface.layouts`: output, error stream, figures, place) becomes numbered sections; an empty line and the end of
a message end a section too.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple


class Mark(IntEnum):
    """What a word is."""

    NONE = 0
    USER = 1
    PID = 2
    PATH = 3
    NUMBER = 4


class Note(NamedTuple):
    """What is known of a token when it has been read."""

    mark: Mark
    text: str
    """The word that it belongs to, up to its end; empty: it belongs to none."""
    word: int
    """Number of that word in the context; -1: it belongs to none."""
    line: int
    """Number of the line in the context."""
    section: int
    """Number of the section in the context."""


NOTHING = Note(Mark.NONE, "", -1, -1, -1)
"""Of what fills up rows."""
ACCOUNTS = frozenset({"root", "daemon", "nobody", "www-data", "agent"})
"""Users before any was named: those of Debian's base-passwd that are no English words, and `TermEnv`'s own."""
COLUMNS = {
    **dict.fromkeys(("USER", "UID", "RUSER", "EUSER", "OWNER"), Mark.USER),  # ps(1), top(1), lsof(8), ls(1) of others
    **dict.fromkeys(("PID", "PPID", "PGID", "SID", "LWP", "SPID"), Mark.PID),
}
SECTIONS = ("instruction", "stdout", "stderr", "exit_code", "event", "cwd", "diff", "facts")
"""What observations of terminals tell apart (`termgym.tools.told`), and what tools of one's own often add."""
SCALES = {"K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40, "P": 2.0**50}
"""Of sizes as `ls -h` and `df -h` write them."""

_PIECE = re.compile(r"(?P<end>\n|\\n)|(?P<blank>[ \t\r]+|\\[tr])|(?P<word>[\w./~@+%-]+)|\\.|[^\\]", re.DOTALL)
_NAMES = "|".join(SECTIONS)
_TITLES = "|".join(name.replace("_", "-").title() for name in SECTIONS)
_BEGINS = re.compile(rf"(?:{_TITLES}):|[/~]\S*\$|- \*\*(?:{_NAMES})\*\*:|\[(?:{_NAMES})")
"""A line up to its first blank that begins a section: fields, transcript, markdown, figures of the transcript."""
_KEY = re.compile(rf'(?:\{{|, )"(?:{_NAMES})":$')
_RULE = re.compile(rf"</?(?:{_NAMES})_*>|\*\*(?:{_NAMES})\*\*|`{{3,}}(?:text)?")
"""A whole line that begins a section or ends one: tags, markdown."""
_MODE = re.compile(r"[-bcdlps](?:[-r][-w][-xsStT]){3}[.+@]?")
_JOB = re.compile(r"\[\d+\][+-]?")
_USER = re.compile(r"[a-z_][a-z0-9_.-]*[+$]?")
_NUMBER = re.compile(r"(?P<digits>[+-]?[0-9]+\.?[0-9]*)(?:(?P<scale>[KMGTP])i?B?|%)?")
_PATH = re.compile(r"(?![0-9/]+$)(?:~|[\w.+@%-]*/)\S*|[\w+-][\w.+-]*\.[A-Za-z][A-Za-z0-9]{0,7}")
_OWNERS, _LISTED = (2, 3), 8
"""Where a line of `ls -l` has owner and group, and from where on the name."""
_LONGEST_LINE, _LONGEST_WORD = 4096, 256
"""Of a line so much is looked back at, and longer words mean nothing [characters]."""


def number(text: str) -> float | None:
    """Return what a word is worth as a number; None: it is none. ``4.2K`` is 4300.8, ``27%`` is 27."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    return float(found["digits"]) * SCALES.get(found["scale"] or "", 1.0)


@dataclass(slots=True)
class _Line:
    """A line as far as it has been read."""

    text: str = ""
    """Its end, if it is long."""
    place: int = -1
    """Number of the field: what stands between blanks."""
    cell: str = ""
    """The field so far."""
    gap: bool = True
    """Whether the next character but a blank begins a field."""
    first: bool = True
    """Whether no blank has come yet, but for one behind a dash."""
    capital: bool = True
    """Whether all letters are capitals, as in a header."""
    listing: bool = False
    """Whether it is one of `ls -l`."""
    header: dict[int, Mark] = field(default_factory=dict)
    """What its columns are if it is a header."""
    named: list[str] = field(default_factory=list)
    """Words that are users if it is a row of a table."""
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=3))
    """The last words, in small letters."""


class Reader:
    """Reads one context, token by token, from its beginning."""

    def __init__(self) -> None:
        self._users = set(ACCOUNTS)
        self._columns: dict[int, Mark] = {}
        self._wide = 0  # fields of the header that told of them
        self._words, self._lines, self._section = 0, 0, 0
        self._word, self._escape = "", ""
        self._line = _Line()

    def read(self, text: str | None) -> Note:
        """Return what the next token is.

        Args:
            text: What it adds to the text; None: it is a special token, which stands between messages.
        """
        if text is None:
            self._end_word()
            self._new_section()
            self._escape = ""
        note = Note(Mark.NONE, "", -1, self._lines, self._section)
        for kind, piece in self._pieces(text or ""):
            if kind == "word":
                self._go_on(piece)
                note = Note(self._mark(), self._word, self._words, self._lines, self._section)
                continue
            self._end_word()
            if kind == "end":
                self._end_line()
            elif kind == "blank":
                self._blank()
            else:
                self._go_on("", piece)
        return note

    def _pieces(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield words and what stands between; a backslash at the end of a token waits for the next one."""
        whole, self._escape = self._escape + text, ""
        at = 0
        while at < len(whole):
            found = _PIECE.match(whole, at)
            if found is None:  # nothing but a backslash at the end
                self._escape = whole[at:]
                return
            yield found.lastgroup or "", found[0]
            at = found.end()

    def _go_on(self, word: str, between: str = "") -> None:
        """Take a piece of a word, or what stands between words without a blank."""
        line, piece = self._line, word + between
        if line.gap:
            line.gap, line.cell = False, ""
            line.place += 1
        self._word += word
        line.cell += piece
        line.text = (line.text + piece)[-_LONGEST_LINE:]
        line.capital = line.capital and piece == piece.upper()

    def _blank(self) -> None:
        line = self._line
        if line.gap:
            return
        line.gap = True
        if (line.first and _BEGINS.fullmatch(line.text)) or _KEY.search(line.text[-_LONGEST_WORD:]):
            self._new_section()
            return
        line.first = line.text == "-"
        line.text += " "

    def _end_word(self) -> None:
        if not self._word:
            return
        line = self._line
        if self._mark() is Mark.USER and not self._word.isdigit():
            line.named.append(self._word)
        if self._word in COLUMNS:
            line.header[line.place] = COLUMNS[self._word]
        line.listing = line.listing or (line.place == 0 and _MODE.fullmatch(line.cell) is not None)
        line.recent.append(self._word.lower())
        self._word = ""
        self._words += 1

    def _end_line(self) -> None:
        line = self._line
        # A line that is shorter than its header is no part of the table: nobody is named in it.
        if line.listing or (self._columns and line.place + 1 >= self._wide):
            self._users.update(line.named)
        elif line.place < 0 or _RULE.fullmatch(line.text.strip()):
            self._columns = {}
            self._section += 1
        elif line.capital and line.place > 0 and line.header:
            self._columns, self._wide = line.header, line.place + 1
        else:
            self._columns = {}
        self._new_line()

    def _new_section(self) -> None:
        self._section += 1
        self._columns = {}
        self._new_line()

    def _new_line(self) -> None:
        self._lines += 1
        self._line = _Line()

    def _mark(self) -> Mark:
        """Return what the word is, as far as it has been read."""
        word, line = self._word, self._line
        if len(word) > _LONGEST_WORD:
            return Mark.NONE
        column = Mark.NONE if line.listing else self._columns.get(line.place, Mark.NONE)
        owner = column is Mark.USER or (line.listing and line.place in _OWNERS)
        if word in self._users or (owner and word == line.cell and _USER.fullmatch(word)):
            return Mark.USER
        if number(word) is not None:
            return Mark.PID if word.isdigit() and (column is Mark.PID or self._process()) else Mark.NUMBER
        if (line.listing and line.place >= _LISTED and word != "-") or _PATH.fullmatch(word):
            return Mark.PATH
        return Mark.NONE

    def _process(self) -> bool:
        """Return whether what was said before the number means a process."""
        line = self._line
        before = line.recent[-1] if line.recent else ""
        job = line.place == 1 and _JOB.match(line.text) is not None
        return job or before in {"pid", "ppid", "process", "--pid"} or "kill" in line.recent


def texts(tokenizer: Any) -> list[str | None]:
    """Return what each token adds to a text, None for special tokens.

    A token is read behind another one, for some tokenizers leave out the blank that a text begins with.
    """
    ids = range(len(tokenizer))
    special = set(tokenizer.all_special_ids)
    anchor = tokenizer("a", add_special_tokens=False)["input_ids"][-1:]
    before = len(_decoded(tokenizer, [anchor])[0])
    found = _decoded(tokenizer, [[*anchor, each] for each in ids])
    return [None if each in special else text[before:] for each, text in zip(ids, found, strict=True)]


def _decoded(tokenizer: Any, rows: list[list[int]]) -> list[str]:
    return list(tokenizer.batch_decode(rows, clean_up_tokenization_spaces=False))
