"""Episodes are played by an older policy while a newer one learns; which one plays what is fixed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from file_tasks import tiny

from rolf_adapters.ppo.language.collector import Collected
from rolf_adapters.ppo.language.dropped import TooManyFaults
from rolf_adapters.ppo.language.learner import LanguageLearner
from rolf_adapters.ppo.language.pool import Lost, Pool
from rolf_adapters.ppo.language.settings import Environment, Policy, Reward, Rollout, Settings, Speech, Training
from rolf_adapters.ppo.learner import Diverged, State


def settings(staleness: int, iterations: int = 4, **training: Any) -> Settings:
    return Settings(
        environment=Environment(id="file_tasks:FileTasks-v0", evaluation={"part": "test"}),
        rollout=Rollout(
            episodes=4, environments=2, turns=2, tokens=12, window=256, evaluation=2, staleness=staleness,
            speech=Speech(system=""),
        ),
        reward=Reward(limit_ends=True, per_turn=-0.02),
        policy=Policy(model="file_tasks:tiny", layers=2),
        training=Training(iterations=iterations, learning_rate=3e-3, critic_rate=1e-2, warmup=0, **training),
    )  # fmt: skip


@pytest.fixture(name="made")
def a_maker() -> Iterator[Any]:
    """Return what makes learners, which are closed in the end: then no thread is left."""
    learners: list[LanguageLearner] = []

    def make(staleness: int, **more: Any) -> LanguageLearner:
        learners.append(LanguageLearner(settings(staleness, **more), *tiny(seed=4), seed=4))
        return learners[-1]

    yield make
    for each in learners:
        each.close()
        each.close()  # twice is allowed
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("collector")]


def lasting(numbers: Any) -> dict[str, float]:
    return {name: value for name, value in numbers.items() if not name.startswith("time/")}


def same(one: State, other: State) -> bool:
    return (
        one.values == other.values
        and one.tensors.keys() == other.tensors.keys()
        and all(torch.equal(tensor, other.tensors[name]) for name, tensor in one.tensors.items())
    )


def versions(collected: Collected) -> set[int]:
    return {turn.version for episode in collected.played for turn in episode.turns}


@pytest.mark.parametrize(("staleness", "expected"), [(0, [0, 1, 2, 3]), (1, [0, 0, 1, 2]), (2, [0, 0, 0, 1])])
def test_which_version_plays_an_iteration_is_fixed(made: Any, staleness: int, expected: list[int]) -> None:
    """The one that is so many updates old, and in the first iterations the first; and it is really that one."""
    learner = made(staleness)
    seen: list[Collected] = []
    collect = learner.collect
    learner.collect = lambda iteration: seen.append(collect(iteration)) or seen[-1]
    policies = []
    for iteration in range(4):
        policies.append(learner.state())
        told = learner.iterate(iteration)
        if staleness:
            assert told["rollout/staleness"] == iteration - expected[iteration]
            assert told["rollout/dropped"] == 0
        assert abs(told["policy/first_kl"]) < 1e-5
    assert [versions(each) for each in seen] == [{version} for version in expected]
    # A learner without a thread that is what that version was says the same in that iteration.
    other = made(0)
    for iteration, version in enumerate(expected):
        kept = policies[version]
        tensors = {name: each for name, each in kept.tensors.items() if not name.startswith("older/")}
        other.load(State(tensors, {key: each for key, each in kept.values.items() if key != "planned"}))
        for one, again in zip(seen[iteration].played, other.collect(iteration).played, strict=True):
            assert [turn.said.ids for turn in one.turns] == [turn.said.ids for turn in again.turns]


def test_the_first_iteration_is_that_of_a_training_without(made: Any) -> None:
    """Its episodes are the policy's own, so every weight is 1 but for rounding; then they part."""
    ahead, without = made(1), made(0)
    one, other = (lasting(each.iterate(0)) for each in (ahead, without))
    assert one["policy/stale_weight"] == pytest.approx(1.0, abs=1e-5)
    assert one["policy/stale_truncated"] == 0.0
    assert one["rollout/return"] == other["rollout/return"]
    assert one["policy/loss"] == pytest.approx(other["policy/loss"], abs=1e-5)
    told = ahead.iterate(1)
    assert told["policy/stale_weight"] != pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("staleness", [1, 2])
