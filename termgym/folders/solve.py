"""Solve: the plans of an oracle as the ``solve.sh`` of a task folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

from termgym.folders.trees import put
from termgym.plan import ActionPlan
from termgym.tasks.task import HOME

ANSWER = '''\
"""Run a command at a terminal of its own and answer what it asks: answer.py COMMAND [PATTERN TEXT]..."""

import os
import pty
import re
import select
import sys
import time

command, *pairs = sys.argv[1:]
exchanges = list(zip(pairs[::2], pairs[1::2]))
child, terminal = pty.fork()
if child == 0:
    os.execv("/bin/bash", ["bash", "-c", command])
seen, end = "", time.monotonic() + 60
while time.monotonic() < end:
    if not select.select([terminal], [], [], 0.2)[0]:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.write(data.decode("utf-8", "replace"))
    seen = (seen + data.decode("utf-8", "replace"))[-8192:]
    for index, (expect, send) in enumerate(exchanges):
        if re.search(expect, seen, re.MULTILINE):
            del exchanges[index]
            seen = ""
            os.write(terminal, (send if send.endswith(("\\n", "\\r")) else send + "\\n").encode())
            break
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
'''


def write_solution(plans: tuple[ActionPlan, ...], directory: Path) -> None:
    """Write the directory of a solution: one shell runs all plans one after the other, as the agent would."""
    put(directory / "solve.sh", "\n".join(_lines(plans)) + "\n", runs=True)
    if any(plan.dialogue for plan in plans):
        put(directory / "answer.py", ANSWER)


def _lines(plans: tuple[ActionPlan, ...]) -> Iterator[str]:
    yield "#!/bin/bash"
    yield f"cd {HOME} || exit 1"
    for plan in plans:
        if plan.dialogue:
            pairs = " ".join(f"{shlex.quote(each.expect)} {shlex.quote(each.send)}" for each in plan.dialogue)
            yield f"python3 /solution/answer.py {shlex.quote(plan.command)} {pairs}"
        else:
            yield plan.command


def checks_json(checks: list[dict[str, object]], uid: int) -> str:
    """Return what ``tests/judge.py`` reads."""
    return json.dumps({"home": HOME, "user": uid, "checks": checks}, indent=1, ensure_ascii=False) + "\n"
