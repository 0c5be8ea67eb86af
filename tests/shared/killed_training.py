"""Train, be killed by SIGKILL at random moments, go on, until it is done: `killed_training.py OUT KILLS SEED CONFIG`.

One process imports everything once and forks a child for each life, so that twenty kills do not cost twenty imports.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

import torch

from rolf_adapters.ppo.config import builder, checked
from rolf_adapters.ppo.train import train


def life(plain: dict[str, object], out: Path, moment: float | None, *, begun: bool = True) -> tuple[int, float]:
    """Train in a child until it is done, or killed so many seconds after its training has begun, or itself has.

    Returns:
        How it ended, and how long it lived from then on [s].
    """
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            torch.set_num_threads(1)
            train(checked(plain), out, resume=True, report=lambda news: news.message or os.write(told, b"."))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(1)
    os.close(told)
    if begun:
        os.read(heard, 1)
    began = time.monotonic()
    if moment is not None:
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
    end = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(heard)
    return end, time.monotonic() - began


def main(out: str, kills: str, seed: str, plain: str) -> None:
    """Tell how many kills hit, and which checkpoint was there after each."""
    config, draw, count = json.loads(plain), random.Random(int(seed)), int(kills)
    builder(config["experiment"]["kind"])(checked(config), seed=0).close()  # imports all that the children need
    end, whole = life(config, Path(out + "-whole"), None)
    assert end == 0
    found: list[str] = []
    while len(found) < count:
        begun = draw.random() < 0.85  # now and then it is killed before it has begun
        end, _ = life(config, Path(out), draw.uniform(0.0, 2 * whole / (count + 1)), begun=begun)
        if end == 0:
            break
        assert end == -signal.SIGKILL, end
        latest = Path(out, "checkpoints", "LATEST")
        found.append(latest.read_text().strip() if latest.exists() else "none")
    assert life(config, Path(out), None)[0] == 0
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
