"""Files back from a backup: what must count as restored, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.archive_restore import scene
from termgym.tasks.world import World

SEED = 7


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("archive-restore", "", SEED))
    task = make_task(f"archive-restore/{cause}", SEED)
    unpack = task.oracle[1].command
    good = next(day for day in range(4) if at.archive(day) in unpack)
    names = {
        "unpack": unpack, "backups": at.backups, "name": at.name, "day": at.days[good],
        "first": at.archive(0), "good": at.archive(good), "newest": at.archive(3),
    }  # fmt: skip
    return attempt(task, f"cd {at.root}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("other-prefix", ("tar -xzf {backups}/{newest}", "./check")),
        ("other-prefix", ("tar -xzf {backups}/{newest} -C content",)),
        ("other-prefix", ("tar -xzf {backups}/{first}", "./check")),
        ("other-prefix", ("rm -r content/inbox", "{unpack}")),
        (
            "damaged",
            ("tar -xzf {backups}/{newest}; (cd content && sha256sum $(ls -d build pages/*) > INDEX)", "./check"),
        ),
        ("damaged", ("tar -xzf {backups}/{first}", "./check")),
        ("damaged", ("tar -xzf {backups}/{newest}; {unpack}; echo >> content/INDEX",)),
        ("damaged", ("mv content /tmp; {unpack}",)),
        ("hollow", ("tar -xzf {backups}/{newest}",)),
        ("hollow", ("tar -xzf {backups}/{newest}; cp {backups}/{name}-{day}.sha256 content/INDEX",)),
        ("hollow", ("{unpack}", "chmod 644 content/build")),
        ("hollow", ("{unpack}", "touch content/new")),
        ("hollow", ("{unpack}", "ln -s build content/link")),
        ("hollow", ("{unpack}", "echo '# seen' >> check")),
        ("hollow", ("cp {backups}/{good} /tmp; {unpack}; gzip -c /dev/null > {backups}/{good}",)),
    ],
)
def test_what_is_not_that_days_state_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Another day, a part of it, an index that was made to fit, a lost inbox, a backup that paid for it."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize("cause", ["other-prefix", "damaged", "hollow"])
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str) -> None:
    """The outcome counts: unpacked elsewhere first, and copied."""
    commands = (
        "mkdir -p /tmp/there && tar -xzf {backups}/{good} -C /tmp/there",
        "cp -a $(dirname $(find /tmp/there -name INDEX))/. content/",
    )
    assert _play(attempt, cause, commands)
