"""Rules about scripts: what verifiers and solutions fetch, and whether a reward is written whatever happens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from termgym.lint.commands import Command, commands
from termgym.lint.fetching import fetched
from termgym.lint.finding import Finding
from termgym.lint.layout import LARGEST, Layout, files, read_text

_REWARD = re.compile(r"\breward\.(txt|json)\b")
_RUNNERS = frozenset({"bash", "cargo", "ctest", "go", "make", "node", "npm", "npx", "pytest", "sh", "tox", "uvx"})
"""Programs that run tests."""
_QUIET = frozenset({"", "=", "[", "cd", "chmod", "echo", "export", "mkdir", "printf", "set", "source", "touch", "trap"})
"""Programs that decide nothing."""


def script_findings(at: Layout) -> Iterator[Finding]:
    """Yield what is wrong with a folder's scripts."""
    for path in at.verifiers:
        told = commands(read_text(path) or "")
        yield from _network(at.name(path), told, "verifier-network")
        if at.harbor:
            yield from _reward(at.name(path), told, read_text(path) or "")
    for place in at.solutions:
        for path in files(place) if place.is_dir() else [place]:
            if path.suffix == ".sh":
                yield from _network(at.name(path), commands(read_text(path) or ""), "solution-network")
    if at.harbor:
        yield from _no_reward(at)
    for path in files(at.root):
        yield from _form(path, at)


def _network(name: str, told: Sequence[Command], rule: str) -> Iterator[Finding]:
    for command in told:
        fetch = fetched(command)
        if fetch is not None:
            yield Finding(rule, name, command.line, f"`{command.name}` fetches {', '.join(fetch.what)}")


def _no_reward(at: Layout) -> Iterator[Finding]:
    """Yield the verifiers beside which no file says the name of a reward file."""
    for path in at.verifiers:
        if not any(_REWARD.search(read_text(each) or "") for each in files(path.parent)):
            yield Finding("no-reward", at.name(path), None, "neither reward.txt nor reward.json is named")


def _reward(name: str, told: Sequence[Command], text: str) -> Iterator[Finding]:
    """Yield where a reward is written too early, or not at all when a test fails."""
    writes = [index for index, command in enumerate(told) if _REWARD.search(" ".join((*command.writes, *command.args)))]
    tests = [index for index, command in enumerate(told) if _is_test(command)]
    for index in writes:
        command = told[index]
        before = [each for each in told[:index] if each.name not in _QUIET]
        succeeds = any(re.match(r"1(\.0*)?(\\n)?$", arg) for arg in command.args)
        if succeeds and not command.conditional and not before and any(test > index for test in tests):
            yield Finding("reward-before-tests", name, command.line, f"`{command.text}` comes before the tests")
    strict = _strict(told, text)
    for index in tests:
        test = told[index]
        lost = not test.conditional and not test.into and not any(write < index for write in writes)
        if strict is not None and strict < index and lost and any(write > index for write in writes):
            yield Finding("reward-lost", name, test.line, f"`{test.name}` ends the script if it fails")
            return


def _is_test(command: Command) -> bool:
    """Return whether a command may be what runs the tests."""
    if command.name == "uv":
        return command.args[:1] == ("run",)
    return command.name in _RUNNERS or command.name.startswith("python")


def _strict(told: Sequence[Command], text: str) -> int | None:
    """Return after which command a failure ends the script for good, or None."""
    if any(command.name == "trap" for command in told) or re.search(r"^\s*set\s+\+e", text, re.MULTILINE):
        return None
    if re.match(r"#!\S+(\s+\S+)?\s+-\w*e", text):
        return -1
    for index, command in enumerate(told):
        if command.name == "set" and any(re.match(r"-[a-z]*e|errexit$", arg) for arg in command.args):
            return index
    return None


def _form(path: Path, at: Layout) -> Iterator[Finding]:
    """Yield what keeps a file from being a script that a kernel and a shell understand."""
    if path.suffix != ".sh":
        return
    with path.open("rb") as file:
        raw = file.read(LARGEST)
    name = at.name(path)
    if b"\r\n" in raw:
        yield Finding("crlf-script", name, raw[: raw.index(b"\r\n")].count(b"\n") + 1, "ends with CR LF")
    elif raw.startswith(b"\xef\xbb\xbf"):
        yield Finding("crlf-script", name, 1, "begins with a byte-order mark")
    elif not raw.startswith(b"#!") and (path in at.verifiers or at.hidden(path) == "solution"):
        yield Finding("no-shebang", name, 1, "begins without #!")
