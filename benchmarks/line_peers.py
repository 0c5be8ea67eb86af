"""The peers of benchmarks/line.py, each the way its own documentation uses it, in an interpreter of its own.

    python benchmarks/line_peers.py NAME

reads numbers of steps from its input, a line each, takes about as many and answers with how many it took and in which
processor time [s]. It needs the standard library and the peer alone, so the peers may live in an environment of their
own.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

Take = Callable[[int], int]
"""Takes about that many steps; returns how many."""

MISSING = 3
"""Exit status of a peer that is not installed."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Something to measure beside."""

    module: str
    install: str
    start: Callable[[], Take]


def lineflow() -> Take:
    from lineflow.examples.waiting_time import WaitingTime
    from lineflow.simulation import LineSimulation

    logging.disable(logging.CRITICAL)
    env = LineSimulation(WaitingTime(), simulation_end=4000)
    env.action_space.seed(0)
    return stepping(lambda: env.reset(seed=0), lambda: env.step(env.action_space.sample()))


def jssenv() -> Take:
    import JSSEnv
    import numpy as np
    from JSSEnv.envs import JssEnv

    env = JssEnv({"instance_path": Path(JSSEnv.__file__).parent / "envs" / "instances" / "ta01"})
    generator = np.random.default_rng(0)

    def step() -> Any:
        legal = np.flatnonzero(env.get_legal_actions())
        return env.step(int(generator.choice(legal)))

    return stepping(env.reset, step)


def stepping(reset: Callable[[], object], step: Callable[[], Any]) -> Take:
    """Return what takes steps and begins anew at an episode's end."""
    reset()

    def take(steps: int) -> int:
        for _ in range(steps):
            told = step()
            if told[2] or told[3]:
                reset()
        return steps

    return take


def envpool(count: int) -> Take:
    import envpool as pool
    import numpy as np

    envs = pool.make_gymnasium("CartPole-v1", num_envs=count, num_threads=1)
    envs.reset()
    actions = np.random.default_rng(0).integers(0, 2, count).astype(np.int32)

    def take(steps: int) -> int:
        times = max(1, steps // count)
        for _ in range(times):
            envs.step(actions)
        return times * count

    return take


def simpy_line() -> Take:
    """A serial line of 16 stations: flow and breakdowns alone, a step a tick, as a plain SimPy model has it."""
    import random

    import simpy

    world, draws, out = simpy.Environment(), random.Random(0), [0]
    buffers = [simpy.Store(world, capacity=4) for _ in range(15)]

    def station(number: int) -> Generator[Any, Any, None]:
        while True:
            part = (yield buffers[number - 1].get()) if number else object()
            yield world.timeout(draws.uniform(3.6, 4.4))
            if draws.random() < 0.01:
                yield world.timeout(draws.expovariate(1 / 20))
            if number == 15:
                out[0] += 1
            else:
                yield buffers[number].put(part)

    for number in range(16):
        world.process(station(number))

    def take(steps: int) -> int:
        for _ in range(steps):
            world.run(until=world.now + 1)
            [len(buffer.items) for buffer in buffers]  # what an observation would ask
        return steps

    return take


PEERS = {
    "LineFlow WaitingTime": Peer("lineflow", "pip install lineflow-rl", lineflow),
    "JSSEnv ta01": Peer("JSSEnv", "pip install JSSEnv", jssenv),
    "SimPy, 16 stations": Peer("simpy", "pip install simpy", simpy_line),
    "EnvPool CartPole, 64": Peer("envpool", "pip install envpool", lambda: envpool(64)),
    "EnvPool CartPole, 7000": Peer("envpool", "pip install envpool", lambda: envpool(7000)),
}


class Missing(Exception):
    """A peer is not installed; the message says how to get it."""


class Contestant:
    """A peer that runs in an interpreter of its own and says how long its steps took."""

    def __init__(self, name: str, python: str) -> None:
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "SDL_VIDEODRIVER": "dummy",
            "PYGAME_HIDE_SUPPORT_PROMPT": "1",
        }
        self._process = subprocess.Popen(
            [python, "-W", "ignore", __file__, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        if self._answers.readline() != "ready\n":
            status = self._process.wait()
            install = PEERS[name].install
            raise Missing(install if status == MISSING else f"it ended with status {status}; {install}")

    def rate(self, steps: int) -> float:
        """Take some steps; return how many that is per second of processor time."""
        self._requests.write(f"{steps}\n")
        self._requests.flush()
        taken, seconds = self._answers.readline().split()
        return int(taken) / float(seconds)

    def close(self) -> None:
        self._requests.close()
        self._process.wait(timeout=60)
        self._answers.close()


def serve(name: str) -> int:
    peer = PEERS[name]
    if importlib.util.find_spec(peer.module) is None:
        return MISSING
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what peers print must not pass for an answer
    take = peer.start()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        steps, began = int(line), process_time()
        taken = take(steps)
        print(taken, process_time() - began, file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1]))
