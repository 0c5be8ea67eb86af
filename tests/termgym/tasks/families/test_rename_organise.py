"""Files that are to be put where they belong: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.rename_organise import scene, shelved
from termgym.tasks.world import World

SEED = 2
QUOTED = 'sed -i \'s|head -n 1 $name|head -n 1 -- "$name"|; s|sha256sum < $name|sha256sum < "$name"|\' bin/shelve'
LAX = "sed -i '/twice\"$/d; /taken\"$/d; /same as/d' bin/shelve"
MOVE = 'year=$(head -n 1 "$path" | cut -c 7-10); mkdir -p shelf/$year; mv {how} "$path" "shelf/$year/{name}"; done'
EACH = "find inbox -type f -print0 | while IFS= read -rd '' path; do "


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("rename-organise", "", SEED))
    task = make_task(f"rename-organise/{cause}", SEED)
    solution = task.oracle[-1].command
    return attempt(task, f"cd {at.root}", *(solution if each == "solve" else each for each in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("odd-names", ("rm inbox/*/*' '* inbox/*/-*; bin/shelve",)),
        ("odd-names", (EACH + MOVE.format(how="", name='$(basename -- "$path" | tr -d "[:space:]")'),)),
        ("odd-names", ("rm -rf inbox/*",)),
        ("odd-names", (EACH.replace("IFS= ", "") + MOVE.format(how="", name="${path##*/}"),)),
        ("odd-names", ("solve", "for each in shelf/*/*; do ln \"$each\" inbox; done")),
        ("odd-names", ("solve", "mv shelf inbox/; mkdir shelf; ln -s ../inbox/shelf/* shelf")),
        ("wanted-twice", (LAX, "bin/shelve", "rm -rf inbox/*")),
        ("wanted-twice", (f"{EACH}{MOVE.format(how='--backup=numbered', name='${path##*/}')}",)),
        ("place-taken", (LAX, "bin/shelve")),
        ("place-taken", (f"{EACH}{MOVE.format(how='-n', name='${path##*/}')}", "rm -rf inbox/*")),
        ("same-content", (LAX, "bin/shelve")),
        ("same-content", ("rm inbox/*/*-of-*", "bin/shelve")),
        ("same-content", ("sed -i 's/no file in/no or some files in/' RULES.md", "solve")),
    ],
)  # fmt: skip
def test_what_loses_or_renames_something_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """Overwritten, left out, under another name, only linked, or everything twice."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("odd-names", (QUOTED, "bin/shelve", "rm -r inbox/*")),
        ("odd-names", (f"{EACH}{MOVE.format(how='-n', name='${path##*/}')}",)),
        ("wanted-twice", ("solve", "rm -r inbox")),
    ],
)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The script mended, or none of it."""
    assert _play(attempt, cause, commands)


def test_the_rules_by_hand() -> None:
    """What all goals follow from, on a shelf that one can see through."""
    a, b, c = (
        f"Date: {day}\n{number}\n".encode() for number, day in enumerate(("2021-01-01", "2021-02-02", "2022-01-01"))
    )
    inbox = {"zoe/x": a, "bob/x": b, "ann/x": c, "bob/y": a, "ann/ z\n": a, "zoe/taken": b + b"more\n"}
    assert shelved(inbox, {"2021/taken": b"old"}) == {
        "2021/taken": b"old", "2021/zoe-taken": b + b"more\n", "2021/x": b, "2022/x": c, "2021/ z\n": a,
    }  # fmt: skip
    assert shelved({"zoe/x": a, "bob/x": b}, {}) == {"2021/zoe-x": a, "2021/bob-x": b}
