"""An installer that asks: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.interactive_installer import scene
from termgym.tasks.world import World

SEED = 1
RIGHT = r"\n\nyes\n{target}\n{port}\nkeep\n"


def answered(answers: str) -> str:
    """Return the command that types answers at the installer, on a terminal."""
    return f"printf '{answers}' | script -qec {{source}}/install /dev/null"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("interactive-installer", "", SEED))
    names = {"source": at.source, "target": at.target, "port": at.port, "name": at.name, "other": at.neighbours[0]}
    task = make_task(f"interactive-installer/{cause}", SEED)
    return attempt(task, f"cd {at.source}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("refused-licence", (answered(r"\n" * 3),)),
        ("refused-licence", ("printf '" + RIGHT + "' | ./install",)),
        ("refused-licence", ("sed -i 's/\"no\", \"yes\", \"no\"/\"yes\", \"yes\", \"no\"/' install", answered(RIGHT))),
        ("refused-licence", (answered(r"\n\nyes\n\n\nreplace\n"),)),
        ("refused-licence", (answered(r"\n\nyes\n/tmp/{name}\n\n"), "cp /tmp/{name}/* {target} -r")),
        ("closed-directory", (answered(r"\n\n\n{target}/new\n{port}\n"), "cp -r {target}/new/* {target}")),
        ("foreign-port", (answered(r"\n\n\n{target}\n7001\nkeep\n"),
                          "sed -i 's/7001/{port}/' {target}/receipt")),
        ("foreign-port", ("sed -i '/{other}/d' ~/apps/PORTS", answered(r"\n\n\n{target}\n\nkeep\n"))),
        ("unfinished", (answered(r"no\nyes\n" + RIGHT),)),
        ("unfinished", (answered(r"no\nno\n" + RIGHT.replace("keep", "replace")),)),
        ("unfinished", (answered(r"no\nno\n" + RIGHT), "echo ~/apps/{other} > unfinished")),
    ],
)  # fmt: skip
def test_a_wrong_answer_does_not_count(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """Nothing installed, in another way than asked for, by another installer, or at somebody's cost."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("refused-licence", (answered(r"\n" * 3), answered(RIGHT.replace("yes", r"y\nyes")))),
        ("closed-directory", (answered(r"\n" * 4), answered(RIGHT))),
        ("unfinished", ("rm unfinished", answered(RIGHT))),
        ("unfinished", (answered(r"no\nno\n" + RIGHT), answered(RIGHT))),
    ],
)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The outcome counts: a wrong attempt before, or the same once more."""
    assert _play(attempt, cause, commands)
