"""Train RLlib's PPO on production lines that play as one batch. Prints how many steps were learned from."""

import argparse
import logging
import tempfile
import warnings

import ray
from ray.rllib.algorithms.ppo import PPO, PPOConfig

from rolf_adapters import rllib
from rolf_adapters.ray_pool import local_ray

ROWS, HORIZON = 8, 100


def main(steps: int) -> int:
    logging.getLogger("ray").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", "Overriding environment|.*Overriding environment", UserWarning)  # RLlib's own
    rllib.register("line", "linegym:LineEnv-v1", variants="train", horizon=HORIZON)
    config = (
        PPOConfig()
        .environment("line")
        .env_runners(num_env_runners=0, num_envs_per_env_runner=ROWS, gym_env_vectorize_mode="vector_entry_point")
        .training(train_batch_size_per_learner=ROWS * HORIZON, minibatch_size=200, num_epochs=2, lr=3e-4)
        .debugging(seed=0)
    )
    with local_ray(2), tempfile.TemporaryDirectory() as folder:
        algorithm = config.build_algo()
        for _ in range(steps):
            told = algorithm.train()["env_runners"]
            print(f"return {told['episode_return_mean']:8.2f}")
        algorithm.save_to_path(folder)
        algorithm.stop()
        again = PPO.from_checkpoint(folder)
        learned = again.iteration * ROWS * HORIZON
        again.stop()
    assert not ray.is_initialized()
    return learned


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    print(main(parser.parse_args().steps))
