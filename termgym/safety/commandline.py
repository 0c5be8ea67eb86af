"""Read a shell command line as the programs it would run, without running anything.

The reading is for the reward: it informs, it is not the fence (the sandbox is). It sees through launchers, ``-c``
strings, ``eval``, substitutions, pipelines into a shell, literal variables and here-documents. What only running can
tell (the value of a variable from outside, a name put together at run time) it does not know.

The grammar is tree-sitter's. It recovers from errors, but some texts cost it time that grows with their square, so a
text too long is read line by line with a coarser eye: a bound, not a clock, so the same text always gets the same
answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from rolf.shell_grammar import parse, readable
from termgym.safety.calls import Call, CommandLine
from termgym.safety.launchers import launched, program
from termgym.safety.remembering import remembered
from termgym.safety.roughly import statements
from termgym.safety.scripts import Around, executed, scripts, with_input
from termgym.safety.shelltree import VISITS, leaves, programs, source, substitutions, without_heredocs
from termgym.safety.words import Words

PARSE_LIMIT = 8_192
"""Longest text for the grammar [bytes]; at twice this some texts take half a second."""
DEPTH_LIMIT = 4
"""How deep a script in a script is read."""
CALL_LIMIT = 5_000
"""Most calls taken from one text."""
LOOK_LIMIT = 50_000
"""Most nodes looked at for programs inside others: substitutions in substitutions would cost the square of a text."""


@remembered
def read(text: str, directory: str | None = None) -> CommandLine:
    """Return what a command line would run. Never raises, whatever the text.

    Args:
        directory: Where the shell stands before it.
    """
    reader = _Reader(directory)
    reader.read(text, 0, Around())
    return CommandLine(tuple(reader.calls), tuple(dict.fromkeys(reader.bombs)))


class _Mark(NamedTuple):
    """Where, in the order of the text, something begins or ends whose ``cd`` its surroundings do not follow."""

    begins: bool
    function: str = ""
    """The function whose body ends here: a call of it goes where the body has gone."""


_Visit = tuple[Node | _Mark, Around]


class _Reader:
    """Walks the tree and gathers calls. Iterative: a hostile text nests deeper than Python's stack."""

    def __init__(self, directory: str | None) -> None:
        self.calls: list[Call] = []
        self.bombs: list[str] = []
        self._words = Words()
        self._directory = directory
        self._moves: dict[str, str | None] = {}
        """Where functions have gone by their end."""
        self._looks = LOOK_LIMIT

    def read(self, text: str, depth: int, around: Around) -> None:
        data = readable(text).replace(b"${IFS}", b" ").replace(b"$IFS", b" ")
        if len(data) > PARSE_LIMIT:
            data = without_heredocs(data.decode("utf-8", "replace")).encode()
        if len(data) > PARSE_LIMIT:
            self._read_roughly(without_heredocs(data.decode("utf-8", "replace")), depth)
            return
        root = parse(data).root_node
        if root.has_error:  # the tree holds what was understood; the coarser eye may catch what was not
            stood = self._directory
            self._read_roughly(without_heredocs(data.decode("utf-8", "replace")), depth)
            self._directory = stood
        stack: list[_Visit] = [(root, around)]
        entered: list[tuple[str | None, dict[str, str]]] = []
        while stack and len(self.calls) < CALL_LIMIT:
            node, around = stack.pop()
            if not isinstance(node, _Mark):
                stack.extend(reversed(list(self._visit(node, around, depth))))
            elif node.begins:
                entered.append((self._directory, dict(self._words.variables)))
            else:
                self._leave(node, *entered.pop())

    def _leave(self, mark: _Mark, directory: str | None, variables: dict[str, str]) -> None:
        """Go back to where something began; what a function's body sets stays known, for the body may be called."""
        if not mark.function:
            self._words.variables = variables
        elif self._directory != directory:
            self._moves[mark.function] = self._directory
        self._directory = directory

    def _visit(self, node: Node, around: Around, depth: int) -> Iterator[_Visit]:
        """Take in one node; yield those to visit next with what surrounds each."""
        match node.type:
            case "command":
                self._command(node, around, depth)
                yield from ((each, Around()) for each in substitutions(node))
            case "redirected_statement":
                yield from self._redirected(node, around)
            case "pipeline":
                yield from self._pipeline(node, around)
            case "test_command":
                self._add("[", tuple(self._words.read(each) for each in leaves(node)), around, elevated=False)
            case "declaration_command" | "unset_command":
                words = [self._words.read(each) for each in node.children]
                self._add(words[0], tuple(words[1:]), around, elevated=False)
                yield from ((each, Around()) for each in node.named_children)
            case "variable_assignment":
                self._assign(node, around)
                yield from ((each, Around()) for each in substitutions(node))
            case "function_definition":
                self._function(node)
                name = node.child_by_field_name("name")
                body = ((each, Around()) for each in node.named_children)
                yield from _apart(body, "" if name is None else source(name))
            case "comment" | "heredoc_body" | "raw_string":
                return
            case "for_statement":
                self._loop(node)
                yield from ((each, around) for each in node.named_children)
            case "subshell" | "command_substitution" | "process_substitution":
                yield from _apart(_commands(node, around))
            case _:
                yield from _commands(node, around)

    def _command(self, node: Node, around: Around, depth: int) -> None:
        words: list[str] = []
        for child in node.children:
            if child.type == "command_name":
                words.append(self._words.read(child.children[0]) if child.children else source(child))
            elif child.type == "herestring_redirect":
                around = around._replace(
                    stdin=self._words.read(child.named_children[0]) if child.named_children else ""
                )
            elif child.type == "file_redirect":
                around = self._with_redirect(child, around)
            elif child.type != "variable_assignment":
                words.append(self._words.read(child))
        inner = [name for each in substitutions(node) for name in self._programs(each)]
        self.call(words, around._replace(substituted=tuple(inner)), depth)

    def call(self, words: Sequence[str], around: Around, depth: int) -> None:
        """Take in a command given as words, and what it starts in turn."""
        argv, through, elevated = launched(words)
        if not argv:
            return
        name, args = program(argv[0]), argv[1:]
        if "xargs" in through:
            args = with_input(args, around.upstream)
        self._add(name, args, around, elevated=elevated)
        if name == "cd" and _IN_THIS_SHELL.issuperset(through):
            self._change_directory(next((each for each in args if not each.startswith("-")), "~"))
        elif name in self._moves:
            self._directory = self._moves[name]
        if depth < DEPTH_LIMIT:
            stood = self._directory
            for script in scripts(name, args, around):
                self.read(script, depth + 1, Around())
                self._directory = self._directory if name == "eval" else stood
            for inner in executed(name, args):
                self.call(inner, Around(), depth + 1)

    def _change_directory(self, target: str) -> None:
        if target.startswith(("/", "~")):
            self._directory = target
        elif "$" in target or self._directory is None:
            self._directory = None
        else:
            self._directory = f"{self._directory}/{target}"

    def _add(self, name: str, args: tuple[str, ...], around: Around, *, elevated: bool) -> None:
        own = (around.writes, around.reads, around.upstream, around.substituted)
        self.calls.append(Call(name, args, *own, self._directory, elevated))

    def _redirected(self, node: Node, around: Around) -> Iterator[_Visit]:
        body = node.child_by_field_name("body")
        beside: list[Node] = []
        for child in node.children:
            if child.type == "file_redirect":
                around = self._with_redirect(child, around)
            elif child.type == "herestring_redirect" and child.named_children:
                around = around._replace(stdin=self._words.read(child.named_children[0]))
            elif child.type == "heredoc_redirect":
                for part in child.named_children:
                    if part.type == "heredoc_body":
                        around = around._replace(stdin=source(part))
                    elif part.type not in ("heredoc_start", "heredoc_end"):
                        beside.append(part)  # cat <<E | sh: the rest of the line hangs here in the tree
        if body is not None:
            yield body, around
            before = (*around.upstream, self._argv(body))
            yield from ((each, Around(upstream=before, stdin=around.stdin)) for each in beside)
        elif around.writes or around.reads:
            self._add("", (), around, elevated=False)  # a redirection alone still empties a file

    def _with_redirect(self, node: Node, around: Around) -> Around:
        operator = next((each.type for each in node.children if not each.is_named), "")
        targets = tuple(self._words.read(each) for each in node.children_by_field_name("destination"))
        if operator.startswith("<"):
            return around._replace(reads=(*around.reads, *targets))
        return around._replace(writes=(*around.writes, *targets))

    def _pipeline(self, node: Node, around: Around) -> Iterator[_Visit]:
        before = around.upstream
        for index, child in enumerate(node.named_children):
            yield from _apart([(child, around if index == 0 else Around(upstream=before))])
            before = (*before, self._argv(child))[-8:]

    def _argv(self, node: Node) -> tuple[str, ...]:
        """Return the words of the command that a stage of a pipeline is, launchers removed."""
        while node.type != "command":
            if not node.named_children:
                return ()
            node = node.named_children[-1 if node.type in ("list", "compound_statement", "subshell") else 0]
        words = [
            self._words.read(each.children[0] if each.type == "command_name" and each.children else each)
            for each in node.named_children
            if each.type != "variable_assignment"
        ]
        argv = launched(words).argv
        return (program(argv[0]), *argv[1:]) if argv else ()

    def _programs(self, node: Node) -> list[str]:
        """Return the names of the programs below a node, as long as few enough nodes were looked at."""
        self._looks -= min(VISITS, node.descendant_count)
        return programs(node) if self._looks >= 0 else []

    def _assign(self, node: Node, around: Around) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        text = self._words.read(value) if value is not None and value.type != "array" else ""
        self._words.variables[source(name)] = text
        self._add("=", (f"{source(name)}={text}",), around, elevated=False)

    def _loop(self, node: Node) -> None:
        name = node.child_by_field_name("variable")
        values = node.children_by_field_name("value")
        if name is not None and values:
            self._words.variables[source(name)] = self._words.read(values[0])

    def _function(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return
        own = self._programs(body).count(source(name))
        if own > 1 or (own == 1 and re.search(r"(?<![&>])&(?![&>])", source(body))):
            self.bombs.append(source(name))

    def _read_roughly(self, text: str, depth: int) -> None:
        """Take in a text statement by statement."""
        stood: list[str | None] = []
        for statement in statements(text):
            if len(self.calls) >= CALL_LIMIT:
                return
            for bracket in statement.before:
                if bracket == "(":
                    stood.append(self._directory)
                elif bracket == ")" and stood:
                    self._directory = stood.pop()
            if statement.words:
                around = Around(writes=statement.writes, upstream=statement.upstream)
                self.call(statement.words, around, max(depth, DEPTH_LIMIT - 1))


_IN_THIS_SHELL = frozenset({"command", "builtin", "time", "!"})
"""Launchers that start a builtin where they stand."""


def _apart(visits: Iterable[_Visit], function: str = "") -> Iterator[_Visit]:
    """Yield visits between two marks."""
    yield _Mark(True), Around()
    yield from visits
    yield _Mark(False, function), Around()


def _commands(node: Node, around: Around) -> Iterator[_Visit]:
    """Yield what is inside a node; what ends with ``&`` runs in a shell of its own."""
    children = node.children
    for index, child in enumerate(children, start=1):
        if child.is_named:
            in_background = index < len(children) and children[index].type == "&"
            yield from _apart([(child, around)]) if in_background else [(child, around)]
