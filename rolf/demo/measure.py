"""What an episode costs on this machine, measured now."""

from __future__ import annotations

import base64
import io
import json
import shutil
import statistics
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

RSYNC_RESTORE = ("rsync", "-aHAX", "--delete")
"""How a home directory is commonly put back between episodes."""


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


def measure_reset(env: gymnasium.Env[Any, Any], seed: int, *, rounds: int = 7) -> ResetCost:
    """Time `reset` beside rsync on the same tree, each after the same small change."""
    change = json.dumps({"command": "date > ~/changed; mkdir -p ~/new && touch ~/new/{a,b,c}"})

    def reset() -> None:
        env.reset(seed=seed)

    env.reset(seed=seed)
    ours = _median(reset, lambda: env.step(change), rounds)
    env.reset(seed=seed)
    with tempfile.TemporaryDirectory(prefix="rolf-demo-") as scratch:
        tree, backup = Path(scratch, "home"), Path(scratch, "backup")
        _copy_out(env, tree)
        files = sum(1 for _ in tree.rglob("*"))
        if shutil.which("rsync") is None:
            return ResetCost(ours, None, files)
        subprocess.run([*RSYNC_RESTORE, f"{tree}/", f"{backup}/"], check=True)

        def restore() -> None:
            subprocess.run([*RSYNC_RESTORE, f"{backup}/", f"{tree}/"], check=True)

        def disturb() -> None:
            (tree / "changed").write_text("changed")
            (tree / "new").mkdir()
            for name in "abc":
                (tree / "new" / name).touch()

        return ResetCost(ours, _median(restore, disturb, rounds), files)


def _median(act: Callable[[], object], disturb: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        disturb()
        begun = time.perf_counter()
        act()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def _copy_out(env: gymnasium.Env[Any, Any], target: Path) -> None:
    """Copy the agent's files out of the sandbox, by way of the terminal."""
    observation, *_ = env.step(json.dumps({"command": "tar -C ~ -cf - . | base64 -w0", "timeout": 60}))
    archive = io.BytesIO(base64.b64decode(observation["stdout"]))
    with tarfile.open(fileobj=archive) as tar:
        tar.extractall(target, filter="tar")


def measure_throughput(env_id: str, shells: int, *, rounds: int = 60, **settings: Any) -> Throughput:
    """Step ``shells`` real shells in lock-step, a builtin each."""
    envs = gymnasium.make_vec(env_id, num_envs=shells, **settings)
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
