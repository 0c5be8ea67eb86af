"""Commands: the programs of a shell script with the line that each stands on, whether something decides over it, and
what its output runs into.

What a command line means is `termgym.safety.commandline`'s to say; here the script is taken apart into such lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from rolf.shell_grammar import parse, readable
from termgym.safety.commandline import read
from termgym.safety.shelltree import source

LONGEST = 32 << 10
"""Longest script that is taken apart [bytes]; the grammar's time may grow with the square."""
DEEPEST = 100
"""How deep blocks in blocks are looked into; nobody writes so, but for those who want to break the reader."""
_DECISIONS = frozenset(
    {"if_statement", "elif_clause", "else_clause", "case_item", "while_statement", "function_definition", "list"}
)
_WHOLE = ("command", "declaration_command", "test_command", "variable_assignment")


class Command(NamedTuple):
    """One program of a script."""

    line: int
    """From 1."""
    name: str
    args: tuple[str, ...]
    writes: tuple[str, ...] = ()
    """Files that redirections open for writing."""
    into: str = ""
    """The program that the next one of its pipeline is."""
    conditional: bool = False
    """Whether something decides that it runs, or that its failure does not matter."""

    @property
    def text(self) -> str:
        """The command as one line of text."""
        return " ".join((self.name, *self.args))


def commands(script: str, first: int = 1) -> list[Command]:
    """Return the programs that a script starts, in the order of its text.

    Args:
        script: Its text; of one that is too long only the beginning is looked at.
        first: The line that it begins on.
    """
    root = parse(readable(script)[:LONGEST]).root_node
    return list(_below(root, first))


def _below(node: Node, first: int, conditional: bool = False, depth: int = 0) -> Iterator[Command]:
    """Yield the programs below a node."""
    for each in node.named_children if depth < DEEPEST else ():
        body = each.child_by_field_name("body") if each.type == "redirected_statement" else each
        if body is not None and body.type in _WHOLE:
            for call in read(source(each)).calls:
                line = first + each.start_point.row
                yield Command(line, call.name, call.args, call.writes, "", conditional)
        elif each.type == "pipeline":
            yield from _pipeline(each, first, conditional, depth + 1)
        else:
            yield from _below(each, first, conditional or each.type in _DECISIONS, depth + 1)


def _pipeline(node: Node, first: int, conditional: bool, depth: int) -> Iterator[Command]:
    parts = [list(_stage(each, first, conditional, depth)) for each in node.named_children]
    for part, following in zip(parts, [*parts[1:], []], strict=True):
        into = following[0].name if following else ""
        yield from (each._replace(into=into) for each in part)


def _stage(node: Node, first: int, conditional: bool, depth: int) -> Iterator[Command]:
    if node.type in _WHOLE or node.type == "redirected_statement":
        for call in read(source(node)).calls:
            yield Command(first + node.start_point.row, call.name, call.args, call.writes, "", conditional)
    else:
        yield from _below(node, first, conditional or node.type in _DECISIONS, depth)
