"""Small questions to a shell syntax tree and to shell text, asked by `termgym.safety.commandline`."""

from __future__ import annotations

import re

from tree_sitter import Node

from termgym.safety.launchers import program

VISITS = 500
"""Most nodes that one question looks at; nested questions would cost the square of a hostile text."""


def source(node: Node) -> str:
    """Return a node's text as it is written."""
    return (node.text or b"").decode("utf-8", "replace")


def ansi_c(text: str) -> str:
    """Return what ``$'…'`` holds: the escapes that can hide a character."""
    named = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}

    def character(found: re.Match[str]) -> str:
        octal, hexadecimal, single = found.groups()
        if octal:
            return chr(int(octal, 8) % 256)
        return chr(int(hexadecimal, 16)) if hexadecimal else named.get(single, single)

    return re.sub(r"\\(?:([0-7]{1,3})|[xu]([0-9a-fA-F]{1,4})|(.))", character, text)


def leaves(node: Node) -> list[Node]:
    """Return the words and operators in a test, in order."""
    found: list[Node] = []
    stack = [node]
    for _ in range(VISITS):
        if not stack:
            break
        each = stack.pop()
        if each.type in ("test_operator", "word", "string", "raw_string", "concatenation", "simple_expansion"):
            found.append(each)
        else:
            stack.extend(reversed(each.named_children))
    return found


def substitutions(node: Node) -> list[Node]:
    """Return the substitutions among a command's words, not those inside them."""
    found: list[Node] = []
    stack = list(reversed(node.named_children))
    for _ in range(VISITS):
        if not stack:
            break
        each = stack.pop()
        if each.type in ("command_substitution", "process_substitution"):
            found.append(each)
        elif each.type != "command" and each.named_child_count:
            stack.extend(reversed(each.named_children))
    return found


def programs(node: Node) -> list[str]:
    """Return the names of the programs anywhere below a node, as written."""
    found: list[str] = []
    stack = [node]
    for _ in range(VISITS):
        if not stack:
            break
        each = stack.pop()
        if each.type == "command_name":
            found.append(program(source(each)))
        stack.extend(reversed(each.named_children))
    return found


def without_heredocs(text: str) -> str:
    """Return a text without the bodies of its here-documents; one pass, line by line."""
    kept: list[str] = []
    ends: list[str] = []
    for line in text.split("\n"):
        if ends:
            if line.strip("\t") == ends[0]:
                ends.pop(0)
            continue
        kept.append(line)
        ends = re.findall(r"(?<!<)<<-?[ \t]*\\?['\"]?([\w.-]{1,64})", line)[:64]
    return "\n".join(kept)
