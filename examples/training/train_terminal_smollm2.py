"""Teach SmolLM2-135M to work in a real terminal, in tasks of three levels: by demonstrations first, then by PPO.

Prints which share of tasks that it has never seen it solves in the end. The defaults take over an hour.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rolf_adapters.ppo.config import read
from rolf_adapters.ppo.train import train


def main(changes: tuple[str, ...]) -> float:
    config = read(Path(__file__).with_suffix(".yaml"), changes)
    with tempfile.TemporaryDirectory() as folder:
        done = train(config, Path(folder), report=lambda news: print(news.done, news.values.get("rollout/success", "")))
    return done.values["evaluation/success"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("change", nargs="*", help="in the configuration: training.iterations=2")
    print(main(tuple(parser.parse_args().change)))
