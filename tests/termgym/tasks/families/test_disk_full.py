"""A full disk: what must count as room made, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.assignment import sandbox_opener
from termgym.episode import Episode
from termgym.options import Options
from termgym.plan import plan
from termgym.tasks import make_task
from termgym.tasks.families.disk_full import DISK, scene
from termgym.tasks.world import World

SEED = 2
END = "pkill -f 'recorder.py {left} '; while pgrep -f 'recorder.py {left} '; do :; done > /dev/null"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("disk-full", "", SEED))
    names = {"left": at.leftover, "ours": at.neighbour, "cache": at.cache, "blob": at.blob}
    task = make_task(f"disk-full/{cause}", SEED)
    return attempt(task, f"cd {at.root}", *(command.replace("END", END).format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("deleted", ("rm -r vault {cache}; ./press",)),
        ("deleted", ("rm log/*; rm /srv/reserve/ballast {cache}/*; ./press",)),
        ("deleted", ("END", "pkill -f recorder.py; ./press")),
        ("deleted", ("END; echo 1 > SIZE; ./press",)),
        ("endless", ("rm log/{left}.log; ./press",)),
        ("endless", (": > log/{left}.log; ./press",)),
        ("endless", ("pkill -STOP -f 'recorder.py {left} '; : > log/{left}.log; ./press",)),
        ("endless", ("END; rm log/*; ./press",)),
        ("cache", ("rm {cache}/*; ./press; rm vault/*",)),
        ("cache", ("rm {cache}/*; ./press; cp out/image /tmp; head -c 16M /dev/zero > /tmp/more",)),
        ("cache", ("rm {cache}/*; ./press; echo >> press",)),
        ("cache", ("sed -i 's|root / .out/image.|pathlib.Path(\"/dev/null\")|' press; ./press",
                   "ln -s /dev/null out/image")),
        ("reserve", ("rm /srv/reserve/ballast; ./press",)),
        ("reserve", (": > /srv/reserve/ballast; ./press",)),
        ("reserve", ("truncate -s 1M /srv/reserve/ballast; ./press; truncate -s -1 out/image",)),
        ("reserve", ("truncate -s 1M /srv/reserve/ballast; ./press; echo >> recorder.py",)),
    ],
)  # fmt: skip
def test_what_makes_no_room_or_costs_others_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Originals gone, a neighbour ended, a log that comes back, the reserve spent, less pressed."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("deleted", ("for fd in /proc/[0-9]*/fd/*; do case $(readlink $fd) in *{left}*deleted*) : > $fd; esac; done; "
                     "./press",)),
        ("endless", ("pkill -KILL -f 'recorder.py {left} '; until rm -f log/{left}.log && ./press; do :; done",)),
        ("cache", ("rm -r {cache}; ./press",)),
        ("reserve", ("rm /srv/reserve/ballast; ./fill /srv/reserve ballast 1; ./press",)),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The outcome counts: also a log that is emptied through the one who holds it."""
    assert _play(attempt, cause, commands)


def test_where_nothing_bounds_the_disk_the_hosts_is_not_filled() -> None:
    """A copying snapshot lies on the host's own disk; a recorder without end must not have it all."""
    options = Options.of({"snapshot": "manifest"})
    episode = Episode(sandbox_opener(options), options)
    try:
        at = scene(World("disk-full", "", SEED))
        episode.start(make_task("disk-full/endless", SEED))
        seen = episode.step(plan(f"stat -c %s {at.root}/log/{at.leftover}.log"))
        assert seen.stdout == f"{DISK}\n"
    finally:
        episode.close()
