"""Episodes are played by Ray's actors: the same ones as here, whoever dies over them."""

from __future__ import annotations

import copy
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from file_tasks import tiny

from rolf_adapters.ppo.language.actors import Actors, ActorsLost
from rolf_adapters.ppo.language.collector import Abandoned, Collected, Collector
from rolf_adapters.ppo.language.dropped import TooManyFaults, check
from rolf_adapters.ppo.language.learner import LanguageLearner, build
from rolf_adapters.ppo.language.player import parameters_of
from rolf_adapters.ppo.language.pool import Pool
from rolf_adapters.ppo.language.problems import Problems
from rolf_adapters.ppo.language.settings import Environment, Policy, Reward, Rollout, Settings, Speech, Training
from rolf_adapters.ppo.language.speaking import speaker_of
from rolf_adapters.ppo.language.tiny import CHATML
from rolf_adapters.ppo.language.turns import Episode
from rolf_adapters.ppo.learner import Diverged
from rolf_adapters.ray_pool import local_ray

EPISODES, SEED = 5, 4
CLOSE = 1e-5
"""How far numbers may be apart where other contexts were answered beside: rounding of 32-bit floats."""
GONE = 20.0
"""How long what was killed may take to be gone [s]."""

pytestmark = pytest.mark.slow


def settings(actors: int, model: str = "file_tasks:tiny", **rollout: Any) -> Settings:
    small = {"episodes": EPISODES, "environments": 2, "turns": 2, "tokens": 12, "window": 256, "evaluation": 2}
    return Settings(
        environment=Environment(id="file_tasks:FileTasks-v0", evaluation={"part": "test"}),
        rollout=Rollout(**{**small, "actors": actors, "speech": Speech(system=""), **rollout}),
        reward=Reward(limit_ends=True, per_turn=-0.02),
        policy=Policy(model=model, layers=2),
        training=Training(iterations=4, learning_rate=3e-3, critic_rate=1e-2, warmup=0),
    )


@pytest.fixture(scope="module", autouse=True)
def running_ray() -> Iterator[None]:
    """One for all, for to start one takes longer than to play; there is room for another actor beside those two."""
    with local_ray(3):
        yield


def maker() -> Iterator[Callable[..., LanguageLearner]]:
    """Yield what makes learners, which are closed in the end."""
    learners: list[LanguageLearner] = []

    def make(*args: Any, seed: int = SEED, **more: Any) -> LanguageLearner:
        learners.append(LanguageLearner(settings(*args, **more), *tiny(seed=seed), seed=SEED))
        return learners[-1]

    yield make
    for each in learners:
        each.close()
        each.close()  # twice is allowed


@pytest.fixture(name="made")
def a_maker() -> Iterator[Callable[..., LanguageLearner]]:
    yield from maker()


@pytest.fixture(scope="module", name="shared")
def two_actors() -> Iterator[LanguageLearner]:
    """The same for all that leave it as it was."""
    for make in maker():
        yield make(2)


@pytest.fixture(scope="module", name="here")
def no_actors() -> Iterator[LanguageLearner]:
    """What has no actors, and must come to the same."""
    for make in maker():
        yield make(0)


def living() -> set[psutil.Process]:
    """Return the processes of actors."""
    family = psutil.Process().children(recursive=True)
    return {each for each in family if each.is_running() and each.name().startswith("ray::Player")}


def same(one: Episode, other: Episode, apart: float = 0.0) -> bool:
    """Return whether two episodes are the same, in every bit or up to rounding."""
    assert (one.success, one.score, one.label) == (other.success, other.score, other.label)
    assert len(one.turns) == len(other.turns)
    for first, second in zip(one.turns, other.turns, strict=True):
        names = ("prompt_ids", "reward", "terminated", "truncated", "version", "segment", "malformed")
        assert [getattr(first, name) for name in names] == [getattr(second, name) for name in names]
        assert first.said.ids == second.said.ids
        assert np.array_equal(first.said.chosen, second.said.chosen)
        assert np.array_equal(first.said.allowed, second.said.allowed)
        for name in ("logps", "values"):
            np.testing.assert_allclose(getattr(first.said, name), getattr(second.said, name), rtol=0, atol=apart)
    return abs(one.final - other.final) <= apart