def test_goes_on_bit_by_bit_after_a_break(made: Any, staleness: int) -> None:
    """What was under way is played again by the version that played it; evaluations in between change nothing."""
    whole = made(staleness)
    for iteration in range(2):
        whole.iterate(iteration)
    kept = whole.state()
    whole.evaluate(1)
    assert same(kept, whole.state())
    assert kept.values["planned"] == [[2 + ahead, max(2 + ahead - staleness, 0)] for ahead in range(staleness)]
    there = [lasting(whole.iterate(iteration)) for iteration in (2, 3)]
    resumed = made(staleness)
    resumed.iterate(0)  # what it has under way is given up
    resumed.load(kept)
    assert same(kept, resumed.state())
    assert [lasting(resumed.iterate(iteration)) for iteration in (2, 3)] == there
    assert same(whole.state(), resumed.state())


def test_nothing_is_played_ahead_for_iterations_that_do_not_come(made: Any) -> None:
    """And yet the state is that of a training that goes on, which may be made longer."""
    short, long = made(1, iterations=2), made(1, iterations=3)
    for iteration in range(2):
        short.iterate(iteration)
        long.iterate(iteration)
    assert same(short.state(), long.state())
    assert short._ahead._running == {}
    assert list(long._ahead._running) == [2]
    other = made(1, iterations=2)
    other.load(short.state())
    assert lasting(other.iterate(2)) == lasting(long.iterate(2))


def gone(_pool: Pool, _place: int, _action: Any) -> Lost:
    return Lost("the machine is gone")


def go_on(learner: LanguageLearner) -> None:
    """Take two iterations: the episodes of the first were perhaps played before."""
    for iteration in (1, 2):
        learner.iterate(iteration)


def test_a_fault_in_the_thread_reaches_who_waits(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As what it is; and the learner can be closed."""
    learner = made(1)
    learner.iterate(0)
    monkeypatch.setattr(Pool, "step", gone)
    with pytest.raises(TooManyFaults, match="the machine is gone"):
        go_on(learner)


def test_a_policy_that_has_gone_bad_is_told_as_diverged(made: Any) -> None:
    """The loop goes back for it, so it must be this error also where it comes up in the thread."""
    learner = made(1)
    learner.iterate(0)
    with torch.no_grad():
        learner.policy.critic.worth.bias.fill_(torch.nan)
        learner._ahead._older[0]["critic.worth.bias"].fill_(torch.nan)
    learner._ahead._begin(1)
    with pytest.raises(Diverged, match="the critic's values, are no finite numbers"):
        learner.iterate(1)


def test_closing_does_not_wait_for_the_episodes(made: Any) -> None:
    """A training is stopped while hours of episodes are under way: they are left at the next turn."""
    ahead = made(1)._ahead
    entered, stop, step = threading.Event(), ahead._stop, ahead._pool.step

    def slow(place: int, action: Any) -> Any:
        entered.set()
        assert stop.wait(30)
        return step(place, action)

    ahead._pool.step = slow
    ahead._plan(0, ahead._policy, 0)
    ahead._begin(0)
    ahead._begin(1)
    assert entered.wait(30)
    running = dict(ahead._running)
    ahead.close()
    assert "stopped with 4 of 4 episodes" in str(running[0].exception())
    assert running[1].cancelled()


def test_a_state_that_was_collected_otherwise_is_refused(made: Any) -> None:
    """And nothing is changed by the attempt."""
    learner = made(1)
    learner.iterate(0)
    before = learner.state()
    for other, count in ((made(0), "no"), (made(2), "2")):
        other.iterate(0)
        with pytest.raises(ValueError, match=rf"has {count} iterations.*expected 1"):
            learner.load(other.state())
    assert same(before, learner.state())
