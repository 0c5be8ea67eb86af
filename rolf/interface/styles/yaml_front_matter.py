"""Calls as a document with front matter: the tool and its parameters in YAML, the main text below.

The YAML is of the core schema of version 1.2 (https://yaml.org/spec/1.2.2/#103-core-schema): ``no`` and ``on`` are
text, ``010`` is ten, and there are no dates; a command that is misread by an old rule would be a silent guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from rolf.interface.call import CallError, shown
from rolf.interface.jsontext import written
from rolf.interface.style import Named, Style
from rolf.interface.tool import Tool
from rolf.interface.wording import bullets, usage

RULE = re.compile(r"^---[ \t\r]*$", re.MULTILINE)
HEAD_LIMIT = 1 << 14
"""Longest front matter [characters]; the YAML parser takes microseconds for each of them."""
THOUGHT, TOOL = "thought", "tool"
SHAPE = "---\ntool: NAME\nparameter: value\n---\ntext"
ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""What JSON leaves as it is and YAML takes for a line's end or does not print."""


class _Core(yaml.SafeLoader):
    """The core schema, without what would be a guess (a key twice) or a trap (aliases)."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's base class declares it so

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise CallError("the front matter has an alias (*name); write the value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(keys)) < len(keys):
            raise CallError("a key stands there twice in the front matter; which one counts?")
        return super().construct_mapping(node, deep)


def _whole(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node), 10)


def _real(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node))


for _kind, _pattern, _first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", [*"tTfF"]),
    ("null", r"^(?:~|null|Null|NULL|)$", [*"~nN", ""]),
    ("int", r"^[-+]?[0-9]+$", [*"-+0123456789"]),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", [*"-+.0123456789"]),
):
    _Core.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(_pattern), _first)
_Core.add_constructor("tag:yaml.org,2002:int", _whole)
_Core.add_constructor("tag:yaml.org,2002:float", _real)


def describe(tools: Sequence[Tool]) -> str:
    """Return a list of tools, and what a document looks like."""
    bodies = "; ".join(f"the {tool.body} of {tool.name}" for tool in tools if tool.body)
    below = f" Below the second rule stands, as it is, {bodies}." if bodies else ""
    documents = "\n\n".join(compose(tool, tool.example, "").rstrip("\n") for tool in usage(tools))
    return (
        f"Tools:\n{bullets(tools)}\n\n"
        "Answer with one document whose front matter, in YAML between two rules, names the tool and its parameters; "
        f"`{THOUGHT}` may say what you think.{below}\n\n{documents}"
    )


def compose(tool: Tool, arguments: Mapping[str, Any], thought: str) -> str:
    """Return the document."""
    given = {name: each for name, each in arguments.items() if name != tool.body}
    head = {**({THOUGHT: thought} if thought else {}), TOOL: tool.name, **given}
    lines = "".join(f"{name}: {_scalar(each)}\n" for name, each in head.items())
    if len(lines) > HEAD_LIMIT:
        raise CallError(f"front matter of {len(lines)} characters; at most {HEAD_LIMIT} are read")
    # A line feed always ends the document, so that the body's own last one is not taken for it.
    return f"---\n{lines}---\n" + (f"{arguments[tool.body]}\n" if tool.body else "")


def _scalar(data: Any) -> str:
    """Return data as JSON, which is YAML but for what is escaped here; names stay bare."""
    if isinstance(data, str) and re.fullmatch(r"[a-z][a-z0-9_-]*", data) and data not in ("true", "false", "null"):
        return data
    return ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", written(data))


def parse(text: str, tools: Sequence[Tool]) -> Named:
    """Return what a document calls."""
    document = text.lstrip()
    first = RULE.match(document)
    second = None if first is None else RULE.search(document, first.end())
    if first is None or second is None:
        raise CallError(f"the answer has no front matter between two lines ---; it is like {SHAPE!r}")
    given = _front(document[first.end() : second.start()])
    given.pop(THOUGHT, None)
    if TOOL not in given:
        raise CallError(f"the front matter names no {TOOL}; the answer is like {SHAPE!r}")
    name = given.pop(TOOL)
    body = document[second.end() + 1 :].removesuffix("\n")
    tool = next((each for each in tools if each.name == name), None)
    if tool is not None and tool.body:
        if tool.body in given:
            raise CallError(f"{tool.body} stands below the front matter, not in it")
        given[tool.body] = body
    elif body.strip():
        raise CallError(f"{shown(name)} takes no text below the front matter, got {shown(body)}")
    return Named(name, given)


def _front(head: str) -> dict[Any, Any]:
    if len(head) > HEAD_LIMIT:
        raise CallError(f"front matter of {len(head)} characters; at most {HEAD_LIMIT} are read")
    try:
        given = yaml.load(head, Loader=_Core)
    except yaml.YAMLError as error:
        said = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        raise CallError(f"the front matter is no YAML: {said}") from None
    except RecursionError:
        raise CallError("the front matter is nested too deeply") from None
    except (ValueError, TypeError) as error:  # CallError among them; a list as a key, a number that is too long
        raise CallError(str(error)) from None
    if not isinstance(given, dict):
        raise CallError(f"the front matter is {shown(given)}, and no names with values; the answer is like {SHAPE!r}")
    return given


STYLE = Style("yaml-front-matter", "YAML front matter, the text below", describe, compose, parse)
