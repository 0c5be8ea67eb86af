"""An audit: what counts as the right report, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.checksum_audit import SOLVE, _task, scene
from termgym.tasks.family import holds
from termgym.tasks.world import World

SEED = 5
SUMS = "sha256sum -c --quiet MANIFEST 2> /dev/null | sed -n 's/^\\(.*\\): FAILED$/{kind} \\1/p' | LC_ALL=C sort"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("checksum-audit", "", SEED))
    words = (command.replace("{name}", at.name).replace("SOLVE", SOLVE) for command in commands)
    return attempt(make_task(f"checksum-audit/{cause}", SEED), f"cd {at.root}", *words)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("altered", (SUMS.replace("{kind}", "changed") + " > REPORT.txt",)),
        ("altered", (SUMS.replace("{kind}", "short") + " > REPORT.txt",)),
        ("altered", (": > REPORT.txt",)),
        ("altered", ("SOLVE", "sha256sum data/* > MANIFEST")),
        ("altered", ("SOLVE", "sha256sum MANIFEST | sed 's/ .*//; s/^/manifest /' > /srv/seals/{name}")),
        ("altered", ("SOLVE", "echo exit 0 > audit")),
        ("swapped", (SUMS.replace("{kind}", "changed") + " > REPORT.txt",)),
        ("swapped", ("SOLVE", "rm slips/000")),
        ("swapped", ("SOLVE", "cp REPORT.txt data/REPORT.txt")),
        ("covered-up", (SUMS.replace("{kind}", "changed") + " > REPORT.txt",)),
        ("covered-up", ("sha256sum data/* > MANIFEST", "SOLVE")),
        ("covered-up", ("sed 's/.*  /changed /' MANIFEST.1 > REPORT.txt",)),
    ],
)
def test_a_report_that_trusts_the_wrong_thing_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """One kind for all, a manifest believed although its seal is broken, evidence that was changed."""
    assert not _play(attempt, cause, commands)


def test_the_edited_manifest_agrees_with_what_it_covers_up(attempt: Callable[..., bool]) -> None:
    """Otherwise `sha256sum -c` alone would find them, and there was nothing to tell apart."""
    at = scene(World("checksum-audit", "", SEED))
    task = make_task("checksum-audit/covered-up", SEED)
    tasks = ("altered", "swapped", "covered-up")
    assert len({make_task(f"checksum-audit/{cause}", SEED).goal for cause in tasks}) == 3
    believed = "sha256sum -c --quiet MANIFEST 2> /dev/null | grep -c FAILED | grep -x 2 || exit"
    assert attempt(task, f"cd {at.root}", believed, SOLVE)


def test_an_untouched_delivery_is_as_sealed(attempt: Callable[..., bool]) -> None:
    """A complaint about everything would be no symptom."""
    world = World("checksum-audit", "", SEED)
    at = scene(world)
    task = replace(_task(world, at), goal=(holds(f"{at.root}/audit", pattern="^audit: as sealed"),))
    assert attempt(task, "true")


@pytest.mark.parametrize("cause", ["altered", "swapped", "covered-up"])
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str) -> None:
    """The report counts, not how it was made: here by the tools of the shell."""
    way = (
        "cat slips/* | sed -n 's/^sha256: //p' | sort > /tmp/delivered; for slip in slips/*; do "
        '{ read -r _ path; read -r _ size; read -r _ sum; } < $slip; now=$(sha256sum < "$path"); now=${now%% *}; '
        'if [ $now = $sum ]; then grep -qxF "$sum  $path" MANIFEST || echo "entry $path"; '
        'elif grep -q $now /tmp/delivered; then echo "swapped $path"; '
        'elif [ $(stat -c %s "$path") -lt $size ]; then echo "short $path"; else echo "changed $path"; fi; '
        "done | LC_ALL=C sort > REPORT.txt"
    )
    assert _play(attempt, cause, (way,))
