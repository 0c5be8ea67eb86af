"""No text that an agent writes ends the process that reads it, and every word is read as it was written."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import tree_sitter_bash
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Language, Node, Parser

from rolf.shell_grammar import parse, readable
from termgym.safety.commandline import read

DEADLY = "\u0523\u04b1&{\U000cb647\u9b8e"
"""Ends a process that gives it to tree-sitter-bash 0.25.1 as it is."""
READERS = {
    "grammar": "from rolf.shell_grammar import parse, readable; parse(readable(text))",
    "safety": "from termgym.safety.commandline import read; read(text)",
    "lint": "from termgym.lint.commands import commands; commands(text)",
    "step": "import gymnasium, termgym; env = gymnasium.make('termgym:TermEnv-v1'); env.reset(seed=0); "
    "env.step(termgym.plan(text)); env.close()",
}
SYNTAX = st.sampled_from(["&", "{", "}", "(", ")", ";", "|", "<", ">", "<<", "$", "`", "'", '"', "\\", "=", "[[", "#"])
SHELL = st.lists(SYNTAX | st.sampled_from(["ls", "x", " ", "\n", "if", "then", "fi", "for"]), max_size=12).map("".join)
FOREIGN = st.characters(min_codepoint=0x80, exclude_categories=[])
MIXED = st.lists(SHELL | FOREIGN, max_size=8).map("".join)
WORDS = st.text(st.characters(min_codepoint=0x80, exclude_categories=["Cs"]), min_size=1, max_size=5)


def plainly(data: bytes) -> Node:
    """Return what the grammar itself says."""
    return Parser(Language(tree_sitter_bash.language())).parse(data).root_node


def outline(node: Node) -> list[tuple[str, int, int]]:
    """Return the kind and place of all nodes."""
    found, stack = [], [node]
    while stack:
        each = stack.pop()
        found.append((each.type, each.start_byte, each.end_byte))
        stack.extend(each.children)
    return found


@pytest.mark.parametrize("reader", sorted(READERS))
def test_a_deadly_text_is_survived(reader: str) -> None:
    program = f"import json, sys; text = json.loads(sys.argv[1]); {READERS[reader]}"
    done = subprocess.run([sys.executable, "-c", program, json.dumps(DEADLY)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@given(SHELL)
def test_a_text_of_ascii_is_read_as_the_grammar_reads_it(text: str) -> None:
    assert outline(parse(text.encode()).root_node) == outline(plainly(text.encode()))


@given(MIXED)
def test_the_grammar_is_shown_nothing_but_ascii(text: str) -> None:
    """A dot for each byte of another letter: then nothing is looked up beyond the C library's table."""
    data = readable(text)
    shown = bytes(each if each < 0x80 else ord(".") for each in data)
    assert outline(parse(data).root_node) == outline(plainly(shown))


@given(MIXED)
def test_what_nodes_hold_is_the_text_itself(text: str) -> None:
    data = readable(text)
    stack = [parse(data).root_node]
    while stack:
        node = stack.pop()
        assert node.text == data[node.start_byte : node.end_byte]
        stack.extend(node.children)


@given(WORDS, WORDS)
def test_other_letters_are_parts_of_words(first: str, second: str) -> None:
    """To bash none of them is a blank, whatever Unicode says of it, nor a part of a name."""
    (call,) = read(f"echo {first} a{second} {first}=1").calls
    assert (call.name, call.args) == ("echo", (first, f"a{second}", f"{first}=1"))
    (call,) = read(f"{first}=1 rm").calls
    assert (call.name, call.args) == (f"{first}=1", ("rm",))


@pytest.mark.parametrize("letter", ["é", "\xa0", "\u2003", "\u3000", "٣", "中", "😀"])
def test_bash_takes_the_same_words_apart(letter: str) -> None:
    script = f"""printf '<%s>' a{letter}b {letter} "{letter} c" {letter}=1 x{letter}=2 {letter}#3"""
    told = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    (call,) = read(script).calls
    assert "".join(f"<{each}>" for each in call.args[1:]) == told


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_texts_stay_as_they_are(text: str) -> None:
    assert readable(text) == text.encode()


@given(st.text(st.characters(exclude_categories=[])))
def test_every_text_can_be_read(text: str) -> None:
    """Half surrogates too, which no encoding holds."""
    read_back = readable(text).decode("utf-8", "surrogateescape")
    assert not any("\ud800" <= letter < "\udc80" or "\udd00" <= letter <= "\udfff" for letter in read_back)


def test_bytes_that_were_no_text_come_back() -> None:
    assert readable("caf\udce9\0") == b"caf\xe9"
