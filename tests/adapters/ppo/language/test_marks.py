"""What the words of real outputs are marked as, worked out by hand."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from file_tasks import words
from hypothesis import given
from hypothesis import strategies as st

from rolf.interface.layouts import LAYOUTS
from rolf.interface.section import Role, Section
from rolf_adapters.ppo.language.marks import Mark, Note, Reader, number, texts

# Outputs of TermEnv-v1 and of a machine with several users.
PS = """\
USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           1  0.0  0.0   3376  1744 pts/0    SN   20:37   0:00 /usr/bin/bwra
games       8123  4.2  0.0   4360  3408 pts/0    SN   20:37   0:00 bash --norc -
"""
PS_EF = """\
UID          PID    PPID  C STIME TTY          TIME CMD
root           1       0  0 20:37 pts/0    00:00:00 /usr/bin/bwrap --args 239 --
agent          2       1  0 20:37 pts/0    00:00:00 bash --norc --noprofile --no
"""
LS = """\
total 44
lrwxrwxrwx   1 root  root      7 Nov 30 20:37 bin -> usr/bin
-rw-r--r--   1 mira  staff 36115 Nov 30 20:21 my notes
"""
DF = """\
Filesystem     1K-blocks     Used Available Use% Mounted on
/dev/vda       264212084 27701400  78689512  27% /usr
"""
JOBS = "[1] 11\n[2]+ 12\n"


def notes(text: str, pattern: str = r"\s*\S+|\s+") -> list[tuple[str, Note]]:
    """Return the notes of a text that is cut as a pattern says, blanks in front of words."""
    reader = Reader()
    return [(token, reader.read(token)) for token in re.findall(pattern, text)]


def marked(text: str) -> list[tuple[str, str]]:
    """Return the marked words of a text with their marks."""
    return [(note.text, note.mark.name) for _, note in notes(text) if note.mark]


def test_processes_have_users_and_ids_by_the_header() -> None:
    """A small number is a process's id where it stands in that column, and a large one is not where it does not."""
    assert marked(PS)[:11] == [
        ("root", "USER"),
        ("1", "PID"),
        ("0.0", "NUMBER"),
        ("0.0", "NUMBER"),
        ("3376", "NUMBER"),
        ("1744", "NUMBER"),
        ("pts/0", "PATH"),
        ("37", "NUMBER"),
        ("00", "NUMBER"),
        ("/usr/bin/bwra", "PATH"),
        ("games", "USER"),
    ]
    assert marked(PS)[11] == ("8123", "PID")
    assert [mark for mark in marked(PS_EF) if mark[1] in ("USER", "PID")] == [
        ("root", "USER"),
        ("1", "PID"),
        ("0", "PID"),
        ("agent", "USER"),
        ("2", "PID"),
        ("1", "PID"),
    ]


def test_files_have_owners_and_names_by_the_mode() -> None:
    """A name without any slash or point is a path there, and each word of it is."""
    assert marked(LS) == [
        ("44", "NUMBER"),
        ("1", "NUMBER"),
        ("root", "USER"),
        ("root", "USER"),
        ("7", "NUMBER"),
        ("30", "NUMBER"),
        ("37", "NUMBER"),
        ("bin", "PATH"),
        ("usr/bin", "PATH"),
        ("1", "NUMBER"),
        ("mira", "USER"),
        ("staff", "USER"),
        ("36115", "NUMBER"),
        ("30", "NUMBER"),
        ("21", "NUMBER"),
        ("my", "PATH"),
        ("notes", "PATH"),
    ]


def test_sizes_and_shares_are_numbers() -> None:
    """Whatever unit stands behind them."""
    assert marked(DF) == [
        ("/dev/vda", "PATH"),
        ("264212084", "NUMBER"),
        ("27701400", "NUMBER"),
        ("78689512", "NUMBER"),
        ("27%", "NUMBER"),
        ("/usr", "PATH"),
    ]
    assert [number(text) for text in ("4.2K", "27%", "-3", "1.", "12Gi", "3x", "20:37", "")] == [
        4300.8,
        27.0,
        -3.0,
        1.0,
        12 * 2.0**30,
        None,
        None,
        None,
    ]


def test_numbers_that_are_spoken_of_as_processes_are_ids() -> None:
    """In commands, in questions and in what a shell says of its jobs."""
    assert ("812", "PID") in marked("kill -9 812\n")
    assert ("-9", "NUMBER") in marked("kill -9 812\n")
    assert ("812", "PID") in marked('{"command": "kill 812"}')
    assert ("812", "PID") in marked("who owns PID 812?")
    assert [mark for mark in marked(JOBS) if mark[1] == "PID"] == [("11", "PID"), ("12", "PID")]
    assert ("812", "NUMBER") in marked("head -n 812")