def alike(one: Collected, other: Collected, apart: float = 0.0) -> bool:
    assert len(one.played) == len(other.played) == EPISODES
    return all(same(*pair, apart) for pair in zip(one.played, other.played, strict=True))


def by_shares(learner: LanguageLearner, iteration: int) -> Collected:
    """Play here what two actors would play, one after another."""
    pool = Pool(learner.settings.rollout.environments)
    collector = Collector(speaker_of(learner.settings, learner.policy, tiny(seed=SEED)[1]), pool)
    problems, draws = learner._share(iteration)
    found = Collected([None] * len(problems))
    for place in range(2):
        share = collector.play(problems[place::2], draws[place::2], version=learner._version)
        found.episodes[place::2] = share.episodes
    pool.close()
    return found


def doomed(learner: LanguageLearner, folder: Path, count: int = EPISODES, **how: Any) -> Collected:
    """Play the problems of the first iteration where something happens to who plays them."""
    kwargs = {"folder": str(folder), **how}
    wrapper = {"name": "Doomed", "entry_point": "doomed:Doomed", "kwargs": kwargs}
    environment = learner.settings.environment.model_copy(update={"wrappers": (wrapper,)})
    problems = Problems(environment).draw(EPISODES, "rollout", 0, seed=SEED)
    return learner._collector.play(problems[:count], learner._share(0)[1][:count], version=0)


def lasting(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in numbers.items() if not name.startswith("time/")}


def test_episodes_are_those_that_are_played_here(shared: LanguageLearner, here: LanguageLearner) -> None:
    """Token by token and up to rounding; bit by bit where the same ones are answered together."""
    there = shared.collect(0)
    assert alike(there, here.collect(0), CLOSE)
    assert alike(there, by_shares(shared, 0))
    assert there.environment > 0
    assert there.generation > 0
    assert there.replayed == 0
    assert there.too_long == []
    assert there.played[0].turns[0].said.logps.flags.writeable, "they are its own, and Ray's store is empty again"


def test_actors_play_as_the_policy_is_now(shared: LanguageLearner, here: LanguageLearner) -> None:
    """With what it has learned, and only that travels; what is measured is what was announced."""
    before, begun = shared.state(), here.state()
    told = shared.iterate(0)
    assert told["rollout/replayed"] == 0
    assert {name for name in told if not name.startswith(("family/", "rollout/family/"))} <= shared.measures()
    assert set(told) - set(here.iterate(0)) == {"rollout/replayed"}
    there = shared.collect(1)
    assert alike(there, by_shares(shared, 1))
    assert {turn.version for episode in there.played for turn in episode.turns} == {1}
    assert parameters_of(shared.policy).keys() == dict(shared.policy.trained()).keys()
    assert len(list(shared.policy.parameters())) > len(parameters_of(shared.policy))
    shared.load(before)
    here.load(begun)


