"""Record an episode, play it again, and compare step by step. Prints the steps that were equal."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import gymnasium as gym

import termgym
from rolf.replay import replay
from rolf_wrappers.record_trajectory import RecordTrajectory

COMMANDS = (
    "echo $$ $(hostname)",
    "git init -q project",
    "cd project",
    "echo text > file",
    "git add .",
    "git commit -qm x",
)


def main(steps: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "episode.jsonl")
        env = RecordTrajectory(gym.make("termgym:TermEnv-v1"), path)
        env.reset(seed=0)
        for command in COMMANDS[:steps]:
            env.step(termgym.plan(command))
        env.close()
        report = replay(path)
        print(report)
        assert report.equal
        return report.steps


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=len(COMMANDS))
    print(main(parser.parse_args().steps))
