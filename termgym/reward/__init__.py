"""Reward: what a step is paid, term by term, or by success alone."""

from termgym.reward.terms import TERMS, RewardModel, RewardWeights, make_reward

__all__ = ["TERMS", "RewardModel", "RewardWeights", "make_reward"]
