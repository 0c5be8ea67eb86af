"""A worker that has run wild: what must count as ended, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.runaway_process import scene
from termgym.tasks.world import World

SEED = 1
CAUSES = ("never-rests", "hoards", "breeds", "kept")
AGAIN = (
    "(setsid python3 worker.py {one} > /dev/null 2>&1 < /dev/null &); "
    "until (: <> /dev/tcp/127.0.0.1/{port}) 2> /dev/null; do :; done"
)


def end(pattern: str, signal: str = "TERM") -> str:
    """Return the command that ends whatever runs with such a command line, until nothing does."""
    return f"while pkill -{signal} -f '{pattern}'; do :; done 2> /dev/null"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("runaway-process", "", SEED))
    one = at.neighbours[-1] if at.neighbours[-1] not in at.kept else at.neighbours[0]
    names = {"wild": at.culprit, "one": one, "port": at.ports[one], "keep": at.kept[0]}
    task = make_task(f"runaway-process/{cause}", SEED)
    words = [command.replace("WILD", end("worker.py {wild}$")).format(**names) for command in commands]
    return attempt(task, f"cd {at.root}", *words)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("never-rests", ("pkill -STOP -f 'worker.py {wild}$'; ./load",)),
        ("never-rests", ("renice 19 $(pgrep -f 'worker.py {wild}$'); ./load",)),
        ("never-rests", (end("worker.py"), "./load")),
        ("never-rests", ("WILD", end("worker.py {one}$"), AGAIN)),
        ("never-rests", ("WILD", "pkill -STOP -f 'worker.py {one}$'")),
        ("hoards", ("WILD", "rm -r spool/{wild}")),
        ("hoards", ("sed -i s/96_000_000/960_000_000/ load; ./load",)),
        ("hoards", ("WILD", "sed -i s/96_000_000/960_000_000/ load")),
        ("hoards", ("WILD", "echo >> worker.py")),
        ("hoards", ("WILD", "pkill -f 'worker.py {keep}$'")),
        ("breeds", ("kill $(pgrep -o -f 'worker.py {wild}$')",)),
        ("kept", ("pkill -f 'worker.py {wild}$'",)),
        ("kept", ("pkill -f 'keep {wild}$'",)),
        ("kept", (end("farm/keep|/keep "), "WILD")),
    ],
)  # fmt: skip
def test_what_hides_it_or_harms_others_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Paused, slowed down, one of many, back in a moment; or a neighbour that was taken for it."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize("cause", CAUSES)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str) -> None:
    """The outcome counts: found by its limits, ended the hard way."""
    assert _play(attempt, cause, ("pkill -KILL -f 'keep {wild}$'", end("worker.py {wild}$", "KILL"), "./load"))
