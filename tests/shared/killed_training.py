"""Train, be killed by SIGKILL at random moments, go on, until it is done: `killed_training.py OUT KILLS SEED CONFIG`.

One process imports everything once and forks a child for each life, so that twenty kills do not cost twenty imports.
A life ends so many iterations after its beginning, and a random time into the next: counted by the clock alone, no life
would come past its first iteration on a machine that has become busy since the whole training was timed. One that is
done before it was killed so often is put aside as ``OUT-0``, ``OUT-1`` and so on, and another one begins.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import torch
from warden import fork

from rolf_adapters.ppo.config import builder, checked
from rolf_adapters.ppo.train import train


def life(plain: dict[str, object], out: Path, told: int | None, wait: float = 0.0) -> tuple[int, float]:
    """Train in a child until it is done or killed.

    Args:
        plain: the configuration.
        out: the training's folder.
        told: what it has told before it is killed: its beginning and then an iteration each; None: it lives.
        wait: how long it may live on after that [s].

    Returns:
        How it ended, and how long it lived after its beginning [s].
    """
    heard, tell = os.pipe()

    def live() -> None:
        os.close(heard)
        torch.set_num_threads(1)
        train(checked(plain), out, resume=True, report=lambda news: news.message or os.write(tell, b"."))

    child = fork(live)
    os.close(tell)
    began, count = time.monotonic(), 0
    while count != told and os.read(heard, 1):  # nothing: it is done, or has failed
        count += 1
        if count == 1:
            began = time.monotonic()
    if told is not None:
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
    os.close(heard)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), time.monotonic() - began


def main(out: str, kills: str, seed: str, plain: str) -> None:
    """Tell which checkpoint was there after each kill."""
    config, draw, count = json.loads(plain), random.Random(int(seed)), int(kills)
    builder(config["experiment"]["kind"])(checked(config), seed=0).close()  # imports all that the children need
    iterations = config["training"]["iterations"]
    end, whole = life(config, Path(out + "-whole"), None)
    assert end == 0
    found: list[str] = []
    done = 0
    while len(found) < count:
        # Now and then it is killed before it has begun.
        told = 1 + draw.randint(0, 2 * iterations // (count + 1)) if draw.random() < 0.85 else 0
        end, _ = life(config, Path(out), told, draw.uniform(0.0, 1.5 * whole / iterations))
        if end == 0:
            Path(out).rename(f"{out}-{done}")
            done += 1
            continue
        assert end == -signal.SIGKILL, end
        latest = Path(out, "checkpoints", "LATEST")
        found.append(latest.read_text().strip() if latest.exists() else "none")
    assert life(config, Path(out), None)[0] == 0
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
