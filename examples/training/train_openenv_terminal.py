"""Train a policy by REINFORCE in several terminals of an OpenEnv server. Prints how much more it solves.

It chooses from a menu of commands, into which the names in the instruction go. It is tested with tasks it never saw.
"""

import argparse
import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rolf_adapters.openenv import EpisodeClient, ToolCall

TASKS, SESSIONS = "graded_tasks:GradedTasks-v0", 8  # from the file beside this one; a task has two steps
TEST = {"env_id": TASKS, "kwargs": {"test": True}, "seed": 0}
SERVER = [sys.executable, "-m", "rolf_adapters.openenv", TASKS, "--port", "0", "--choice", "test"]
VERBS = ("make", "delete", "write", "rename", "copy", "move")
MENU = ("ls", "mkdir {0}", "rm {0}", "echo {0} > {1}", "mv {0} {1}", "cp {0} {1}", "echo {1} > {2}", "mv {1} {2}")


async def play(env: EpisodeClient, weights: Any, seed: int, variant: Any) -> tuple[list[Any], bool]:
    """Return what was seen, the chances, the choice and the reward of each step, and whether the goal was reached."""
    rng, steps, told = np.random.default_rng(seed), [], await env.reset(seed=seed, variant=variant)
    words = told.observation.text.split("\n")[1].replace(",", "").split()
    names = [word for word in words if word not in (*VERBS, "folder", "file", "to", "then")] + ["", ""]
    while not told.done:
        seen = np.outer(np.eye(2)[len(steps)], [1, *(verb in words for verb in VERBS)]).ravel()
        chances = np.exp(seen @ weights) / np.exp(seen @ weights).sum()
        choice = rng.choice(len(MENU), p=chances)
        told = await env.step(ToolCall(tool="run", arguments={"command": MENU[choice].format(*names)}))
        steps.append((seen, chances, choice, told.reward))
    return steps, told.observation.success


async def together(envs: list[EpisodeClient], weights: Any, first: int, variant: Any = None) -> list[Any]:
    return await asyncio.gather(*(play(env, weights, first + at, variant) for at, env in enumerate(envs)))


async def train(url: str, updates: int, rounds: int, seed: int) -> float:
    envs, test = ([EpisodeClient(base_url=url) for _ in range(SESSIONS)] for _ in range(2))
    weights, values, scores = np.zeros((14, len(MENU))), np.zeros(14), []  # of what is seen: for choices, for returns
    for update in range(updates + 1):
        if update in (0, updates):
            played = [await together(test, weights, SESSIONS * number, TEST) for number in range(rounds)]
            scores.append(np.mean([solved for episodes in played for _, solved in episodes]))
            print(f"{scores[-1]:.2f} of the test are solved after {update} updates")
        for steps, _ in await together(envs, weights, SESSIONS * (1000 * seed + update)):
            for at, (seen, chances, choice, _) in enumerate(steps):
                better = sum(reward for *_, reward in steps[at:]) - seen @ values
                weights += 0.3 * better * np.outer(seen, np.eye(len(MENU))[choice] - chances)
                values += 0.1 * better * seen
    await asyncio.gather(*(env.close() for env in (*envs, *test)))
    return float(scores[-1] - scores[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in {"updates": 80, "rounds": 12, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    given = parser.parse_args()
    with subprocess.Popen(SERVER, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent) as server:
        try:
            print(asyncio.run(train(server.stdout.readline().strip(), **vars(given))))
        finally:
            server.terminate()
