"""Links that lead astray: what must count as repaired, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.link_structure import scene
from termgym.tasks.world import World

SEED = 3
ALL = "tail -n +2 LINKS | while read -r link end; do {each}; done"
RELATIVE = ALL.replace("{each}", 'ln -sfn "$(realpath -m --relative-to "$(dirname $link)" $end)" $link')


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("link-structure", "", SEED))
    names = {"live": at.live, "media": at.media, "old": at.releases[-2]}
    task = make_task(f"link-structure/{cause}", SEED)
    repair = [plan.command for plan in task.oracle[1:-1]]
    words = [word.format(**names) for command in commands for word in (repair if command == "ORACLE" else (command,))]
    return attempt(task, f"cd {at.root}", *words)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("dangling", ("cp -rT shared/{media} /tmp/m; rm {live}/media {live}/settings.ini",
                      "cp -r /tmp/m {live}/media; cp shared/settings.ini {live}; ./status")),
        ("dangling", ("mkdir share releases/shared; cp -r shared/. share; cp -r shared/. releases/shared; ./status",)),
        ("dangling", ("ln -sfn ../../shared/{media} {live}/media",
                      "ln -sfn ../../shared/settings.ini {live}/settings.ini; ./status")),
        ("circle", ("ln -sfn {live} current; ln -sfn current/pages public; ln -sfn ../../shared/{media} {live}/media",
                    "./status")),
        ("circle", ("ORACLE", "rm previous")),
        ("circle", ("ORACLE", "echo >> {live}/release.txt")),
        ("circle", ("ORACLE", "ln -s current extra")),
        ("circle", ("ORACLE", "echo >> status")),
        ("circle", ("ORACLE", "echo >> LINKS")),
        ("old-release", ("ORACLE", "echo >> LIVE")),
        ("absolute", (ALL.replace("{each}", "ln -sfn $PWD/$end $link"), "./status")),
        ("absolute", ("ln -s $PWD /tmp/site", ALL.replace("{each}", "ln -sfn ../../../../tmp/site/$end $link"))),
        ("absolute", ("ORACLE", "ln -s $PWD/shared/{media} /tmp/there",
                      "ln -sfn ../../../../../../../tmp/there {live}/media; ls {live}/media/. || exit")),
        ("old-release", ("echo {old} | cut -d/ -f2 > LIVE; ./status",)),
        ("old-release", ("rm current; cp -r {live} current; ./status",)),
        ("old-release", ("cp {live}/release.txt releases/{old}/; ./status",)),
    ],
)  # fmt: skip
def test_what_only_pleases_the_status_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Copies, links that end at the border of this machine, a list or a release that was bent to fit."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize("cause", ["dangling", "circle", "absolute", "old-release"])
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str) -> None:
    """The outcome counts: all links made anew from the list."""
    assert _play(attempt, cause, (RELATIVE.replace("{each}", ""), "./status"))
