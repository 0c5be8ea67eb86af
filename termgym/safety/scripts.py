"""What a command hands on to be run: scripts for a shell, arguments for xargs, commands for find."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from termgym.safety.launchers import INTERPRETERS, SHELLS, shell_script


class Around(NamedTuple):
    """What surrounds a command: its redirections and what flows into it."""

    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    upstream: tuple[tuple[str, ...], ...] = ()
    stdin: str | None = None
    """Literal standard input."""
    substituted: tuple[str, ...] = ()


def with_input(args: tuple[str, ...], upstream: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Return the arguments that xargs would add when what it reads is written out: ``echo / | xargs rm -rf``."""
    if not upstream or not upstream[-1] or upstream[-1][0] not in ("echo", "printf"):
        return args
    words = tuple(" ".join(upstream[-1][1:]).replace("\\n", " ").split())
    return (*(word for arg in args for word in (words if arg == "{}" else (arg,))), *(() if "{}" in args else words))


def scripts(name: str, args: tuple[str, ...], around: Around) -> Iterator[str]:
    """Yield the texts that a command hands to a shell."""
    if name in SHELLS:
        script, from_stdin = shell_script(args)
        if script is not None:
            yield script
        elif from_stdin:
            if around.stdin is not None:
                yield around.stdin
            elif around.upstream and around.upstream[-1][:1] in (("echo",), ("printf",)):
                yield " ".join(each for each in around.upstream[-1][1:] if not each.startswith("-"))
    elif name == "eval":
        yield " ".join(args)
    elif name == "trap" and args and not args[0].startswith("-"):
        yield args[0]
    elif name in ("su", "runuser", "script", "sg", "newgrp") and "-c" in args[:-1]:
        yield args[args.index("-c") + 1]
    elif name == "watch":
        yield " ".join(each for each in args if not each.startswith("-"))
    elif name in INTERPRETERS or name in ("awk", "gawk", "mawk"):
        code = " ".join(args) + (around.stdin or "")
        yield from (found[2] for found in re.finditer(_CALLS_SHELL, code))


_CALLS_SHELL = r"""\b(?:system|popen|exec|call|run|check_call|check_output|Popen|qx)\b\s*\(?\s*(["'])(.+?)\1"""
"""How scripting languages hand a text to a shell."""


def executed(name: str, args: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the commands that find starts."""
    if name not in ("find", "fd", "fdfind"):
        return
    for index, word in enumerate(args):
        if word in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X"):
            ends = (at for at in range(index + 1, len(args)) if args[at] in (";", "+"))
            yield args[index + 1 : next(ends, len(args))]
