"""Calls as Python expressions: ``run(command="ls", timeout=10)``. They are read as data and never evaluated."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rolf.interface.call import CallError, shown
from rolf.interface.style import Named, Style
from rolf.interface.tool import Tool
from rolf.interface.wording import described, kind

OPEN = re.compile(r"^```(?:python|py)?[ \t\r]*$", re.MULTILINE)
CLOSE = re.compile(r"^```[ \t\r]*$", re.MULTILINE)
QUIET = re.compile(
    r"""\#[^\n]*+
    | (?<![fFrR]) (?: '''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?+ | \"\"\"(?:[^"\\]++|\\.|"(?!""))*+(?:\"\"\")?+
                    | '(?:[^'\\\n]++|\\.)*+'?+ | "(?:[^"\\\n]++|\\.)*+"?+ )""",
    re.VERBOSE | re.DOTALL,
)
"""Comments and texts, which cost the parser next to nothing. Formatted ones are code inside."""
CODE_LIMIT = 1 << 16
"""Longest Python beside them [characters]; a syntax tree takes some hundred times its text in memory."""
DEEPEST = 64
"""Brackets within brackets; CPython's own parser stops at 200, and its other recursions are not to be relied on."""
SHAPE = 'NAME(parameter="text", other=1)'


def describe(tools: Sequence[Tool]) -> str:
    """Return the tools as stubs, and what an answer looks like."""
    stubs = "\n\n".join(_stub(tool) for tool in tools)
    return (
        f"These Python functions can be called:\n\n```python\n{stubs}\n```\n\n"
        "Answer with one call and nothing else, arguments by name, values written as literals. Lines before it that "
        f"begin with # may say what you think.\n\n{compose(tools[0], tools[0].example, 'I begin.')}"
    )


def _stub(tool: Tool) -> str:
    names = tool.parameters.model_fields
    signature = ", ".join(name if name in tool.required else f"{name}=…" for name in names)
    told = [f"        {name} ({kind(tool, name)}){described(tool, name)}" for name in names]
    lines = [tool.description, "", "    Args:", *told, "    "] if told else [tool.description]
    return f"def {tool.name}({'*, ' if signature else ''}{signature}):\n    " + '"""' + "\n".join(lines) + '"""'


def compose(tool: Tool, arguments: Mapping[str, Any], thought: str) -> str:
    """Return the expression, the thought as comments above it."""
    if "\x00" in thought or (not thought.isascii() and thought.encode("utf-8", "replace").decode() != thought):
        raise CallError("the thought holds what Python source cannot; leave it out")
    comments = [f"# {line}" for line in thought.splitlines()]
    said = ", ".join(f"{name}={each!r}" for name, each in arguments.items())
    return "\n".join([*comments, f"{tool.name}({said})"])


def parse(text: str, _tools: Sequence[Tool]) -> Named:
    """Return what the one expression in a text calls."""
    call = _expression(text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise CallError(f"the answer is Python, but not one call of a function; it is like {SHAPE}")
    if call.args or any(each.arg is None for each in call.keywords):
        raise CallError(f"give every argument by its name: {SHAPE}")
    arguments: dict[str, Any] = {}
    for each in call.keywords:
        assert each.arg is not None
        if each.arg in arguments:
            raise CallError(f"the argument {each.arg} is given twice; which one counts?")
        arguments[each.arg] = _literal(each.value, each.arg)
    return Named(call.func.id, arguments)


def _expression(text: str) -> ast.expr:
    source = _short(_source(text))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" is two characters; that some day it will be an error is no news here
            body = ast.parse(source).body
    except SyntaxError as error:
        line = shown((error.text or "").strip())
        raise CallError(f"the answer is no Python call: {error.msg} at {line}; it is like {SHAPE}") from None
    except (RecursionError, MemoryError):  # of the parser's own stack, whatever its name
        raise CallError("the answer is nested too deeply") from None
    except ValueError as error:  # NUL, half a surrogate pair, a whole number of thousands of digits
        raise CallError(f"the answer is no Python call: {error}") from None
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        raise CallError(f"the answer holds {len(body)} statements; it must be one call like {SHAPE}")
    return body[0].value


def _source(text: str) -> str:
    """Return the one block of Python in a text, or all of it where it has none."""
    begin = OPEN.search(text)
    end = None if begin is None else CLOSE.search(text, begin.end())
    if begin is None or end is None:
        return text
    if OPEN.search(text, end.end()) is not None:
        raise CallError("the answer holds several blocks of Python; give one call")
    return text[begin.end() : end.start()]


def _short(source: str) -> str:
    """Return source that can be parsed in a moment, without the white space round it."""
    length = len(source) - sum(found.end() - found.start() for found in QUIET.finditer(source))
    if length > CODE_LIMIT:
        raise CallError(f"the answer has {length} characters of Python beside its texts; at most {CODE_LIMIT} are read")
    return source.strip()


def _literal(node: ast.expr, name: str) -> Any:
    """Return the plain data that a literal is."""
    try:
        found = _value(node, 0)
    except CallError as error:
        raise CallError(f"{name}: {error}") from None
    return found


def _value(node: ast.expr, depth: int) -> Any:
    if depth > DEEPEST:
        raise CallError("it is nested too deeply")
    match node:
        case ast.Constant(value=None | bool() | str() | int() as constant):
            return constant
        case ast.Constant(value=float() as constant) if math.isfinite(constant):
            return constant
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if _countable(number):
            return -number
        case ast.List(elts=items):
            return [_value(item, depth + 1) for item in items]
        case ast.Dict(keys=keys, values=values):
            return dict(_pairs(keys, values, depth))
    raise CallError("it must be text, a number, True, False, None, or a list or dict of such, written out as a literal")


def _countable(number: float) -> bool:
    return not isinstance(number, bool) and math.isfinite(number)


def _pairs(keys: Sequence[ast.expr | None], values: Sequence[ast.expr], depth: int) -> Iterator[tuple[str, Any]]:
    seen = set()
    for key, each in zip(keys, values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or key.value in seen:
            raise CallError("keys of a dict are texts, each once")
        seen.add(key.value)
        yield key.value, _value(each, depth + 1)


STYLE = Style("python-call", "a call in Python", describe, compose, parse)
