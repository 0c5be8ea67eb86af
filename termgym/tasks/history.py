"""Git history whose commit ids are known before git has run.

A goal that asks git "do you have commit X?" cannot be fooled by whoever owns the repository, if X was computed
elsewhere: the id is a hash of everything it stands for. Object formats: gitformat-pack(5), git-fast-import(1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from termgym.tasks.world import Person


@dataclass(frozen=True)
class Commit:
    """One commit: the whole tree, who, when, and what came before."""

    files: Mapping[str, bytes]
    """Path from the root of the repository -> content. Regular files only."""
    author: Person
    when: int
    """[s since 1970, UTC]"""
    message: str
    parent: Commit | None = None

    @cached_property
    def id(self) -> str:
        """The commit's id, as git will compute it."""
        who = f"{self.author.name} <{self.author.email}> {self.when} +0000"
        lines = [f"tree {_tree(self.files).hex()}"]
        if self.parent is not None:
            lines.append(f"parent {self.parent.id}")
        lines += [f"author {who}", f"committer {who}", "", self.message]
        return _object("commit", "\n".join(lines).encode()).hex()


def import_script(branch: str, commits: Iterable[Commit]) -> str:
    """Return a bash here-document that feeds the commits to ``git fast-import`` in the current repository."""
    # Within one stream git takes the commit before as the parent; it does not know its id before the stream ends.
    stream = "".join(_entry(branch, commit, begins=index == 0) for index, commit in enumerate(commits))
    return f"git fast-import --quiet --date-format=raw <<'END-OF-STREAM'\n{stream}END-OF-STREAM\n"


def _entry(branch: str, commit: Commit, *, begins: bool) -> str:
    who = f"{commit.author.name} <{commit.author.email}> {commit.when} +0000"
    parts = [f"commit refs/heads/{branch}\nauthor {who}\ncommitter {who}\n", _data(commit.message.encode())]
    if begins and commit.parent is not None:
        parts.append(f"from {commit.parent.id}\n")
    parts.append("deleteall\n")
    for path, content in commit.files.items():
        parts.append(f"M 100644 inline {path}\n{_data(content)}")
    return "".join(parts) + "\n"


def _data(content: bytes) -> str:
    return f"data {len(content)}\n{content.decode()}\n"


def _object(kind: str, body: bytes) -> bytes:
    # git hashes with SHA-1 by format, not for security.
    return hashlib.sha1(f"{kind} {len(body)}\0".encode() + body, usedforsecurity=False).digest()


def _tree(files: Mapping[str, bytes]) -> bytes:
    blobs: dict[str, bytes] = {}
    folders: dict[str, dict[str, bytes]] = {}
    for path, content in files.items():
        top, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(top, {})[rest] = content
        else:
            blobs[top] = content
    # git sorts a folder as if its name ended in a slash.
    entries = [(name.encode(), b"100644 " + name.encode(), _object("blob", body)) for name, body in blobs.items()]
    entries += [(name.encode() + b"/", b"40000 " + name.encode(), _tree(inner)) for name, inner in folders.items()]
    return _object("tree", b"".join(head + b"\0" + digest for _, head, digest in sorted(entries)))
