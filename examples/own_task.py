"""Make a task of your own and solve it with random commands. Prints the steps until success, 0 for never."""

from __future__ import annotations

import argparse
import random

import gymnasium as gym

import termgym
from termgym.checks import FileAbsent, FileExists
from termgym.tasks.task import FileSpec, Task

TASK = Task(
    id="sort-the-desk/plain@0",
    instruction="Put the note into the folder ~/notes, and throw the draft away.",
    files=(
        FileSpec("/home/agent/note.txt", b"milk, bread\n"),
        FileSpec("/home/agent/draft.txt", b"milk\n"),
        FileSpec("/home/agent/notes", kind="dir", mode=0o755),
    ),
    goal=(FileExists(path="/home/agent/notes/note.txt"), FileAbsent(path="/home/agent/draft.txt")),
)
COMMANDS = ("ls", "mv note.txt notes/", "rm draft.txt", "cat *.txt", "cd ~", "cd notes")


def main(steps: int) -> int:
    env = gym.make("termgym:TermEnv-v1", task=TASK, reward="shaped")
    env.reset(seed=0)
    chance = random.Random(0)
    for step in range(1, steps + 1):
        command = chance.choice(COMMANDS)
        _, reward, terminated, truncated, _ = env.step(termgym.plan(command, expected_exit_code=None))
        print(f"{step:3} {command:20} {reward:+.3f}")
        if terminated or truncated:
            break
    env.close()
    return step if terminated else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=30)
    print(main(parser.parse_args().steps))
