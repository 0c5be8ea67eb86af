"""Words of a command line after expansion and quote removal, as far as the text tells."""

from __future__ import annotations

import re

from tree_sitter import Node

from termgym.safety.shelltree import ansi_c, source


class Words:
    """Reads words where some variables are known. ``$HOME`` is ``~``; what is unknown stays as it is written."""

    def __init__(self) -> None:
        self.variables: dict[str, str] = {}
        """What the text has set so far."""

    def read(self, node: Node) -> str:
        """Return a word as the shell would see it."""
        match node.type:
            case "string":
                text = "".join(self.read(each) for each in node.children[1:-1])
                return f"./{text}" if text.startswith("~") and node.children[1].type == "string_content" else text
            case "string_content":
                return re.sub(r'\\([$`"\\\n])', lambda found: found[1].strip("\n"), source(node))
            case "raw_string":
                text = source(node)[1:-1]
                return f"./{text}" if text.startswith("~") else text
            case "ansi_c_string":
                return ansi_c(source(node)[2:-1])
            case "concatenation":
                return "".join(self.read(each) for each in node.children)
            case "simple_expansion" | "expansion":
                return self._expanded(source(node))
            case "command_substitution":
                return "$(…)"
            case "process_substitution":
                return "<(…)"
            case _:
                return re.sub(r"\\(.)", r"\1", source(node).replace("\\\n", ""))

    def _expanded(self, written: str) -> str:
        name = written.strip("${}").partition(":")[0]
        if name == "HOME":
            return "~"
        plain = re.fullmatch(r"\$\{?\w+\}?|\$\{\w+:.*", written)
        return self.variables.get(name, written) if plain else written
