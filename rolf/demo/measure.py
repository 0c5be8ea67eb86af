"""What an episode costs on this machine, measured now."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

RSYNC_RESTORE = ("rsync", "-aHAX", "--delete")
"""How a home directory is commonly put back between episodes."""
FOLDERS, FILES_EACH = 100, 100
"""What is added to the task's home, so that it is about as full as a person's."""
ARCHIVE_LIMIT = 16 << 20
"""Output that is kept of a step, enough for the archive of the home [bytes]."""


@dataclass(frozen=True, slots=True)
class ResetCost:
    """Median times to be back at the initial state after a few files changed [s]."""

    reset: float
    """The whole `reset`: processes, files, shell, first observation."""
    rsync: float | None
    """One rsync of the same tree: files alone. None: rsync is not installed."""
    files: int
    """Entries in the tree."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Steps of many shells in one process."""

    shells: int
    steps: int
    """Of all shells together."""
    seconds: float

    @property
    def rate(self) -> float:
        """Steps a second."""
        return self.steps / self.seconds


def measure_reset(env_id: str, task: Any, *, rounds: int = 7, **settings: Any) -> ResetCost:
    """Time `reset` of a task with a full home beside rsync on the same tree, each after the same small change."""
    setup = f"{task.setup}\nmkdir -p ~/{{1..{FOLDERS}}} && touch ~/{{1..{FOLDERS}}}/{{1..{FILES_EACH}}}\n"
    crowded = dataclasses.replace(task, id=f"{task.id} with {FOLDERS * FILES_EACH} more files", setup=setup)
    env = gymnasium.make(env_id, task=crowded, output_limit=ARCHIVE_LIMIT, **settings)
    change = json.dumps({"command": "date > ~/changed; mkdir -p ~/new && touch ~/new/{a,b,c}"})
    try:
        env.reset(seed=0)  # builds the initial state, once
        ours = _median(env.reset, lambda: env.step(change), rounds)
        archive = _archive(env)
    finally:
        env.close()
    rsync, files = _measure_rsync(archive, rounds)
    return ResetCost(ours, rsync, files)


def _archive(env: gymnasium.Env[Any, Any]) -> bytes:
    """Return the agent's files as an archive, by way of the terminal."""
    observation, *_ = env.step(json.dumps({"command": "tar -C ~ -czf - . | base64 -w0", "timeout": 60}))
    return base64.b64decode(observation["stdout"])


def _measure_rsync(archive: bytes, rounds: int) -> tuple[float | None, int]:
    """Return the median time of one restore, if rsync is there, and the number of entries."""
    # In memory, as the environment's own trees are: a disk would make rsync look worse than it is.
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="rolf-demo-", dir=place) as scratch:
        tree, backup = Path(scratch, "home"), Path(scratch, "backup")
        tree.mkdir()
        subprocess.run(["tar", "-xzf", "-", "-C", str(tree)], input=archive, check=True)
        files = sum(1 for _ in tree.rglob("*"))
        if shutil.which("rsync") is None:
            return None, files
        subprocess.run([*RSYNC_RESTORE, f"{tree}/", f"{backup}/"], check=True)

        def disturb() -> None:
            (tree / "changed").write_text("changed")
            (tree / "new").mkdir()
            for name in "abc":
                (tree / "new" / name).touch()

        def restore() -> None:
            subprocess.run([*RSYNC_RESTORE, f"{backup}/", f"{tree}/"], check=True)

        return _median(restore, disturb, rounds), files


def _median(act: Callable[[], object], disturb: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        disturb()
        begun = time.perf_counter()
        act()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def measure_throughput(env_id: str, shells: int, *, rounds: int = 60, **settings: Any) -> Throughput:
    """Step ``shells`` real shells in lock-step, a builtin each."""
    # No episode ends while the clock runs: what a reset costs is measured apart.
    envs = gymnasium.make_vec(env_id, num_envs=shells, max_steps=10 * rounds, **settings)
    try:
        envs.reset(seed=0)
        actions = (json.dumps({"command": "true"}),) * shells
        envs.step(actions)  # the first step warms up
        begun = time.perf_counter()
        for _ in range(rounds):
            envs.step(actions)
        return Throughput(shells, shells * rounds, time.perf_counter() - begun)
    finally:
        envs.close()
