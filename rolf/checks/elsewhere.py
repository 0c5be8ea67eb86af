"""Elsewhere: the same episodes in fresh processes, each with a hash seed of its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any

from rolf.checks.player import Player
from rolf.checks.process import FreshProcess
from rolf.checks.reproduction import COMPARES, Reproduction, calls_code, compare_code
from rolf.checks.subject import Subject
from rolf.checks.tape import Answer
from rolf.checks.trial import Trial

Episode = tuple[int | None, list[Any]]
"""Seed and actions."""
HASH_SEEDS = tuple(str(seed) for seed in range(1, 1000))


def played(trial: Trial, episodes: Sequence[Episode], processes: int) -> list[tuple[str, list[Answer]]]:
    """Return the hash seed of each fresh process, and all that its environment answered.

    Raises:
        NotApplicable: the environment cannot be made in another process.
        CheckFailed: it raised there.
    """
    ours = os.environ.get("PYTHONHASHSEED")
    seeds = [seed for seed in HASH_SEEDS if seed != ours][:processes]
    request = (trial.check, trial.subject, list(episodes))
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(FreshProcess("rolf.checks.elsewhere", request, {"PYTHONHASHSEED": seed}))
            for seed in seeds
        ]
        return [(seed, process.result()) for seed, process in zip(seeds, running, strict=True)]


def main(request: tuple[str, Subject, list[Episode]]) -> list[Answer]:
    """Be the fresh process: play the episodes and return all answers."""
    check, subject, episodes = request
    with Trial(check, subject, None, (0,), 1, ()).player() as player:
        for seed, actions in episodes:
            player.replay(seed, actions)
        return player.tape


def reproduction(player: Player, count: int, name: str, hash_seeds: Sequence[str]) -> Reproduction:
    """Return what does some calls again in fresh processes and compares their last answers.

    Args:
        player: Who did the calls.
        count: How many of them.
        name: Which of the values of the last answer.
        hash_seeds: One a process.
    """
    code = player.trial.subject.code
    program = [
        *code.imports,
        "import pickle, sys",
        "from rolf.plain import plain",
        f"env = {code.expression}",
        *calls_code(player.calls[:count], player.env.action_space),
        f"sys.stdout.buffer.write(pickle.dumps(plain({name})))",
        "env.close()",
    ]
    lines = (
        'program = """',
        *(line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for line in program),
        '"""',
        "",
        "def play(hash_seed):",
        '    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}',
        '    command = [sys.executable, "-c", program]',
        "    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)",
        "    return pickle.loads(done.stdout)",
        "",
        f"for hash_seed in {[*hash_seeds[1:]]!r}:",
        *(f"    {line}" for line in compare_code(name, f"play({hash_seeds[0]!r}), play(hash_seed)", player.volatile)),
    )
    return Reproduction(("import os", "import pickle", "import subprocess", "import sys", COMPARES), lines)
