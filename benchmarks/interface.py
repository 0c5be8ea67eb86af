"""What an interface costs a step: the line and the terminal, bare and through every style.

    python benchmarks/interface.py [--steps 500]

Prints milliseconds of processor time a step, and of it what writing the call, reading it and laying out the
observation take.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym

from rolf.interface import HELD_OUT, TRAINING, in_style
from rolf_wrappers import RotateInterface
from termgym import plan

MADE: dict[str, tuple[Callable[[], gym.Env[Any, Any]], Sequence[Any]]] = {
    "line": (lambda: gym.make("linegym:LineEnv-v1"), (0, 1, 74, 313, 330)),
    "terminal": (lambda: gym.make("termgym:TermEnv-v1"), (plan("ls -la /etc"), plan("cd /tmp"), plan("false"))),
}


def per_step(env: gym.Env[Any, Any], actions: Sequence[Any], steps: int) -> float:
    """Return what a step takes, with the writing of its action [ms of processor time]."""
    env.reset(seed=0)
    for action in actions:
        env.step(in_style(env, action))
    start = time.process_time()
    over = False
    for step in range(steps):
        if over:
            env.reset()
        *_, terminated, truncated, _ = env.step(in_style(env, actions[step % len(actions)]))
        over = terminated or truncated
    taken = time.process_time() - start
    env.close()
    return 1000 * taken / steps


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=500)
    steps = parser.parse_args().steps
    for name, (make, actions) in MADE.items():
        bare = per_step(make(), actions, steps)
        print(f"{name:10}{'bare':20}{bare:8.3f} ms")
        for style in (*TRAINING, *HELD_OUT):
            taken = per_step(RotateInterface(make(), styles=[style]), actions, steps)
            print(f"{name:10}{style:20}{taken:8.3f} ms, {taken - bare:+.3f}")
        taken = per_step(RotateInterface(make(), every="step"), actions, steps)
        print(f"{name:10}{'every step':20}{taken:8.3f} ms, {taken - bare:+.3f}")


if __name__ == "__main__":
    main()
