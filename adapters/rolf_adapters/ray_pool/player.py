"""Player: plays whole episodes; what an actor of the pool is made of. Knows nothing of Ray."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np

from rolf.evaluation.blame import blamed
from rolf.evaluation.errors import PolicyError
from rolf.evaluation.origin import hidden
from rolf.evaluation.policy import Policy, Start
from rolf.variant import Variant, policy_seed
from rolf_adapters.ray_pool.episode import Cause, Episode, Lost, stacked


class Player:
    """Has a policy, and an environment for as long as episodes are of the same one."""

    def __init__(self) -> None:
        self._policy: Policy | None = None
        self._env: gym.Env[Any, Any] | None = None
        self._made = ""

    def take(self, policy: Policy) -> int:
        """Play with this policy from now on; return the number of this process."""
        self._policy = policy
        return os.getpid()

    def play(self, index: int, variant: Variant, attempt: int) -> Episode | Lost:
        """Play an episode to its end.

        Args:
            index: What the result is to be numbered.
            variant: What is played.
            attempt: Which attempt at it; gives the seed.

        Returns:
            The episode; `Lost` where the machine failed.

        Raises:
            PolicyError: the policy raised an error, or gave what is no action.
        """
        seed = variant.attempt_seed(attempt)
        try:
            episode = self._play(index, variant, attempt, seed)
        except (RuntimeError, OSError) as error:  # what environments raise where their machine is to blame
            if isinstance(error, PolicyError):
                raise
            self.close()
            return Lost(index, seed, Cause.FAULT, f"{type(error).__name__}: {error}")
        failure = episode.info.get("failure_kind")
        return episode if failure is None else Lost(index, seed, Cause.FAULT, str(failure))

    def close(self) -> None:
        """Close the environment."""
        env, self._env = self._env, None
        if env is not None:
            env.close()

    def _play(self, index: int, variant: Variant, attempt: int, seed: int) -> Episode:
        policy, env = self._policy, self._environment(variant)
        assert policy is not None, "take() comes before play()"
        unseen = frozenset[str]() if getattr(policy, "privileged", False) else hidden(variant.env_id)
        observation, info = env.reset(seed=seed)
        told = {key: value for key, value in info.items() if key not in unseen}
        where = f"in episode {index} (seed {seed})"
        with blamed(f"the policy failed {where}, at its start"):
            policy.begin(Start(variant, attempt, policy_seed(seed), observation, told, env))
        observations: list[Any] = [observation]
        actions: list[Any] = []
        rewards: list[float] = []
        terminated = truncated = False
        while not (terminated or truncated):
            with blamed(f"the policy failed {where}, step {len(actions)}"):
                action = policy.act(observation, told)
                if not env.action_space.contains(action):
                    raise PolicyError(f"it answered {action!r:.100}; expected one of {env.action_space!s:.200}")
            observation, reward, terminated, truncated, info = env.step(action)
            told = {key: value for key, value in info.items() if key not in unseen}
            observations.append(observation)
            actions.append(action)
            rewards.append(float(reward))
        with blamed(f"the policy failed {where}, at its end"):
            kept = policy.kept() if hasattr(policy, "kept") else None
        numbers = np.array(rewards, np.float64)
        return Episode(index, seed, stacked(observations), stacked(actions), numbers, terminated, truncated, info, kept)

    def _environment(self, variant: Variant) -> gym.Env[Any, Any]:
        """Return the environment of a variant: the one that is there, where it differs in its seed at most."""
        made = replace(variant, seed=0).digest
        if self._env is None or made != self._made:
            self.close()
            self._env, self._made = variant.make(), made
        return self._env
