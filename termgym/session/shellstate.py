"""Shell state: the part of a shell that ``save`` keeps, and the script that brings it back in a new one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

_OWN = frozenset({"_", "SHLVL", "PWD", "OLDPWD", "PPID", "UID", "EUID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO"})
"""Variables that bash keeps itself, read-only or set by ``cd``."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(rb"[A-Za-z0-9_@%+=:,./-]+")


class ShellState(NamedTuple):
    """Where a shell stands and what it hands to the programs it starts."""

    cwd: str
    exported: Mapping[str, str]

    def script(self, now: Mapping[str, str]) -> bytes:
        """Return a command that brings a new shell, whose exported variables are ``now``, into this state.

        It fails if the directory cannot be entered.
        """
        wanted = {name: value for name, value in self.exported.items() if _kept(name)}
        changed = [name for name, value in wanted.items() if now.get(name) != value]
        gone = [name for name in now if _kept(name) and name not in wanted]
        lines = [b"\\builtin export " + name.encode() + b"=" + quoted(wanted[name]) for name in sorted(changed)]
        lines += [b"\\builtin unset -v " + name.encode() for name in sorted(gone)]
        return b"\n".join([*lines, b"\\builtin cd -- " + quoted(self.cwd)])


def _kept(name: str) -> bool:
    return name not in _OWN and _NAME.fullmatch(name) is not None


def quoted(text: str) -> bytes:
    """Return a word that bash reads as ``text``, bytes that are no UTF-8 included.

    Example:
        >>> quoted("a b'c"), quoted("plain-1"), quoted("")
        (b"'a b'\\\\''c'", b'plain-1', b"''")
    """
    raw = os.fsencode(text)
    if _PLAIN.fullmatch(raw):
        return raw
    return b"'" + raw.replace(b"'", b"'\\''") + b"'"
