"""Words: which paths the text of a shell command names, and whether it may read or write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import lru_cache
from posixpath import dirname, join, normpath
from typing import NamedTuple

from tree_sitter import Node

from rolf.shell_grammar import parse, readable

READ_LIMIT = 8_192
"""How much of a text is read [bytes]: the grammar needs time that grows with the square of some texts."""
MOST_NODES = 20_000
"""Nodes of a command's syntax tree that are looked at: a hostile text may have millions."""
_MOST_PATTERNS = 64
_WORDS = ("word", "string", "raw_string", "concatenation", "simple_expansion", "expansion", "ansi_c_string")
_OVERWRITES = (">", ">|", "&>", ">&")
_APPENDS = (">>", "&>>", "<>")
_PATTERN = re.compile(r"[*?\[]")


class Word(NamedTuple):
    """A path, or a pattern of paths, that a command names."""

    path: str
    """Absolute."""
    below: bool
    """Whether what lies in it is meant too, if it is a folder."""
    read: bool = True
    """False: it is only written over."""
    written: bool = False
    """Whether output is redirected to it. What programs do with their operands is not known."""


class Meant:
    """What words mean, all together.

    Args:
        words: The words; of patterns the first 64, which is more than anybody types.
        inside: Whether a folder's name stands for what is in it too.
    """

    def __init__(self, words: Iterable[Word], *, inside: bool = True) -> None:
        given = list(words)
        plain = [word for word in given if not _PATTERN.search(word.path)]
        self._paths = {word.path for word in plain}
        self._folders = {word.path for word in plain if word.below} if inside else set()
        patterns = dict.fromkeys((word.path, word.below and inside) for word in given if _PATTERN.search(word.path))
        self._patterns = [(path.split("/"), deep) for path, deep in patterns][:_MOST_PATTERNS]

    def __contains__(self, path: str) -> bool:
        if path in self._paths:
            return True
        above = path
        while self._folders and len(above) > 1:
            above = dirname(above)
            if above in self._folders:
                return True
        return any(_fits(path.split("/"), parts, deep) for parts, deep in self._patterns)


def _fits(path: list[str], pattern: list[str], deep: bool) -> bool:
    """Return whether a path, or if ``deep`` a folder above it, fits a pattern, name by name."""
    long_enough = len(path) >= len(pattern) if deep else len(path) == len(pattern)
    return long_enough and all(_compiled(part).match(name) for name, part in zip(path, pattern, strict=False))


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def named_in(command: str, cwd: str, home: str) -> list[Word]:
    """Return what a command names, in the order in which it is written.

    Args:
        command: Its text; what stands behind its first 8 192 bytes is not looked at.
        cwd: Where the shell stands; ``cd`` in the command moves it from there on.
        home: What ``~`` is.
    """
    root = parse(readable(command)[:READ_LIMIT]).root_node
    found: list[Word] = []
    for node in _commands(root):
        words = [_text(child, cwd, home) for child in _operands(node)]
        if node.type == "file_redirect":
            operators = {child.type for child in node.children if not child.is_named}
            over, append = bool(operators & {*_OVERWRITES}), bool(operators & {*_APPENDS})
            found += [Word(normpath(join(cwd, word)), False, not over, over or append) for word in words]
        elif words and words[0] == "cd":
            cwd = normpath(join(cwd, words[1] if len(words) > 1 else home))
            found.append(Word(cwd, False))
        else:
            # A first word without a slash is a program that is looked for, or a function.
            program = node.type == "command" and bool(words) and "/" not in words[0]
            paths = [path for word in words[program:] for path in _paths(word, cwd)]
            found += [Word(path, _is_folder_word(path, home)) for path in paths]
    return found


def _is_folder_word(path: str, home: str) -> bool:
    """Return whether a folder of this name stands for what is in it: one above the home stands for nearly all."""
    return not (home + "/").startswith(path.rstrip("/") + "/")


def _commands(root: Node) -> Iterator[Node]:
    """Yield commands and redirections in the order in which they are written."""
    stack = [root]
    for _ in range(MOST_NODES):
        if not stack:
            return
        node = stack.pop()
        if node.type in ("command", "file_redirect", "test_command", "for_statement"):
            yield node
        stack.extend(reversed(node.named_children))


def _operands(node: Node) -> list[Node]:
    """Return the words of a command, or the file of a redirection."""
    words: list[Node] = []
    stack = list(reversed(node.named_children))
    while stack:
        child = stack.pop()
        if child.type in _WORDS:
            words.append(child)
        elif child.type in ("command_name", "unary_expression", "binary_expression"):
            stack.extend(reversed(child.named_children))
    return words


def _text(node: Node, cwd: str, home: str) -> str:
    """Return a word as the shell would hand it over, as far as that can be told without running it."""
    text = (node.text or b"").decode("utf-8", "surrogateescape")
    quoted = text[:1] in ("'", '"') and len(text) > 1
    plain = text[1:-1] if quoted else re.sub(r"""["'\\]""", "", text)
    if not quoted and (plain == "~" or plain.startswith("~/")):
        plain = home + plain[1:]
    for name, value in (("HOME", home), ("PWD", cwd)):
        plain = plain.replace(f"${{{name}}}", value).replace(f"${name}", value)
    return plain


def _paths(word: str, cwd: str) -> list[str]:
    """Return the paths that a word may be: itself, and what stands behind an equals sign."""
    head, equals, tail = word.partition("=")
    candidates = [tail] if equals and head.startswith("-") else [word, tail] if equals else [word]
    return [normpath(join(cwd, each)) for each in candidates if each and not each.startswith("-")]
