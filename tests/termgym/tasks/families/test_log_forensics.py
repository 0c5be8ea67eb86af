"""Who deleted the record: what must count as an answer, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import causes, make_task
from termgym.tasks.families.log_forensics import scene
from termgym.tasks.world import World

SEED = 6
CAUSES = causes("log-forensics")


def _play(attempt: Callable[..., bool], cause: str, *commands: str) -> bool:
    at = scene(World("log-forensics", "", SEED))
    everyone = " ".join(at.logins)
    task = make_task(f"log-forensics/{cause}", SEED)
    answer = task.oracle[-1].command.split("'")[1]
    login, address, when = answer.split()
    names = {
        "answer": answer, "login": login, "address": address, "when": when, "record": at.record, "everyone": everyone,
        "other": next(one for one in at.logins if one != login),
    }  # fmt: skip
    return attempt(task, f"cd {at.root}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize(
    "command",
    [
        "for who in {everyone}; do echo $who {address} {when}; done > answer.txt",
        "echo {other} {address} {when} > answer.txt",
        "echo {login} 127.0.0.1 {when} > answer.txt",
        "zgrep -h 'DELETE {record} 204' logs/api.log* | sort | head -n 1 "
        "| sed 's/^\\([^ ]*\\) actor=user:\\([^ ]*\\) addr=\\([^ ]*\\) .*/\\2 \\3 \\1/' > answer.txt",
        "zgrep -h 'DELETE {record} 403' logs/api.log* | sort | tail -n 1 "
        "| sed 's/^\\([^ ]*\\) actor=user:\\([^ ]*\\) addr=\\([^ ]*\\) .*/\\2 \\3 \\1/' > answer.txt",
        "echo {answer} > answer.txt; for log in logs/*.gz; do echo | gzip > $log; done",
        "echo {answer} > answer.txt; sed -i '/{record}/d' logs/api.log.1 logs/api.log; rm logs/auth.log.1",
    ],
)
def test_a_guess_or_a_trace_removed_does_not_count(attempt: Callable[..., bool], cause: str, command: str) -> None:
    """Everybody at once, the deletion that was undone, the one that was refused, or logs that say less than before."""
    assert not _play(attempt, cause, command)


@pytest.mark.parametrize("cause", CAUSES)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str) -> None:
    """Blanks around the answer and how it was found are nobody's business."""
    assert _play(attempt, cause, "printf ' {answer}  \\n\\n' > answer.txt")


@pytest.mark.parametrize("cause", CAUSES)
def test_the_logs_hold_one_answer(cause: str) -> None:
    """The deletion that counts is the last one that went through."""
    for seed in range(30):
        task = make_task(f"log-forensics/{cause}", seed)
        record = scene(World("log-forensics", "", seed)).record
        api = b"".join(file.content for file in task.files if "/logs/api" in file.path).decode()
        done = sorted(line for line in api.splitlines() if f"DELETE {record} 204" in line)
        assert len(done) == 2
        assert task.oracle[-1].command.split("'")[1].split()[2] == done[-1].split()[0]
