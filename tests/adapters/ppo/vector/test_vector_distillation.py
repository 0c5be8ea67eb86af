"""What a policy is worst at is played again, what went better than usual is imitated, and the rest stays as it was."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from guessing_world import ID
from learner_states import same

from linegym.scores import baseline
from linegym.variants import variant
from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.vector.choice import chance_of, log_chances
from rolf_adapters.ppo.vector.collector import Episode
from rolf_adapters.ppo.vector.distillation import Distilling
from rolf_adapters.ppo.vector.learner import VectorLearner, build
from rolf_adapters.ppo.vector.settings import Distillation, Environment, Policy, Rollout, Settings, Training

LINE = "linegym:LineEnv-v1"
VARIANTS = tuple(f"serial/{sensor}/profinet/bearing" for sensor in ("rtd", "current", "thermocouple"))
Opened = Callable[..., VectorLearner]


def line(**distillation: Any) -> Settings:
    usual = {"every": 2, "count": 2, "attempts": 3, "epochs": 4, "learning_rate": 3e-3}
    return Settings(
        environment=Environment(id=LINE, kwargs={"max_episode_steps": 20, "ticks_per_step": 5}, variants=VARIANTS),
        rollout=Rollout(rows=4, steps=20, statistics=20, evaluation_rows=2),
        policy=Policy(width=16, layout="line", period=20.0),
        training=Training(iterations=4, distillation=Distillation(**{**usual, **distillation})),
    )


@pytest.fixture
def opened() -> Iterator[Opened]:
    made: list[VectorLearner] = []

    def make(settings: Settings) -> VectorLearner:
        made.append(build(settings, seed=0))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_takes_place_when_it_is_due_and_says_what_it_came_to(opened: Opened) -> None:
    learner = opened(line())
    told = [learner.iterate(iteration) for iteration in range(4)]
    assert ["own/hard_variants" in each for each in told] == [False, True, False, True]
    assert told[1]["own/hard_variants"] == 2
    assert 0 <= told[1]["own/hard_imitated"] <= 2
    scores = learner.state().values["distillation"]
    assert set(scores) <= set(VARIANTS)
    assert sum(each["count"] for each in scores.values()) == 16
    means = sorted(each["sum"] / each["count"] for each in scores.values())
    assert told[3]["own/hard_score"] == pytest.approx(np.mean(means[:2]))


def test_what_was_better_than_usual_becomes_likelier_and_the_rest_stays(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The imitated actions gain; the choice at other steps moves less when it is held than when it is not."""
    moved = {}
    seen: list[Any] = []
    imitate = Distilling._imitate

    def watched(self: Any, learning: Any, best: Any, held: Any, iteration: int) -> Any:
        before = copy.deepcopy(learning.network)
        found = imitate(self, learning, best, held, iteration)
        seen.append((before, learning.network, best, held))
        return found

    monkeypatch.setattr(Distilling, "_imitate", watched)
    for hold in (0.0, 20.0):
        learner = opened(line(hold=hold))
        learner.iterate(0)
        told = learner.iterate(1)
        before, after, best, held = seen.pop()
        assert told["own/hard_imitated"] == len(best) > 0
        assert told["own/hard_gain"] > 0
        scores = learner.state().values["distillation"]
        assert all(each.score > scores[each.variant]["sum"] / scores[each.variant]["count"] for each in best)
        assert len({each.variant for each in best}) == len(best)
        gained = _likely(after, best) - _likely(before, best)
        moved[hold] = gained, _apart(before, after, held)
    assert moved[0.0][0] > 0.1
    assert moved[20.0][1] < moved[0.0][1] / 2


def _likely(network: Any, best: Any) -> float:
    from rolf_adapters.ppo.vector.packing import unpacked

    total = 0.0
    with torch.no_grad():
        for each in best:
            seen = unpacked(each.columns, network.size).seen()
            chances = log_chances(network(seen)[0], seen.allowed, network.size.parts)
            total += float(chance_of(chances, torch.from_numpy(each.actions), network.size.parts).mean())
    return total / len(best)


