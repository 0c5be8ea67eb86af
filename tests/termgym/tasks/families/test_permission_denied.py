"""A program without access: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.permission_denied import Scene, scene
from termgym.tasks.world import World


def _at(seed: int) -> Scene:
    return scene(World("permission-denied", "", seed))


def _seed(cause: str, what: str) -> int:
    """Return a seed in which the cause concerns ``what``."""
    return next(seed for seed in range(40) if what in make_task(f"permission-denied/{cause}", seed).setup)


@pytest.mark.parametrize(
    ("cause", "what", "commands"),
    [
        ("not-executable", "publish", ("bash bin/publish",)),
        ("not-executable", "totals", ("mkdir -p /tmp/p/bin; ln -s $PWD/etc /tmp/p",
                                      "sed 's|\"$root/lib/totals\"|bash lib/totals|' bin/publish > /tmp/p/bin/p",
                                      "bash /tmp/p/bin/p")),
        ("not-executable", "publish", ("chmod 777 bin/publish", "bin/publish")),
        ("not-executable", "publish", ("chmod 755 bin/publish", "sed -i s,/srv/,/tmp/srv/, etc/publish.conf",
                                       "mkdir -p /tmp/srv/*", "bin/publish")),
        ("not-executable", "totals", ("chmod 755 bin/* lib/*; echo 'all 0' > {target}/{month}.txt",)),
        ("not-executable", "publish", ("printf '#!/bin/bash\\n' > bin/publish; chmod 755 bin/publish", "bin/publish")),
        ("not-executable", "totals", ("sed -i 's|\"$root/lib|bash &|' bin/publish", "bin/publish")),
        ("not-executable", "publish", ("chmod 755 bin/publish", "bin/publish",
                                       "mkdir -p hid/open; chmod 777 hid/open; chmod 311 hid")),
        ("closed-directory", "", ("chmod -R u+rwX . {target}", "bin/publish", "echo '# seen' >> lib/totals")),
        ("closed-directory", "", ("chmod -R u+rwX . {target}", "bin/publish", "sed -i '2s/^[a-z]*/x/' data/*/*.csv")),
        ("closed-directory", "", ("chmod -R 777 . {target}", "bin/publish")),
        ("closed-directory", "", ("chmod 755 data data/* {target}",)),
        ("read-only-target", "", ("chmod 777 {closed}", "bin/publish")),
    ],
)  # fmt: skip
def test_what_goes_round_the_problem_does_not_count(
    attempt: Callable[..., bool], cause: str, what: str, commands: tuple[str, ...]
) -> None:
    """A report from the wrong hand, a project open to all, or programs that only look as if they worked."""
    seed = _seed(cause, what)
    at = _at(seed)
    names = {"target": f"{at.open_share}/{at.project}", "closed": f"{at.closed_share}/{at.project}", "month": at.month}
    task = make_task(f"permission-denied/{cause}", seed)
    assert not attempt(task, f"cd {at.root}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("not-executable", ("chmod u+x bin/* lib/*", "bin/publish")),
        ("closed-directory", ("chmod -R u+rwX . {target}", "bin/publish")),
        (
            "read-only-target",
            ("mkdir -p /srv/new", "sed -i 's|^target.*|target = /srv/new|' etc/publish.conf", "bin/publish"),
        ),
    ],
)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The outcome counts: any mode that works and is safe, any share that takes the file."""
    at = _at(3)
    names = {"target": f"{at.open_share}/{at.project}"}
    task = make_task(f"permission-denied/{cause}", 3)
    assert attempt(task, f"cd {at.root}", *(command.format(**names) for command in commands))
