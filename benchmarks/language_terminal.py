"""The terminals of ``language_training.py``: tasks of so many files, told to both sides in the same words."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import Any

import gymnasium
import psutil

from rolf.interface import Call
from rolf.interface.layouts import layout
from termgym.checks import TextInFile
from termgym.env import TermEnv
from termgym.plan import ActionPlan
from termgym.tasks import Task

ENV = "BenchmarkFiles-v0"
TASKS = 300


def task(number: int, files: int) -> Task:
    draw = random.Random(number)
    names = [each + draw.choice((".txt", ".log", ".csv")) for each in draw.sample("abcdefgh", files)]
    pairs = [(name, draw.choice(("hello", "yes", "done"))) for name in names]
    asked = "".join(f"create file {name} with text {word}\n" for name, word in pairs)
    goal = tuple(TextInFile(path=f"/home/agent/{name}", pattern=f"^{word}$") for name, word in pairs)
    plans = tuple(ActionPlan(command=f"echo {word} > {name}") for name, word in pairs)
    return Task(f"files/{number}", asked, goal, oracle=plans, max_steps=files)


class Terminal(TermEnv):
    """The terminal, which adds up what it takes of this process's time."""

    spent = 0.0
    """Processor time of all of them [s]."""

    def __init__(self, files: int) -> None:
        super().__init__(tasks=[task(number, files) for number in range(TASKS)], reward="shaped")

    def reset(self, **more: Any) -> Any:
        return _clocked(lambda: super(Terminal, self).reset(**more))

    def step(self, action: Any) -> Any:
        return _clocked(lambda: super(Terminal, self).step(action))


class Shell:
    """A terminal as TRL wants it, which it makes as many of as episodes are played together."""

    def __init__(self, files: int) -> None:
        self._env = gymnasium.make(ENV, files=files, disable_env_checker=True)
        self._layout = layout("transcript")
        self._paid, self._over = 0.0, True

    def reset(self, seed: int, **_: Any) -> str:
        observation, info = self._env.reset(seed=seed)
        self._paid, self._over = 0.0, False
        return self._told(observation, info, "")

    def run(self, command: str) -> str:
        """Run a command.

        Args:
            command: What bash is to run.
        """
        if self._over:
            raise RuntimeError("the episode is over")
        world: Any = self._env.unwrapped
        action = world.action_of(Call("run", {"command": command}))
        observation, reward, terminated, truncated, info = self._env.step(action)
        self._paid, self._over = self._paid + float(reward), terminated or truncated
        return self._told(observation, info, command)

    def get_reward(self) -> float:
        return self._paid

    def _told(self, observation: Any, info: Mapping[str, Any], did: str) -> str:
        world: Any = self._env.unwrapped
        return self._layout(world.told(observation, info), did)


def below() -> float:
    """Return the processor time of all processes below this one, ended ones included [s]."""
    ended = getrusage(RUSAGE_CHILDREN)
    living = [sum(each.cpu_times()[:4]) for each in psutil.Process().children(recursive=True)]
    return float(ended.ru_utime + ended.ru_stime + sum(living))


def _clocked(act: Callable[[], Any]) -> Any:
    began = process_time()
    found = act()
    Terminal.spent += process_time() - began
    return found
