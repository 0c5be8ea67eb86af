"""A teacher does in every row what the policy would do there alone."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from linegym.policies import Lineup, policy
from linegym.teaching import Teacher, cusum, oracle_diagnosis


def taught(teacher: Teacher, steps: int, again: int) -> list[list[int]]:
    """Return what it did in two rows that begin anew after so many steps."""
    envs: Any = gym.make_vec(
        "linegym:LineEnv-v1", num_envs=2, variants="fit", horizon=again, autoreset_mode=AutoresetMode.DISABLED
    )
    seen, infos = envs.reset(seed=3)
    every = np.ones(2, np.bool_)
    teacher.begin(envs, every)
    done = []
    for _ in range(steps):
        done.append(teacher.act(seen, infos).tolist())
        seen, _, _, over, infos = envs.step(np.array(done[-1]))
        if over.any():
            seen, infos = envs.reset(seed=3, options={"reset_mask": over})
            teacher.begin(envs, over)
    envs.close()
    return done


def test_remembers_nothing_of_an_episode_that_is_over() -> None:
    """The expert sums up evidence; the same shift again must go the same way."""
    done = taught(cusum(), 160, 80)
    assert done[:80] == done[80:]
    assert any(action for pair in done for action in pair)


def test_does_what_the_policy_does() -> None:
    envs: Any = gym.make_vec("linegym:LineEnv-v1", num_envs=3, variants="fit")
    seen, infos = envs.reset(seed=0)
    teacher, alone = oracle_diagnosis(), policy("oracle diagnosis")
    teacher.begin(envs, np.ones(3, np.bool_))
    alone.begin(Lineup.of(envs.unwrapped.variants, [0, 1, 2]))
    acted = 0
    for _ in range(80):
        actions = teacher.act(seen, infos)
        assert actions.tolist() == alone.act(seen, infos["action_mask"] == 1, infos).tolist()
        acted += int((actions > 0).sum())
        seen, *_, infos = envs.step(actions)
    envs.close()
    assert acted > 0
