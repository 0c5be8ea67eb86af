"""Small jobs with files in three levels: one command and one name, one command and more to get right, two commands.

A task follows from its number; what it asks for says whether it is one to learn from or one to be tested with. Run
as a program it prints which share of some tasks their own solutions solve.
"""

from __future__ import annotations

import argparse
import random
from functools import cache
from zlib import crc32

import gymnasium as gym

from termgym.env import TermEnv
from termgym.plan import ActionPlan
from termgym.tasks import FileSpec, Task

WORDS = """
apple bird boat bread bridge candle chair cloud clock coffee door earth field fire forest garden glass gold hill horse
house iron island juice king lamp letter moon mountain night ocean paper queen river road salt snow stone train tree
"""
NAMES = WORDS.split()
ENDS = (".txt", ".csv", ".log", ".md")
JOBS = {  # what is asked, the command that does it, and what holds then
    "folder": ("make folder {folder}", "mkdir {folder}", ["dir {folder}"]),
    "delete": ("delete file {old}", "rm {old}", ["no {old}"]),
    "write": ("write {word} to file {new}", "echo {word} > {new}", ["text {new} {word}"]),
    "rename": ("rename file {old} to {new}", "mv {old} {new}", ["no {old}", "text {new} old"]),
    "copy": ("copy file {old} to {new}", "cp {old} {new}", ["text {old} old", "text {new} old"]),
    "fill": ("write {word} to file {folder}/{new}", "echo {word} > {folder}/{new}", ["text {folder}/{new} {word}"]),
    "move": ("move file {old} to folder {folder}", "mv {old} {folder}", ["no {old}", "text {folder}/{old} old"]),
}
LEVELS = (("folder", "delete"), ("write", "rename", "copy"), ("folder fill", "folder move", "delete write"))
KINDS = {"no": {"type": "file_absent"}, "dir": {"type": "file_exists", "kind": "dir"}, "text": {"type": "text_in_file"}}


def task(number: int) -> Task:
    """Return the task of a number; each three in a row are of the three levels."""
    draw = random.Random(number)
    level = number % len(LEVELS)
    words = {"folder": draw.choice(NAMES) + draw.choice(("", "s", "_old", "_new")), "word": draw.choice(NAMES)}
    words["old"], words["new"] = (name + draw.choice(ENDS) for name in draw.sample(NAMES, 2))
    parts = draw.choice(LEVELS[level]).split()
    asked, commands, holds = zip(*(JOBS[part] for part in parts), strict=True)
    return Task(
        f"level{level + 1}-{'-'.join(parts)}/{number}",
        ", then ".join(asked).format(**words),
        tuple(check(each.format(**words)) for some in holds for each in some),
        (FileSpec(f"/home/agent/{words['old']}", b"old\n"),),
        oracle=tuple(ActionPlan(command=command.format(**words)) for command in commands),
        max_steps=2,
    )


def check(holds: str) -> dict[str, str]:
    kind, path, *text = holds.split()
    found = KINDS[kind] | {"path": f"~/{path}"}
    return found | {"pattern": f"^{text[0]}$"} if text else found


@cache  # the environments of a training, or the sessions of a server, share them
def tasks(*, test: bool, easy: float = 1.0, numbers: range = range(6000)) -> tuple[Task, ...]:
    """Return tasks to learn from, or those to be tested with; none of one part asks for what one of the other does.

    Of those that take one command the share ``easy`` is kept.
    """
    part = [each for each in map(task, numbers) if (crc32(each.instruction.encode()) % 4 == 0) == test]
    return tuple(each for each in part if len(each.oracle) > 1 or crc32(each.id.encode()) % 1000 < 1000 * easy)


def terminal(*, test: bool = False, easy: float = 1.0) -> TermEnv:
    """Return a terminal whose seed draws the task; its reward tells progress towards the goal."""
    return TermEnv(tasks=tasks(test=test, easy=easy), reward="shaped", weights={"gamma": 1.0})


def main(count: int) -> float:
    solved = 0
    for each in map(task, range(count)):
        env = TermEnv(task=each, reward="success")
        env.reset(seed=0)
        solved += sum(env.step(f'{{"command": "{plan.command}"}}')[1] for plan in each.oracle) == 1
        env.close()
    return solved / count


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=30)
    print(main(parser.parse_args().tasks))
else:  # a configuration names this module, and imports it
    gym.register("GradedTasks-v0", terminal)
