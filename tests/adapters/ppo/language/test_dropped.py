"""Episodes that could not be played are left out, up to a share of them; then the training says why it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_tasks import tiny

from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.language.collector import Collected
from rolf_adapters.ppo.language.dropped import FEW, TooManyFaults, WindowTooSmall, check
from rolf_adapters.ppo.language.learner import LanguageLearner
from rolf_adapters.ppo.language.pool import Lost, Pool, Seen
from rolf_adapters.ppo.language.settings import Environment, Policy, Reward, Rollout, Settings, Speech, Training
from rolf_adapters.ppo.language.turns import Episode, Said, Turn
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import train

Maker = Callable[..., LanguageLearner]
LOST = "SandboxLost: no answer"


@pytest.fixture(name="make")
def a_maker() -> Iterator[Maker]:
    """Return what makes learners, which are closed in the end."""
    made: list[LanguageLearner] = []

    def make(**rollout: Any) -> LanguageLearner:
        small = {"episodes": 6, "environments": 3, "turns": 1, "tokens": 8, "window": 256, "evaluation": 4}
        settings = Settings(
            environment=Environment(id="file_tasks:FileTasks-v0", evaluation={"part": "test"}),
            rollout=Rollout(**{**small, "speech": Speech(system=""), **rollout}),
            reward=Reward(limit_ends=True),
            policy=Policy(model="file_tasks:tiny", layers=1),
            training=Training(iterations=2),
        )
        made.append(LanguageLearner(settings, *tiny(seed=4), seed=4))
        return made[-1]

    yield make
    for each in made:
        each.close()


def episode() -> Episode:
    no = np.zeros(1, np.float32)
    return Episode((Turn((1,), Said((2,), no, np.ones(1, np.bool_), no), 0.0, True, False, 0),))


def collected(count: int, faults: int = 0, too_long: int = 0) -> Collected:
    gone = faults + too_long
    return Collected([None] * gone + [episode() for _ in range(count - gone)], [LOST] * faults, [99] * too_long)


@pytest.mark.parametrize(
    ("found", "few"),
    [
        (collected(10, faults=2), 0),
        (collected(10, too_long=5), 0),
        (collected(10, faults=2, too_long=5), 0),
        (collected(4, faults=FEW), FEW),
        (collected(100, faults=20), FEW),
        (collected(0), 0),
    ],
)
def test_some_may_be_lost(found: Collected, few: int) -> None:
    """A fifth to machines, as the settings say, or a few of an evaluation; half of them to the window."""
    check(found, Rollout(faults=0.2), few=few)


@pytest.mark.parametrize(
    ("found", "few", "said"),
    [
        (collected(10, faults=3), 0, rf"3 of 10 .* more than rollout\.faults=0\.2 allows; one of them: {LOST}"),
        (collected(100, faults=21), FEW, r"21 of 100 .* rollout\.faults=0\.2"),
        (collected(3, faults=3), FEW, r"3 of 3 .* and none is left"),
        (collected(4, faults=2, too_long=2), FEW, "2 of 4 .* and none is left"),
    ],
)
def test_too_many_failing_machines_end_a_training(found: Collected, few: int, said: str) -> None:
    """What is left is no fair sample of what was asked for."""
    with pytest.raises(TooManyFaults, match=said):
        check(found, Rollout(faults=0.2), few=few)


@pytest.mark.parametrize("few", [0, FEW])
def test_too_many_long_prompts_end_a_training(few: int) -> None:
    """Machines have no part in that, and their share does not count for it."""
    with pytest.raises(WindowTooSmall, match=r"6 of 10 .*window=256 .*longest has 99.*begin anew.*another --out"):
        check(collected(10, too_long=6), Rollout(faults=0.9, window=256), few=few)


def test_long_prompts_are_left_out_of_what_is_learned_and_tested(make: Maker) -> None:
    """They are told, and the rest goes on; the environments are free for others."""
    whole = make()
    lengths = [len(each.turns[0].prompt_ids) for each in whole.collect(0).played]
    longest = max(lengths)
    assert lengths.count(longest) <= 3, "no more than half"
    learner = make(window=longest + 7)
    told = learner.iterate(0)
    assert told["rollout/too_long"] == lengths.count(longest)
    assert told["rollout/episodes"] == 6 - lengths.count(longest)
    assert told["rollout/faults"] == 0
    problems = learner.problems.held_out(30)
    known = np.isfinite(learner.successes(problems)[:, 0])
    fits = np.array([length <= longest - 1 for length in prompts(whole, problems)])
    assert (known == fits).all()
    assert 0 < known.sum() < 30


def prompts(learner: LanguageLearner, problems: Any) -> list[int]:
    """Return how long the first prompts of problems are [tokens]."""
    done = learner._tester.play(problems, [None] * len(problems), version=0)
    return [len(each.turns[0].prompt_ids) for each in done.played]


def test_a_window_that_is_too_small_ends_a_training_that_cannot_be_resumed(tmp_path: Path) -> None:
    """A larger one is another training; so nobody is told to go on with this one."""
    config = checked(
        {
            "experiment": {"kind": "language"},
            "environment": {"id": "file_tasks:FileTasks-v0"},
            "rollout": {"episodes": 2, "environments": 2, "tokens": 8, "window": 16, "speech": {"system": ""}},
            "policy": {"model": "file_tasks:tiny", "layers": 1},
            "training": {"iterations": 1},
            "logging": {"tensorboard": False},
        }
    )
    with pytest.raises(TrainingError, match=r"iteration 0: 2 of 2 .*rollout\.window=16 .*begin anew") as caught:
        train(config, tmp_path / "out")
    assert "--resume" not in str(caught.value)


@pytest.mark.parametrize(("lost", "known"), [(1, 3), (3, 1), (4, 0)])
def test_an_evaluation_bears_a_few_failing_machines(
    make: Maker, monkeypatch: pytest.MonkeyPatch, lost: int, known: int
) -> None:
    """It is of four episodes here, and one of them is no reason to end a training; what is lost counts nowhere."""
    learner = make()
    step, count = Pool.step, iter(range(4))

    def failing(pool: Pool, place: int, action: Any) -> Seen | Lost:
        return Lost(LOST) if next(count) < lost else step(pool, place, action)

    monkeypatch.setattr(Pool, "step", failing)
    if not known:
        with pytest.raises(TooManyFaults, match=r"4 of 4 .* none is left"):
            learner.evaluate(0)
        return
    told = learner.evaluate(0)
    assert told["evaluation/lost"] == lost
    assert 0 <= told["evaluation/success"] <= 1
    assert all(np.isfinite(value) for value in told.values())