def test_what_a_killed_actor_was_playing_is_played_again(
    shared: LanguageLearner, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """kill -9 in the middle of its episodes: they come to the same bits, and it is told."""
    done = doomed(shared, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["0"]
    assert done.replayed in (2, 3)
    assert f"an actor has died, and its {done.replayed} episodes are played again by a new one: " in caplog.text
    assert alike(done, by_shares(shared, 0))
    assert shared.collect(0).replayed == 0


def test_failing_machines_are_counted_over_all_shares(shared: LanguageLearner, tmp_path: Path) -> None:
    """One lost episode of five is few, though half of an actor's own; two are too many."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    done = doomed(shared, tmp_path / "one", kill=False)
    assert done.faults == ["OSError: the machine is gone"]
    assert len(done.played) == EPISODES - 1
    with pytest.raises(TooManyFaults, match=r"2 of 5 episodes were lost.*rollout\.faults=0\.2"):
        check(doomed(shared, tmp_path / "two", kill=False, times=2), shared.settings.rollout)


def test_nobody_waits_for_what_nobody_wants(shared: LanguageLearner) -> None:
    """A training is stopped while hours of episodes are under way."""
    problems, draws = shared._share(0)
    stop = threading.Event()
    stop.set()
    with pytest.raises(Abandoned, match="stopped with 2 of 2 shares to be played"):
        shared._collector.play(problems, draws, version=0, stop=stop)


def test_what_goes_wrong_in_an_actor_is_raised_here_as_what_it_is(
    shared: LanguageLearner, here: LanguageLearner
) -> None:
    """The loop goes back for a model that has gone bad; and the actors can be used again."""
    bias = shared.policy.critic.worth.bias
    kept = bias.detach().clone()
    with torch.no_grad():
        bias.fill_(torch.nan)
    with pytest.raises(Diverged, match="the critic's values, are no finite numbers"):
        shared.iterate(0)
    with torch.no_grad():
        bias.copy_(kept)
    assert alike(shared.collect(0), here.collect(0), CLOSE)


def test_episodes_that_cost_every_actor_are_given_up(shared: LanguageLearner, tmp_path: Path) -> None:
    """Where memory runs out it will run out again; the training stops, and says what to change."""
    with pytest.raises(ActorsLost, match=r"3 actors in a row died over the same 1 episodes.*rollout\.environments"):
        doomed(shared, tmp_path, 1, times=99)


def test_who_plays_ahead_may_have_actors_play(made: Any) -> None:
    """Which version plays what is fixed, and who plays it has no part in it: one actor comes to the bits of none."""
    before = living()
    one, none = made(1, staleness=1), made(0, staleness=1)
    for iteration in range(3):
        told, expected = one.iterate(iteration), none.iterate(iteration)
        assert lasting(told) == {"rollout/replayed": 0.0, **lasting(expected)}
        assert told["rollout/staleness"] == min(iteration, 1)
    assert all(torch.equal(each, none.state().tensors[name]) for name, each in one.state().tensors.items())
    (mine,) = living() - before
    one.close()
    assert not psutil.wait_procs([mine], timeout=GONE)[1]


def test_a_model_that_is_another_one_there_is_refused(made: Any) -> None:
    """Its frozen layers do not travel, so they must be the same already."""
    with pytest.raises(ValueError, match=r"untrained weights are others; policy\.model must name the same one"):
        made(1, seed=SEED + 1).collect(0)


def test_words_that_are_others_there_are_refused() -> None:
    """A prompt would be other tokens there than here, and what is learned would be of neither."""
    model, words = tiny(seed=SEED)
    words = copy.deepcopy(words)
    words.chat_template = CHATML.replace("<|im_start|>", "<|im_start|> ")
    learner = LanguageLearner(settings(1), model, words, seed=SEED)
    try:
        with pytest.raises(ValueError, match="made a tokenizer or a chat template that is another one"):
            learner.collect(0)
    finally:
        learner.close()


def test_a_model_that_cannot_be_made_there_is_told(made: Any) -> None:
    """Not as an actor that has died: the next one would fare no better."""
    with pytest.raises(ValueError, match=r"policy\.model='file_tasks:tinny'"):
        made(1, "file_tasks:tinny").collect(0)


def test_more_actors_than_there_is_room_for_are_refused(shared: LanguageLearner, made: Any) -> None:
    """Ray would wait without a word: at once where it could never have so many, else when it has waited long enough."""
    with pytest.raises(ValueError, match="4 actors with 1 processors each; Ray has 3: give fewer"):
        made(4)
    shared.collect(0)
    crowd = Actors(shared.policy, settings(2), shared._template.digest, seed=SEED, patience=1.0)
    try:
        with pytest.raises(ActorsLost, match=r"found no place for an actor in 1 s.*give fewer rollout\.actors"):
            crowd.play(shared.policy, *shared._share(0), version=0)
    finally:
        crowd.close()


def test_without_ray_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no training that needs none imports it."""
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, Actors.__module__)
    build(settings(0), seed=SEED).close()
    with pytest.raises(ImportError, match=r"rollout\.actors needs ray .*pip install 'rolf\[ray\]'"):
        build(settings(1), seed=SEED)
