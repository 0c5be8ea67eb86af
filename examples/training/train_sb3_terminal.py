"""Train PPO of Stable-Baselines3 on errands in a real shell. Prints the share of the latest ones that were done."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO

from rolf_adapters.sb3 import Presentation, make_sb3_env
from termgym.checks import FileExists
from termgym.tasks.task import FileSpec, Task

HOME = "/home/agent"
FILES, FOLDERS = ("bill", "letter", "photo"), ("work", "home")


def errand(file: str, folder: str) -> Task:
    return Task(
        id=f"errand/{file}-{folder}@0",
        instruction=f"Put the {file} into {folder}.",
        files=(
            *(FileSpec(f"{HOME}/{each}", each.encode()) for each in FILES),
            *(FileSpec(f"{HOME}/{each}", kind="dir", mode=0o755) for each in FOLDERS),
        ),
        goal=(FileExists(path=f"{HOME}/{folder}/{file}"),),
    )


def run(command: str) -> dict[str, Any]:
    return {"tool": "run", "arguments": {"command": command}}


def main(steps: int) -> float:
    menu = {f"cd {each}": run(f"cd ~/{each}") for each in FOLDERS} | {
        f"mv {each}": run(f"mv ~/{each} .") for each in FILES
    }
    said = Presentation(menu=menu, texts={"instruction": 64, "cwd": 32}, drop=("stdout", "stderr"))
    errands = [errand(file, folder) for file in FILES for folder in FOLDERS]
    env = make_sb3_env("termgym:TermEnv-v1", 4, seed=0, presentation=said, tasks=errands, max_steps=4, reward="success")
    model = PPO(
        "MlpPolicy", env, n_steps=64, gamma=0.9, ent_coef=0.01, learning_rate=3e-3, seed=0, verbose=1, device="cpu"
    )
    model.learn(steps)
    env.close()
    return float(np.mean(model.ep_success_buffer))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2048)
    torch.set_num_threads(1)
    print(main(parser.parse_args().steps))
