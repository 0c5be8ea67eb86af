"""A script that does not run: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.script_does_not_run import scene
from termgym.tasks.world import World

SEED = 0
ECHO = 'printf \'#!/bin/bash\\ncat <<END\\n%s\\nEND\\n\' "$(bash -c "{awk}")" > {script}; chmod 755 {script}; ./report'
AWK = "tail -n +2 {script} | tr -d '\\r' | awk -f - data/*.csv"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("script-does-not-run", "", SEED))
    names = {"script": at.path, "name": at.name, "awk": AWK.format(script=at.path)}
    task = make_task(f"script-does-not-run/{cause}", SEED)
    repair = task.oracle[1].command
    return attempt(task, f"cd {at.root}", *(command.format(repair=repair, **names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("line-ends", ("{awk} > report.txt",)),
        ("line-ends", (ECHO,)),
        ("no-x-bit", ("sed -i 's|$({name} |$(awk -f bin/{name} |' report", "./report")),
        ("byte-order-mark", ("{repair}; echo '# mended' >> {script}", "./report")),
        ("interpreter", ("{awk} > report.txt", "sed -i '1s|.*|#!/home/agent/bin/awk -f|' {script}")),
        ("interpreter", ("{awk} > report.txt; sed -i '1s|.*|#!/usr/bin/env -S awk -f|' {script}; chmod -x {script}",)),
        ("interpreter", ("{repair}; rm $(ls data/* | head -n 1)", "./report")),
        ("no-x-bit", ("cp {script} ~/tools/bin/{name}; chmod 755 ~/tools/bin/{name}", "./report")),
        ("no-x-bit", ("mkdir bin/x; install -m 755 {script} bin/x/{name}; echo $PWD/bin/x > etc/path", "./report")),
        ("namesake", ("rm ~/tools/bin/{name}", "./report")),
        ("namesake", ("PATH=bin:$PATH; {name} data/*.csv > report.txt",)),
        ("namesake", ("chmod -x ~/tools/bin/{name}", "./report")),
    ],
)
def test_what_only_makes_the_report_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """A report without the script, another script or another way to start it, or the tools of others changed."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("line-ends", ("sed -i '1s/\\r$//' {script}", "./report")),
        ("line-ends", ("tr -d '\\r' < {script} > /tmp/x; cp /tmp/x {script}", "./report")),
        ("byte-order-mark", ("tail -c +4 {script} > /tmp/x; cat /tmp/x > {script}", "./report")),
        ("interpreter", ("sed -i '1s|.*|#!/usr/bin/env -S awk -f|' {script}", "./report")),
        ("namesake", ("echo bin > etc/path", "./report; cd /tmp")),
    ],
)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """Whatever makes it run, with the text that it had."""
    assert _play(attempt, cause, commands)
