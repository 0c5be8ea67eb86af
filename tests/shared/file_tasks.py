"""File tasks: five kinds of small jobs in a real terminal, short enough for a model of a million weights.

``file_tasks:FileTasks-v0`` is a Gymnasium id whose episodes are these tasks; `tiny` makes a model that can read them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import gymnasium as gym

from termgym.checks import Check, FileAbsent, FileExists, TextInFile
from termgym.env import TermEnv
from termgym.plan import ActionPlan
from termgym.tasks import FileSpec, Task

NAMES = ("a.txt", "b.md", "c.py", "d.csv", "e.log", "f.ini", "g.sh", "h.cfg")
FOLDERS = ("src", "logs", "docs", "bin")
WORDS = ("hello", "yes", "ok", "done")
KINDS = ("write", "mkdir", "delete", "move", "two")
HOME = "/home/agent"
TEST, TRAIN, TEXTS = range(1_000), range(1_000, 3_000), range(5_000, 5_400)
"""Numbers of the tasks for evaluation, for learning, and for the tokenizer."""


def task(number: int) -> Task:
    """Return the task of a number."""
    rng = random.Random(f"files/{number}")
    kind = rng.choice(KINDS)
    name, other = rng.sample(NAMES, 2)
    folder, word = rng.choice(FOLDERS), rng.choice(WORDS)
    asked, commands, goal = _job(kind, name, other, folder, word)
    there = (FileSpec(f"{HOME}/{name}", b"old\n"),) if kind in ("delete", "move") else ()
    oracle = tuple(ActionPlan(command=command) for command in commands)
    return Task(
        id=f"{kind}/{number}", family=kind, instruction=asked, files=there, goal=goal, oracle=oracle, max_steps=2
    )


def _job(kind: str, name: str, other: str, folder: str, word: str) -> tuple[str, Sequence[str], Sequence[Check]]:
    written = f"^{word}$"
    jobs: dict[str, tuple[str, Sequence[str], Sequence[Check]]] = {
        "write": (
            f"create file {name} with text {word}",
            (f"echo {word} > {name}",),
            (TextInFile(path=f"{HOME}/{name}", pattern=written),),
        ),
        "mkdir": (f"create folder {folder}", (f"mkdir {folder}",), (FileExists(path=f"{HOME}/{folder}", kind="dir"),)),
        "delete": (f"delete file {name}", (f"rm {name}",), (FileAbsent(path=f"{HOME}/{name}"),)),
        "move": (
            f"rename file {name} to {other}",
            (f"mv {name} {other}",),
            (FileExists(path=f"{HOME}/{other}"), FileAbsent(path=f"{HOME}/{name}")),
        ),
        "two": (
            f"create folder {folder} then file {folder}/{name} with text {word}",
            (f"mkdir {folder}", f"echo {word} > {folder}/{name}"),
            (TextInFile(path=f"{HOME}/{folder}/{name}", pattern=written),),
        ),
    }
    return jobs[kind]


@cache
def tasks(numbers: range) -> tuple[Task, ...]:
    """Return the tasks of these numbers; made once, for many environments share them."""
    return tuple(task(number) for number in numbers)


def make(part: str = "train", **settings: Any) -> TermEnv:
    """Return a terminal whose seed draws one of the tasks of a part: ``train`` or ``test``."""
    return TermEnv(tasks=tasks(TRAIN if part == "train" else TEST), reward="success", **settings)


gym.register("FileTasks-v0", entry_point=make)


@cache
def words() -> Any:
    """Return a tokenizer that was trained on tasks of neither part."""
    from rolf_adapters.ppo.language import tiny

    texts = []
    for each in tasks(TEXTS):
        texts += [f"{each.instruction}\n{HOME}$ ", f"\n[exit_code 0, event DONE]\n{HOME}$ "]
        texts += [f'{{"command": "{plan.command}"}}' for plan in each.oracle]
    return tiny.tokenizer(texts)


def tiny(*, seed: int) -> tuple[Any, Any]:
    """Return an untrained model and its tokenizer, as ``policy.model`` names them: ``file_tasks:tiny``."""
    from rolf_adapters.ppo.language import tiny

    return tiny.model(words(), seed=seed), words()