def test_who_was_named_in_a_table_is_known_from_then_on() -> None:
    """Before it nobody could know, and a mark is never taken back."""
    asked = "what does games run?\n"
    assert ("games", "USER") not in marked(asked)
    assert ("games", "USER") in marked(PS + "\n" + asked)
    assert ("mira", "USER") in marked(LS + "\nwho is mira?")


def test_what_follows_a_table_is_no_part_of_it() -> None:
    """One line may be taken for one; the next is not, and no name is learned from it."""
    assert marked(PS + "total 4\nhello 5\ntotal of games\n")[-4:] == [
        ("total", "USER"),
        ("4", "PID"),
        ("5", "NUMBER"),
        ("games", "USER"),
    ]


def test_a_word_that_is_cut_is_marked_as_far_as_it_goes() -> None:
    """The last token of a number has its value; whether more follows, none but the next token knows."""
    cut = [(note.text, note.mark) for _, note in notes(f"{PS}games 12345 x", r"\d|[a-z]{1,3}|.|\n")]
    digits = [each for each in cut[-8:] if each[1]]
    assert digits[-5:] == [(text, Mark.PID) for text in ("1", "12", "123", "1234", "12345")]
    assert cut[-1] == ("x", Mark.NONE)
    halves = [note for _, note in notes("/usr/bin", r"..")]
    assert [note.text for note in halves] == ["/u", "/usr", "/usr/b", "/usr/bin"]
    assert {note.word for note in halves} == {0}


def sections() -> list[Section]:
    return [
        Section("stdout", PS, Role.OUTPUT),
        Section("stderr", "bash: nothing: not found 7\n", Role.OUTPUT),
        Section("exit_code", 127),
        Section("cwd", "/home/agent", Role.PLACE),
    ]


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_what_an_observation_tells_apart_are_sections(layout: str) -> None:
    """In every layout; what is in a table is marked in all of them, and what is not in it is in another section.

    In a transcript output and error stream follow each other, as in a terminal.
    """
    reader = Reader()
    reader.read(None)
    text = LAYOUTS[layout](sections(), "ps aux")
    found = [reader.read(token) for token in re.findall(r"\s*[^\s\"\\]+|.|\n", text)]
    where = {note.text: note.section for note in found if note.mark}
    ids = [note for note in found if note.mark is Mark.PID and note.text == "8123"]
    (row,) = ids
    assert any(note.text == "games" and note.line == row.line for note in found)
    assert where["127"] != row.section
    assert (where["7"] != row.section) is (layout != "transcript")


def test_a_message_is_a_section_of_its_own() -> None:
    """Special tokens stand between messages; a line ends with them."""
    reader = Reader()
    before, mark, after = reader.read("812"), reader.read(None), reader.read("812")
    assert before.section < after.section
    assert before.line < after.line
    assert before.word != after.word
    assert mark.mark is Mark.NONE


def test_an_escaped_line_ends_a_line() -> None:
    """As JSON writes it, wherever it is cut."""
    for pattern in (r".", r"..?", r".{3}|.+", r"\\?\w+|."):
        found = [note for _, note in notes(json.dumps(PS), pattern)]
        ids = {(note.word, note.line): note.text for note in found if note.mark is Mark.PID}
        assert [(line, text) for (_, line), text in ids.items()] == [(1, "1"), (2, "8123")]


@given(st.lists(st.text(alphabet='aroot019 .\n/\\n"{}[]$:-%ABPID', max_size=6), max_size=30), st.integers(0, 30))
def test_nothing_that_follows_changes_a_mark(tokens: list[str], count: int) -> None:
    """Of any text, cut anywhere."""
    one, other = Reader(), Reader()
    whole = [one.read(token) for token in tokens]
    assert [other.read(token) for token in tokens[:count]] == whole[:count]


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    """Whatever programs write; a word is numbered once, and lines and sections only ever go on."""
    found = [note for _, note in notes(text, r"(?s)..?")]
    for one, other in pairwise(found):
        assert one.line <= other.line
        assert one.section <= other.section


def test_tokens_are_read_as_they_stand_in_a_text() -> None:
    """Blanks in front of words too; what stands between messages is no text."""
    tokenizer = words()
    told = texts(tokenizer)
    assert len(told) == len(tokenizer)
    said = "create file a.txt with text hello\n/home/agent$ "
    assert "".join(told[each] or "" for each in tokenizer(said)["input_ids"]) == said
    assert told[tokenizer.eos_token_id] is None
