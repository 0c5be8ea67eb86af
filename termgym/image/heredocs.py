"""Heredocs: files that are written in the Dockerfile itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from e2b_dockerfile_utils import DockerfileHeredoc, chomp_heredoc_content, parse_heredoc

from termgym.image.context import Origin
from termgym.image.dockerfile import Step
from termgym.image.making import make_file
from termgym.image.state import State
from termgym.image.tree import Tree

if TYPE_CHECKING:
    from termgym.image.builder import Build


class Texts(NamedTuple):
    """The sources of a ``COPY``, told apart."""

    origin: Origin | None
    """Where the heredocs lie as files; None: there are none."""
    names: Sequence[str]
    others: Sequence[str]
    """Sources that are no heredocs."""


@contextmanager
def written_heredocs(build: Build, state: State, step: Step, words: Sequence[str]) -> Iterator[Texts]:
    """Yield the heredocs of a step as files, and its other sources; ``words`` are its arguments, expanded."""
    marks = [parse_heredoc(word) if "<<" in word else None for word in step.args[:-1]]
    others = [word for word, mark in zip(words[:-1], marks, strict=True) if mark is None]
    if not step.heredocs:
        yield Texts(None, (), others)
        return
    with build.store.scratch() as room:
        for heredoc in step.heredocs:
            if "/" in heredoc.name:
                raise step.fault(f"heredoc <<{heredoc.name} is no file name", "choose a word without a slash")
            make_file(room / heredoc.name, content(step, heredoc, state).encode())
        origin = Origin(Tree([room], build.prefix), "the Dockerfile")
        yield Texts(origin, [heredoc.name for heredoc in step.heredocs], others)


def content(step: Step, heredoc: DockerfileHeredoc, state: State) -> str:
    """Return what a heredoc of a ``COPY`` holds, its variables replaced unless its mark is quoted."""
    text = chomp_heredoc_content(heredoc.content) if heredoc.chomp else heredoc.content
    return step.expand_text(text, state.variables) if heredoc.expand else text
