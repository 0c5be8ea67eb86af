"""Rules about the Dockerfile: what it lets the agent see, and what may be another one tomorrow."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from e2b_dockerfile_utils import DockerfileInstruction, DockerfileSyntaxError, PatternMatcher, parse_dockerfile_ast

from termgym.lint.commands import commands
from termgym.lint.fetching import fetched
from termgym.lint.finding import Finding
from termgym.lint.layout import LARGEST, Layout, files, read_text

SMALLEST = 32
"""Smallest file whose content tells anything [bytes]: `{}` is in many places."""
_GRADING = ("test.sh", "run-tests.sh", "solve.sh", "solution.sh")
"""Files that only verifiers and solutions have."""


def instructions(at: Layout) -> list[DockerfileInstruction]:
    """Return the instructions of a folder's Dockerfile; none if there is none or it cannot be parsed."""
    text = read_text(at.dockerfile)
    if text is None:
        return []
    try:
        return list(parse_dockerfile_ast(text).instructions)
    except DockerfileSyntaxError:  # the build says so, with its line
        return []


def fetches(at: Layout) -> bool:
    """Return whether a folder's image holds what its files do not show."""
    if read_text(at.dockerfile) is None:
        return True
    parsed = instructions(at)
    if any(each.name in ("ADD", "FROM") and ("://" in each.original or "/" in each.original) for each in parsed):
        return True
    return any(fetched(command) for each in parsed if each.name == "RUN" for command in _commands(each))


def dockerfile_findings(at: Layout) -> Iterator[Finding]:
    """Yield what is wrong with a folder's Dockerfile, and with what it copies."""
    name = at.name(at.dockerfile)
    stages: set[str] = set()
    for each in instructions(at):
        if each.name == "FROM" and each.args:
            yield from _base(each, name, stages)
        elif each.name == "RUN":
            yield from _unpinned(each, name)
        elif each.name in ("COPY", "ADD") and not any(flag.startswith("--from") for flag in each.flags):
            yield from _leaks(each, name, at)
    image = at.values.get("environment", {})
    reference = image.get("docker_image") if isinstance(image, dict) else None
    if isinstance(reference, str) and _moves(reference):
        yield Finding("unpinned-image", at.name(at.config), None, f"docker_image {reference!r}")


def _base(each: DockerfileInstruction, name: str, stages: set[str]) -> Iterator[Finding]:
    reference = each.args[0]
    if reference.lower() not in stages and _moves(reference):
        yield Finding("unpinned-image", name, each.start_line, f"FROM {reference}")
    if len(each.args) == len(("image", "AS", "name")):
        stages.add(each.args[2].lower())


def _moves(reference: str) -> bool:
    """Return whether an image's name stands for the newest one."""
    if reference == "scratch" or "$" in reference or "@" in reference:
        return False
    tag = reference.rpartition("/")[2].partition(":")[2]
    return tag in ("", "latest")


def _commands(each: DockerfileInstruction) -> Iterator:  # type: ignore[type-arg]  # of Command
    text = each.heredocs[0].content if each.heredocs else " ".join(each.args)
    if each.json:
        text = shlex.join(each.args)
    return iter(commands(text, each.start_line + bool(each.heredocs)))


def _unpinned(each: DockerfileInstruction, name: str) -> Iterator[Finding]:
    for command in _commands(each):
        fetch = fetched(command)
        if fetch is not None and fetch.unpinned:
            rule = "unpinned-apt" if fetch.kind == "apt" else "unpinned-python"
            yield Finding(rule, name, command.line, ", ".join(fetch.unpinned))


def _leaks(each: DockerfileInstruction, name: str, at: Layout) -> Iterator[Finding]:
    """Yield what a COPY puts before the agent's eyes, one finding a kind."""
    secret = {_digest(path): path for place in (*at.tests, *at.solutions) for path in _all(place)}
    told: set[str] = set()
    for path in _copied(each, at):
        kind, twin = at.hidden(path), secret.get(_digest(path), path)
        rule = f"{kind}-in-image"
        if not kind and path.name in _GRADING:
            rule = "tests-in-image" if "test" in path.name else "solution-in-image"
        elif not kind and twin != path:
            rule = "answer-in-image"
        if rule in _RULES and rule not in told:
            told.add(rule)
            like = f", which is {at.name(twin)}" if rule == "answer-in-image" else ""
            yield Finding(rule, name, each.start_line, f"{each.name} takes {at.name(path)}{like}")


_RULES = frozenset({"tests-in-image", "solution-in-image", "answer-in-image"})


def _all(place: Path) -> Iterator[Path]:
    return files(place) if place.is_dir() else iter([place] if place.is_file() else ())


def _digest(path: Path) -> str:
    """Return the digest of a file's content; its own name if it is too small or too large to tell anything."""
    size = path.stat().st_size
    return sha256(path.read_bytes()).hexdigest() if SMALLEST <= size <= LARGEST else str(path)


def _copied(each: DockerfileInstruction, at: Layout) -> Iterator[Path]:
    """Yield the files of the context that an instruction copies."""
    heredocs = {f"<<{one.name}" for one in each.heredocs} | {f"<<-{one.name}" for one in each.heredocs}
    ignored = _ignored(at)
    for source in each.args[:-1]:
        if source in heredocs or "://" in source or "$" in source:
            continue
        pattern = posixpath.normpath(f"/{source}").lstrip("/")
        for found in sorted(at.context.glob(pattern)) if pattern else [at.context]:
            for path in _all(found):
                if not ignored.matches(str(path.relative_to(at.context))):
                    yield path


def _ignored(at: Layout) -> PatternMatcher:
    own = at.dockerfile.with_name(f"{at.dockerfile.name}.dockerignore")
    text = read_text(own) or read_text(at.context / ".dockerignore") or ""
    lines = (line.strip() for line in text.splitlines())
    try:
        return PatternMatcher([line for line in lines if line and not line.startswith("#")])
    except ValueError:  # a pattern that is none; the build says so
        return PatternMatcher([])
