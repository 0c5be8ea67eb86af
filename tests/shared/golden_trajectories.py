"""Golden trajectories: what the same task, seed and actions gave when this version of the environment was made.

    python tests/shared/golden_trajectories.py      # write tests/shared/TermEnv-v1.json anew

A digest that moves means that somebody's results cannot be reproduced: raise the environment's version, or find the
bug.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from termgym import keys, plan
from termgym.assignment import sandbox_opener
from termgym.episode import Episode
from termgym.options import Options
from termgym.outcome import Outcome
from termgym.tasks import blank, causes, families, make_task
from termgym.tasks.task import Task

FILE = Path(__file__).with_name("TermEnv-v1.json")
SEED = 7
_PATH = "/usr/bin:/bin"
TOOLS = ("bash", "git", "ls", "sed", "grep", "tar", "gzip", "awk", "find", "make", "iconv", "/usr/bin/python3")

MIXED = (
    plan("echo out; echo err >&2; (exit 3)"),
    "not a plan",
    plan("sleep 30", timeout=0.3),
    plan("read -r line; echo \"got:$line\""),
    keys("hello Enter"),
    plan("exit 4"),
    plan("mkdir -p a/b; echo x > a/b/f; ln a/b/f a/g; ln -s g a/h; chmod 600 a/g; cd a; pwd"),
    plan("head -1 /proc/self/maps | cut -d' ' -f1; date -r /etc/passwd +%s"),
    plan("ls -lR --time-style=+ . ; ps -o pid,comm -p $$; echo $$ $!; id; cat /proc/uptime"),
    plan("git init -q r; cd r; echo 1 > f; git add f; git commit -qm first; git rev-parse HEAD; git status --short"),
    plan("python3 -c 'print({x for x in \"abcdef\"}, hash(\"rolf\"), id(object()))'"),
    plan("printf 'caf\\xc3\\xa9 \\xff\\n'; seq 20000"),
)  # fmt: skip
"""A free episode through most events and most of what is pinned."""


def tools() -> dict[str, str]:
    """Return the first line of each tool's version: the text they print is part of an observation."""
    asked = {tool: [tool, "--version"] for tool in TOOLS}
    # SQLite writes its version into every database.
    asked["sqlite"] = ["/usr/bin/python3", "-c", "import sqlite3; print(sqlite3.sqlite_version)"]
    versions = {}
    for tool, argv in asked.items():
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env={"PATH": _PATH})
        versions[tool] = (done.stdout or done.stderr).splitlines()[0]
    return versions


def trajectories() -> Iterator[tuple[str, Task, tuple[str, ...]]]:
    """Yield (name, task, actions) of every golden trajectory."""
    yield "mixed", blank(), MIXED
    for family in families():
        for cause in causes(family):
            task = make_task(f"{family}/{cause}", SEED)
            yield task.id, task, tuple(action.model_dump_json() for action in task.oracle)


def play(episode: Episode, task: Task, actions: tuple[str, ...]) -> list[Outcome]:
    """Return the outcomes of a fresh episode."""
    outcomes = [episode.start(task)]
    for action in actions:
        outcomes.append(episode.step(action))
        if outcomes[-1].ended:
            break
    return outcomes


def digest(episode: Episode, outcomes: list[Outcome]) -> str:
    """Return one figure for all that was observed, paid and left."""
    seen = [
        [o.stdout, o.stderr, o.cwd, o.exit_code, o.event.name, o.reward, o.terminated, o.truncated] for o in outcomes
    ]
    text = json.dumps([seen, episode.state_digest()])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def measure(every: int = 1) -> dict[str, str]:
    """Return the digest of every golden trajectory as it is now, or of one in ``every`` of them."""
    options = Options.of({})
    episode = Episode(sandbox_opener(options), options)
    chosen = itertools.islice(trajectories(), 0, None, every)
    try:
        return {name: digest(episode, play(episode, task, actions)) for name, task, actions in chosen}
    finally:
        episode.close()


if __name__ == "__main__":
    FILE.write_text(json.dumps({"tools": tools(), "digests": measure()}, indent=1) + "\n")
