"""Train a tiny model with TRL's GRPO in real shells. Prints the mean reward of the last step."""

import argparse
import os
import tempfile
import warnings
from functools import partial

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from rolf_adapters.trl import TerminalTools
from rolf_adapters.trl.caller import caller
from termgym.checks import FileExists
from termgym.tasks.task import Task

TASK = Task("make-a-file/plain@0", "Make the file done.", goal=(FileExists(path="/home/agent/done"),))
TOOLS = partial(TerminalTools, task=TASK, reward="success", check_goal="submit")
USER = "You work in a terminal."
CALLS = [("run", {"command": "touch done"}), ("run", {"command": "touch note"})]
BATCH = {"per_device_train_batch_size": 8, "num_generations": 8, "max_completion_length": 256, "learning_rate": 3e-4}
HERE = {
    "use_cpu": True,
    "gradient_checkpointing": False,
    "report_to": "none",
    "save_strategy": "no",
    "logging_steps": 1,
}


def main(steps: int, warm: int) -> float:
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"  # TRL warns that environment_factory may change
    warnings.simplefilter("ignore", FutureWarning)  # of transformers, to TRL
    torch.set_num_threads(1)
    model, words = caller(TOOLS, USER, {"seed": 0}, CALLS, steps=warm)  # it does the right thing every other time
    rows = Dataset.from_list([{"prompt": [{"role": "user", "content": USER}], "seed": 0}])
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(folder, max_steps=steps, **BATCH, **HERE)
        trainer = GRPOTrainer(model, None, config, rows, processing_class=words, environment_factory=TOOLS)
        trainer.train()
    return [line["reward"] for line in trainer.state.log_history if "reward" in line][-1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warm", type=int, default=160)
    print(main(**vars(parser.parse_args())))
