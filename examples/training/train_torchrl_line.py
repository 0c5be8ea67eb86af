"""Train PPO of TorchRL on many lines at once. Prints the mean return of the last episodes."""

from __future__ import annotations

import argparse
from typing import Any

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs import EnvBase
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from rolf_adapters.torchrl import make_torchrl_env

VARIANT = "serial/thermocouple/profinet/bearing"
EPISODE = 100  # decisions in a shift of 600 ticks


def train(env: EnvBase, episodes: int, seed: int = 0) -> list[float]:
    """Play so many episodes in each row, learn after each, and return what each earned in the mean."""
    torch.manual_seed(seed)
    env.set_seed(seed)
    logits = TensorDictModule(MLP(out_features=env.action_spec.n, num_cells=[64, 64]), ["observation"], ["logits"])
    keys: Any = {"logits": "logits", "mask": "action_mask"}
    actor = ProbabilisticActor(logits, keys, distribution_class=MaskedCategorical, return_log_prob=True)
    critic = ValueOperator(MLP(out_features=1, num_cells=[64, 64]), in_keys=["observation"])
    critic(actor(env.reset()))
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.003, critic_coeff=0.5, normalize_advantage=True)
    advantage = GAE(gamma=0.98, lmbda=0.95, value_network=critic)
    optimiser = torch.optim.Adam(loss.parameters(), lr=1e-3)
    earned = []
    while len(earned) < episodes:
        with torch.no_grad():
            played = env.rollout(EPISODE, actor, break_when_any_done=False)
            earned.append(float(played["next", "reward"].sum(1).mean()))
            played["next", "reward"] /= 4
            samples = advantage(played).reshape(-1)
        for batch in (batch for _ in range(5) for batch in samples[torch.randperm(len(samples))].split(400)):
            optimiser.zero_grad()
            sum(value for name, value in loss(batch).items() if name.startswith("loss_")).backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimiser.step()
    return earned


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=200)
    episodes = parser.parse_args().episodes
    torch.set_num_threads(1)
    lines = make_torchrl_env(
        "linegym:LineEnv-v1", 16, variants="serial/thermocouple/profinet/bearing", ticks_per_step=6
    )
    print(sum(train(lines, episodes)[-10:]) / min(10, episodes))
