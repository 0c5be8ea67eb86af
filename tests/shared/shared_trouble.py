"""What goes wrong in the second of several processes alone, and what all of them make of it; run by torchrun."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from file_tasks import tiny
from together import hand_over

from rolf_adapters.ppo import parallel
from rolf_adapters.ppo.language.dropped import TooManyFaults
from rolf_adapters.ppo.language.learner import LanguageLearner
from rolf_adapters.ppo.language.pool import Lost, Pool
from rolf_adapters.ppo.language.settings import Environment, Policy, Reward, Rollout, Settings, Speech, Training
from rolf_adapters.ppo.learner import Diverged

EPISODES = 8


def learner(staleness: int = 0) -> LanguageLearner:
    """Return one that plays four of eight episodes in each of two processes."""
    settings = Settings(
        environment=Environment(id="file_tasks:FileTasks-v0"),
        rollout=Rollout(
            episodes=EPISODES, environments=2, turns=1, tokens=8, window=256, evaluation=4, faults=0.2,
            staleness=staleness, speech=Speech(system=""),
        ),
        reward=Reward(limit_ends=True),
        policy=Policy(model="file_tasks:tiny", layers=1),
        training=Training(iterations=2),
    )  # fmt: skip
    return LanguageLearner(settings, *tiny(seed=0), seed=0)


def spoilt(of: LanguageLearner) -> None:
    """Make what the critic of one process says no number."""
    if parallel.rank() == 1:
        with torch.no_grad():
            of.policy.critic.worth.bias.fill_(torch.nan)


def losing(count: int) -> None:
    """Let so many steps fail in one process."""
    step, left = Pool.step, iter(range(count if parallel.rank() == 1 else 0))

    def failing(pool: Pool, place: int, action: Any) -> Any:
        return step(pool, place, action) if next(left, None) is None else Lost("the machine is gone")

    Pool.step = failing  # type: ignore[method-assign]  # this process does nothing else


def heard(act: Callable[[], Any]) -> Any:
    """Return what it comes to in this process, and see that the processes still understand each other."""
    try:
        told = {name: value for name, value in act().items() if not name.startswith("time/")}
    except (Diverged, TooManyFaults) as error:
        told = [type(error).__name__, str(error)]
    return [told, parallel.gathered(parallel.rank())]


def found() -> list[Any]:
    """Go through all that may go wrong."""
    results = []
    for staleness in (0, 1):
        with_ = learner(staleness)
        spoilt(with_)
        results += [heard(lambda of=with_: of.iterate(0)), heard(lambda of=with_: of.evaluate(0))]
        with_.close()
    for count in (1, 2):  # of eight, a fifth of which may be lost; of a process's own four, one is too many
        losing(count)
        with_ = learner()
        results.append(heard(lambda of=with_: of.iterate(0)))
        with_.close()
    return results


if __name__ == "__main__":
    torch.set_num_threads(1)
    with parallel.started():
        hand_over(parallel.rank(), found())
    parallel.leave()
