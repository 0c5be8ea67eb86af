"""A job that breaks off: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.nohup_job import scene
from termgym.tasks.world import World

SEED = 4
SWEEPER = (
    "for entry in /proc/[0-9]*; do if tr '\\0' ' ' 2> /dev/null < $entry/cmdline | grep -q 'sweeper.py'; then "
    "kill ${{entry#/proc/}}; fi; done"
)
WAIT = "until tail -n 1 job.log | grep -q '^done'; do sleep 0.1; done"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("nohup-job", "", SEED))
    names = {"job": at.name, "count": len(at.batches)}
    task = make_task(f"nohup-job/{cause}", SEED)
    return attempt(task, f"cd {at.root}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("hangup", ("./{job}",)),
        ("hangup", ("setsid -w ./{job}",)),
        ("hangup", ("(nohup ./{job} > /dev/null 2>&1 &)",)),
        ("hangup", (SWEEPER, "./{job}")),
        ("hangup", ("sed -i 's/sleep(.*)/sleep(0)/' {job}", "./{job}")),
        ("hangup", ("rm data/*", "nohup ./{job}")),
        ("hangup", ("nohup ./{job}", "for batch in data/*; do echo >> $batch; done")),
        ("hangup", ("sed -i s/0.4/99/ ../sweeper.py", "nohup ./{job}")),
        ("hangup", ("nohup ./{job}", ": > job.log")),
        ("hangup", ("nohup ./{job}", "touch state/lock")),
        ("stale-lock", ("rm state/lock", "./{job}")),
        ("stale-lock", ("rm -r state", "printf 'batch {count} of {count}\ndone: {count} batches\n' >> job.log",
                        "echo '{count} batches 0' > out/result.txt")),
        ("bad-checkpoint", ("printf '{{\"batches\": {count}, \"done\": {count}, \"digest\": \"\"}}' > /tmp/state",
                            "mv /tmp/state state/checkpoint.json",
                            "nohup ./{job}")),
        ("bad-checkpoint", ("nohup ./{job}",)),
    ],
)  # fmt: skip
def test_what_does_not_finish_the_work_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """A log that says done is not a job that is done; and the house's sweeper is not the agent's to end."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("hangup", ("nohup ./{job}",)),
        ("hangup", ("(trap '' HUP; ./{job})",)),
        ("stale-lock", ("rm -f state/*", "(trap '' HUP; setsid ./{job} > /dev/null 2>&1 < /dev/null &)", WAIT)),
        ("bad-checkpoint", ("rm -f state/*", "nohup ./{job} &", WAIT)),
    ],
)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The outcome counts: whatever keeps the hangup away, from the checkpoint or from the beginning."""
    assert _play(attempt, cause, commands)