def _apart(before: Any, after: Any, held: Any) -> float:
    """Return the divergence of the choice before from that after."""
    seen, parts = held.seen(), before.size.parts
    with torch.no_grad():
        old, new = (log_chances(each(seen)[0], seen.allowed, parts).clamp(min=-80) for each in (before, after))
        return float((old.exp() * (old - new)).sum(1).mean())


def test_nothing_is_imitated_where_nothing_was_better(opened: Opened) -> None:
    """With a margin that no return exceeds, the parameters are those of a training without."""
    learner, without = opened(line(margin=1e6)), opened(line(every=0))
    for iteration in range(2):
        told = learner.iterate(iteration)
        without.iterate(iteration)
    assert told["own/hard_imitated"] == 0
    assert np.isnan(told["own/hard_loss"])
    assert same(State(learner.state().tensors, {}), State(without.state().tensors, {}))


def test_goes_on_bit_by_bit_after_a_break(opened: Opened) -> None:
    whole = opened(line())
    whole.iterate(0)
    kept = copy.deepcopy(whole.state())
    told = [whole.iterate(iteration) for iteration in range(1, 4)]
    resumed = opened(line())
    resumed.load(kept)
    again = [resumed.iterate(iteration) for iteration in range(1, 4)]
    assert same(whole.state(), resumed.state())
    for one, other in zip(told, again, strict=True):
        assert [(name, repr(one[name])) for name in one if not name.startswith("time/")] == [
            (name, repr(other[name])) for name in other if not name.startswith("time/")
        ]
    with pytest.raises(ValueError, match="a learner that distils"):
        opened(line(every=0)).load(kept)


def test_returns_compare_by_what_chance_and_the_oracle_reach(opened: Opened) -> None:
    """A return between the two baselines of its own variant is a half."""
    known = baseline(variant(VARIANTS[0]))
    assert known is not None
    distilling = Distilling(Distillation(every=1, score="linegym.scores:scorer"), VARIANTS, 0)
    distilling.learn([(0, VARIANTS[0], (known.chance + known.oracle) / 2, 20, float("nan"), 0.0)])
    assert distilling.state() == {VARIANTS[0]: {"count": 1, "sum": pytest.approx(0.5)}}


def test_what_is_remembered_does_not_grow_with_the_episodes() -> None:
    """A training has as many as it has rows and iterations, and all of them would be in each checkpoint."""
    distilling = Distilling(Distillation(every=1), VARIANTS, 0)
    for total in range(100):
        distilling.learn([(0, name, total * at, 20, float("nan"), 0.0) for at, name in enumerate(VARIANTS)])
    assert distilling.state() == {name: {"count": 100, "sum": at * 4950} for at, name in enumerate(VARIANTS)}
    again = Distilling(Distillation(every=1), VARIANTS, 0)
    again.load(distilling.state())
    assert again.state() == distilling.state()


def test_without_variants_there_are_no_hardest() -> None:
    settings = line().model_copy(update={"environment": Environment(id=ID)})
    with pytest.raises(ValueError, match=r"needs variants to choose from; give environment\.split"):
        build(settings.model_copy(update={"policy": Policy(width=8)}), seed=0)


def test_variants_that_nobody_tells_at_the_end_cannot_be_compared() -> None:
    """What an environment tells where an episode begins is looked at before; this is of where it ends."""
    distilling = Distilling(Distillation(every=1), ("one", "other"), 0)
    with pytest.raises(TrainingError, match="does not tell which one an episode was of"):
        distilling.learn([Episode(0, "", 20.0, 20, 1.0, 0.6)])
    assert distilling.state() == {}


def test_the_environments_time_is_that_of_the_collection(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = opened(line())
    learner.iterate(0)
    seen: list[float] = []
    learned = VectorLearner._learned

    def watched(self: VectorLearner, kept: Any, *rest: Any) -> Any:
        seen.append(kept.seconds)
        return learned(self, kept, *rest)

    monkeypatch.setattr(VectorLearner, "_learned", watched)
    told = learner.iterate(1)
    assert "own/hard_variants" in told
    assert seen == [told["time/environment"]]
