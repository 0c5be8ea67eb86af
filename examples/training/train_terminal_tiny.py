"""Teach a model of a million weights to work in a real terminal: by demonstrations first, then by PPO.

Prints which share of tasks that it has never seen it solves in the end. The defaults take some minutes.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path
from typing import Any

import gymnasium as gym

from rolf_adapters.ppo.config import read
from rolf_adapters.ppo.language import tiny
from rolf_adapters.ppo.train import train
from termgym.checks import TextInFile
from termgym.env import TermEnv
from termgym.plan import ActionPlan
from termgym.tasks import Task


def task(number: int) -> Task:
    draw = random.Random(number)
    file, word = draw.choice("abcdefgh") + draw.choice((".txt", ".log", ".csv")), draw.choice(("hello", "yes", "done"))
    asked, command = f"create file {file} with text {word}", f"echo {word} > {file}"
    goal = (TextInFile(path=f"/home/agent/{file}", pattern=f"^{word}$"),)
    return Task(f"file/{number}", asked, goal, oracle=(ActionPlan(command=command),), max_steps=2)


def terminal(first: int) -> TermEnv:
    return TermEnv(tasks=[task(number) for number in range(first, first + 300)], reward="success")


def model(*, seed: int) -> tuple[Any, Any]:
    tasks = [task(number) for number in range(3000, 3300)]
    answers = [f'{{"command": "{each.oracle[0].command}"}}' for each in tasks]
    texts = [each.instruction for each in tasks]
    words = tiny.tokenizer([*texts, *answers, "[exit_code 0, event DONE]\n/home/agent$ "])
    return tiny.model(words, seed=seed), words


def main(changes: tuple[str, ...]) -> float:
    config = read(Path(__file__).with_suffix(".yaml"), changes)
    with tempfile.TemporaryDirectory() as folder:
        done = train(config, Path(folder), report=lambda news: print(news.done, news.values.get("rollout/success", "")))
    return done.values["evaluation/success"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("change", nargs="*", help="in the configuration: training.iterations=2")
    print(main(tuple(parser.parse_args().change)))
else:  # the configuration names this module, and imports it
    gym.register("FileTasks-v0", terminal)
