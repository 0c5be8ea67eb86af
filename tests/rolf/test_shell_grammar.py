"""No text that an agent writes ends the process that reads it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolf.shell_grammar import readable

DEADLY = "\u0523\u04b1&{\U000cb647\u9b8e"
"""Ends a process that gives it to tree-sitter-bash 0.25.1 as it is."""
READERS = {
    "grammar": "import tree_sitter, tree_sitter_bash; from rolf.shell_grammar import readable; "
    "tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())).parse(readable(text))",
    "safety": "from termgym.safety.commandline import read; read(text)",
    "lint": "from termgym.lint.commands import commands; commands(text)",
    "step": "import gymnasium, termgym; env = gymnasium.make('termgym:TermEnv-v1'); env.reset(seed=0); "
    "env.step(termgym.plan(text)); env.close()",
}


@pytest.mark.parametrize("reader", sorted(READERS))
def test_a_deadly_text_is_survived(reader: str) -> None:
    program = f"import json, sys; text = json.loads(sys.argv[1]); {READERS[reader]}"
    done = subprocess.run([sys.executable, "-c", program, json.dumps(DEADLY)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"], exclude_characters="\0")))
def test_texts_of_the_basic_plane_stay_as_they_are(text: str) -> None:
    assert readable(text) == text.encode()


@given(st.text(st.characters(exclude_categories=[])))
def test_every_text_can_be_read(text: str) -> None:
    """Half surrogates too, which no encoding holds."""
    read_back = readable(text).decode("utf-8", "surrogateescape")
    assert all(len(letter.encode("utf-8", "surrogateescape")) < 4 for letter in read_back)


def test_bytes_that_were_no_text_come_back() -> None:
    assert readable("caf\udce9\0") == b"caf\xe9"
