"""It becomes better at what it does in real terminals: the one test that all the others are for."""

from __future__ import annotations

import numpy as np
import pytest

from rolf.statistics import paired_difference
from rolf_adapters.ppo.language.learner import build
from rolf_adapters.ppo.language.settings import (
    Environment,
    Policy,
    Reward,
    Rollout,
    Settings,
    Speech,
    Training,
    WarmStart,
)

ITERATIONS = 16
TESTED = 200


def settings() -> Settings:
    warm = WarmStart(policy="termgym.policies.oracle:Oracle", episodes=25, epochs=80, batch=32)
    return Settings(
        environment=Environment(id="file_tasks:FileTasks-v0", evaluation={"part": "test"}),
        rollout=Rollout(threads=8, turns=2, tokens=24, window=256, evaluation=TESTED, speech=Speech(system="")),
        reward=Reward(limit_ends=True, per_turn=-0.02, malformed=-0.1),
        policy=Policy(model="file_tasks:tiny"),
        training=Training(
            iterations=ITERATIONS, learning_rate=1e-4, critic_rate=1e-2, warmup=4, minibatches=2, warm_start=warm
        ),
    )


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_it_becomes_better_by_what_it_tries() -> None:
    """From demonstrations it can do about half of the tasks; what it learns beyond that, nobody has shown it."""
    learner = build(settings(), seed=0)
    try:
        learner.iterate(0)
        problems = learner.problems.held_out(TESTED)
        before = learner.successes(problems)
        told = [learner.iterate(iteration) for iteration in range(1, ITERATIONS + 1)]
        gain = paired_difference(learner.successes(problems), before)
    finally:
        learner.close()
    assert 0.35 < np.nanmean(before) < 0.7, "there is something to learn, and something to begin with"
    assert max(abs(each["policy/first_kl"]) for each in told) < 1e-5
    assert max(each["policy/kl"] for each in told) < 0.01
    assert sum(each["rollout/faults"] for each in told) == 0
    assert gain.low is not None
    assert gain.estimate >= 0.05, str(gain)
    assert gain.low > 0, str(gain)
