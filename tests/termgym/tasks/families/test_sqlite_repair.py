"""A database that gives no report: what must count as repaired, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.sqlite_repair import scene
from termgym.tasks.world import World

WORLDS = {
    "holes": ("index", 0),
    "page": ("index", 2),
    "aside": ("journal-aside", 1),
    "behind": ("old-schema", 2),
    "begun": ("old-schema", 0),
    "locked": ("locked", 1),
}
REPORT = "./report > report.txt"
COPY = "cp stock.db /tmp/copy && mv /tmp/copy stock.db"
END = (
    "for entry in /proc/[0-9]*; do if tr '\\0' ' ' 2> /dev/null < $entry/cmdline | grep -q '{what}'; then "
    "kill ${entry#/proc/}; while kill -0 ${entry#/proc/} 2> /dev/null; do sleep 0.02; done; fi; done"
)
GONE = END.replace("{what}", "import.py").replace("kill ${entry#/proc/}; ", "")


def sql(script: str) -> str:
    """Return the command that runs a script on the stock."""
    return f"python3 -c \"import sqlite3; sqlite3.connect('stock.db').executescript('''{script}''')\""


def _play(attempt: Callable[..., bool], name: str, commands: tuple[str, ...]) -> bool:
    cause, seed = WORLDS[name]
    at = scene(World("sqlite-repair", "", seed))
    task = make_task(f"sqlite-repair/{cause}", seed)
    repair = [plan.command for plan in task.oracle[1:]]
    words = [word for command in commands for word in (repair if command == "ORACLE" else (command,))]
    return attempt(task, f"cd {at.root}", *words)


@pytest.mark.parametrize(
    ("world", "commands"),
    [
        ("holes", (sql("DROP INDEX by_room; DROP INDEX by_item; DROP INDEX by_unit"), REPORT)),
        ("page", ("sed -i 's/if found != .ok./if False/' report", REPORT)),
        ("holes", ("ORACLE", sql("DELETE FROM moves WHERE item = 3; DELETE FROM items WHERE id = 3"), REPORT)),
        ("holes", ("ORACLE", ": > report.txt")),
        ("holes", ("ORACLE", "echo '# seen' >> report")),
        ("page", ("ORACLE", ": > stock.db-journal")),
        ("page", ("ORACLE", END.replace("{what}", "feed.py"))),
        ("aside", (sql("REINDEX"), REPORT)),
        ("aside", ("rm stock.db?*", sql("REINDEX; UPDATE items SET amount = (SELECT total(change) FROM moves "
                           "WHERE item = items.id)"), REPORT)),
        ("behind", (sql("PRAGMA user_version = 4"), REPORT)),
        ("begun", (sql("PRAGMA user_version = 4"), REPORT)),
        ("behind", (sql("ALTER TABLE items ADD COLUMN unit TEXT"), sql("PRAGMA user_version = 4"), REPORT)),
        ("behind", ("sed -i 's/!= 4/!= 3/' report", REPORT)),
        ("behind", ("ORACLE", "echo >> migrations/0004-units.sql")),
        ("behind", ("ORACLE", "rm inbox/next.txt")),
        ("locked", (COPY, REPORT)),
        ("locked", ("sed -i 's/mode=rw/immutable=1/' report", REPORT)),
        ("locked", ("cp report stock.db /tmp; /tmp/report > report.txt",)),
        ("locked", (END.replace("{what}", "stock.db"), REPORT)),
        ("locked", ("for fifo in /tmp/*-[0-9]; do echo 1 5 > $fifo; done", GONE, REPORT)),
    ],
)  # fmt: skip
def test_what_loses_or_invents_a_booking_does_not_count(
    attempt: Callable[..., bool], world: str, commands: tuple[str, ...]
) -> None:
    """Indexes dropped, a version that only says so, half a booking kept, a lock that was walked around."""
    assert not _play(attempt, world, commands)


@pytest.mark.parametrize(
    ("world", "commands"),
    [
        ("page", ("python3 -c \"import sqlite3 as s; print('\\n'.join(s.connect('stock.db').iterdump()))\" > /tmp/all",
                   "rm stock.db", sql("' + open('/tmp/all').read() + 'PRAGMA user_version = 4;").replace("'''", "'"),
                   REPORT)),
        ("aside", ("cp stock.db /tmp/new.db && cp $(ls stock.db?*) /tmp/new.db-journal",
                           "python3 -c \"import sqlite3 as s; s.connect('/tmp/new.db').execute('PRAGMA page_count')\"",
                           "cat /tmp/new.db > stock.db", REPORT)),
        ("locked", ("kill $(pgrep -f import.py)", "until ./report > report.txt; do :; done")),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], world: str, commands: tuple[str, ...]) -> None:
    """The outcome counts: the database written anew, rolled back elsewhere, another way to end the import."""
    assert _play(attempt, world, commands)
