"""What is learned from again is what was played, weighed by hand, and the same whatever stops the training."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from guessing_world import ID
from learner_states import same
from replaying import LINE, line, plain, stored

from rolf_adapters.buffer import Edge, Episode, Graph
from rolf_adapters.buffer.line_edges import LineEdges
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import train
from rolf_adapters.ppo.vector.learner import VectorLearner, build
from rolf_adapters.ppo.vector.settings import Environment, Replay, Reward, Rollout, Settings, Training
from rolf_adapters.ppo.vector.stored import Plan, Stored
from rolf_adapters.ppo.vector.update import Learning

SHARED = Path(__file__).parents[3] / "shared"
Opened = Callable[..., VectorLearner]


def guessing(**replay: Any) -> Settings:
    """Episodes of 8 steps, of which 20 steps hold two and a half."""
    return Settings(
        environment=Environment(id=ID),
        rollout=Rollout(rows=4, steps=20, statistics=20),
        reward=Reward(curiosity=0.02),
        training=Training(iterations=6, replay=Replay(**{"share": 0.5, "rows": 2, "sampler": "uniform"} | replay)),
    )


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    made: list[VectorLearner] = []

    def make(settings: Settings, folder: str = "run") -> VectorLearner:
        made.append(build(settings, seed=0))
        made[-1].keep_in(tmp_path / folder, states=3)
        return made[-1]

    yield make
    for each in made:
        each.close()
        each.close()  # twice is allowed


def samples_of(learner: VectorLearner, monkeypatch: pytest.MonkeyPatch, iteration: int) -> Any:
    """Return the samples that an iteration learns from."""
    from rolf_adapters.ppo.vector import update

    seen: list[Any] = []
    improve = update.Learning.improve

    def watched(self: Any, samples: Any, *rest: Any, **more: Any) -> Any:
        seen.append(copy.deepcopy(samples))
        return improve(self, samples, *rest, **more)

    monkeypatch.setattr(update.Learning, "improve", watched)
    learner.iterate(iteration)
    monkeypatch.undo()
    return seen[0]


# ---- what is stored


def test_whoever_has_nothing_stored_counts_with_the_other_processes(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They add up in every step how many samples are fresh; one that did not would have all of them wait for ever."""
    learner = opened(line())
    for iteration in range(2):
        samples = samples_of(learner, monkeypatch, iteration)
        assert samples.fresh == 160
        assert (len(samples) > 160) == bool(iteration)


def test_nothing_is_stored_where_nothing_is_learned_from_again(tmp_path: Path, opened: Opened) -> None:
    learner = opened(line(share=0.0))
    told = learner.iterate(0)
    assert not list(tmp_path.iterdir())
    assert not [name for name in told if name.startswith("replay/")]
    assert "replay" not in learner.state().values


def test_the_edges_of_a_row_are_those_of_an_environment_of_its_own(tmp_path: Path, opened: Opened) -> None:
    """The same variant, seed and actions, played alone: fault, alarm, claim, part and repair, step by step."""
    learner = opened(line())
    learner.iterate(0)
    learner.iterate(1)
    learner.close()
    edges = 0
    with stored(tmp_path / "run") as buffer:
        assert len(buffer) == 4
        for number in buffer.numbers:
            episode = buffer.episode(number)
            iteration, row = divmod(episode.timestamp // 40, 4)
            variant = episode.env_id.removeprefix(f"{LINE}/")
            assert variant == learner.experience.choosing.chosen(4, iteration)[row]
            env = gym.make(LINE, variant=variant, horizon=200, ticks_per_step=5)
            seen, info = env.reset(seed=learner.experience.row_seeds("rollout", iteration)[row])
            heard = LineEdges(env.unwrapped)
            heard.begin(seen, info)
            for step, (action,) in enumerate(episode.actions["action"]):  # type: ignore[misc]
                seen, reward, _, _, info = env.step(int(action))
                heard.step(int(action), seen, info)
                assert reward == episode.rewards[step]
            assert heard.graph() == buffer.graph(number)
            edges += len(heard.graph())
    assert edges > 20


def test_what_is_stored_is_what_was_shown(opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Features, words, time, previous action and masks, every bit; and after the end what would have come next."""
    from rolf_adapters.ppo.vector.packing import unpacked

    for settings, name in ((line(), "line"), (guessing(), "guessing")):
        learner = opened(settings, name)
        fresh = samples_of(learner, monkeypatch, 0)
        learner.close()
        steps, rows = settings.rollout.steps, settings.rollout.rows
        with stored(tmp_path / name) as buffer:
            assert buffer.steps == 2 * steps
            for number in buffer.numbers:
                episode = buffer.episode(number)
                shown = unpacked(episode.states, learner.network.size)
                first = episode.timestamp % steps
                row = episode.timestamp // steps % rows
                which = (first + np.arange(len(episode))) * rows + row
                for column in shown._fields:
                    found = getattr(shown, column)
                    np.testing.assert_array_equal(found[:-1], getattr(fresh, column)[which])
                    assert found.dtype == getattr(fresh, column).dtype
                assert shown.time[-1] == len(episode)
                np.testing.assert_array_equal(shown.previous[-1], episode.actions["action"][-1] + 1)
                np.testing.assert_array_equal(episode.extras["logp"], fresh.logps[which])
        lengths = sorted(len(buffer_episode) for buffer_episode in _episodes(tmp_path / name))
        assert lengths == ([40, 40] if name == "line" else [4, 4, 8, 8, 8, 8])


def _episodes(folder: Path) -> list[Any]:
    with stored(folder) as buffer:
        return buffer.episodes(buffer.numbers)


# ---- what is learned from it


def test_stored_steps_are_judged_as_they_were_when_nothing_was_learned_since(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a learning rate of nearly nothing: the same log-probabilities, values, advantages and returns, ratio 1."""
    for settings, name in ((line(sampler="uniform"), "line"), (guessing(), "guessing")):
        slow = settings.training.model_copy(update={"learning_rate": 1e-12, "normalise": "none"})
        learner = opened(settings.model_copy(update={"training": slow, "reward": Reward()}), name)
        before = samples_of(learner, monkeypatch, 0)
        after = samples_of(learner, monkeypatch, 1)
        steps = settings.rollout.steps * settings.rollout.rows
        assert after.fresh == steps
        assert len(after) == steps + round(steps * slow.replay.share / (1 - slow.replay.share))
        told = _told_apart(before)
        pairs = [(told[key], at) for key, at in _told_apart(after, steps).items() if key in told]
        assert len(pairs) > 10
        old, new = np.array(pairs).T
        for column in ("logps", "values", "advantages", "returns", "actions", "clips", "segments"):
            found, wanted = getattr(after, column)[new], getattr(before, column)[old]
            np.testing.assert_allclose(found, wanted, atol=2e-5, err_msg=f"{name} {column}")
        np.testing.assert_allclose(after.weights, 1.0, atol=1e-5)


def _told_apart(samples: Any, first: int = 0) -> dict[bytes, int]:
    """Return where each sample is that was shown what no other was."""
    shown = np.hstack([samples.features, samples.time[:, None], samples.previous, samples.actions])[first:]
    keys = [row.tobytes() for row in shown]
    return {key: first + at for at, key in enumerate(keys) if keys.count(key) == 1}


@pytest.mark.parametrize("oldest", [8, 1])
def test_a_replayed_step_counts_its_ratio_times_the_weight_of_the_drawing(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, oldest: int
) -> None:
    """Worked out from what lies on the disk: priorities are dependants times the variance of later rewards; a step is
    drawn with .8 of its root's share and .2 by chance; the weight is the root of the least chance over its own. What is
    too old has no share in any of it."""
    settings = line(sampler="causal", most=1.02, oldest=oldest)
    learner = opened(settings)
    for iteration in range(2):
        learner.iterate(iteration)
    with torch.no_grad():  # as an update would, but all at once
        learner.network.body.entity_head.heat += 0.5
    samples = samples_of(learner, monkeypatch, 2)
    told = learner._replaying.told()  # type: ignore[union-attr]
    learner.close()
    with stored(tmp_path / "run") as buffer:
        episodes = [buffer.episode(number) for number in range(0 if oldest > 1 else 2, 4)]
        priorities = [_priorities(episode) for episode in episodes]
    roots = np.sqrt(np.concatenate(priorities))
    chances = 0.8 * roots / roots.sum() + 0.2 / len(roots)
    importance = np.sqrt(chances.min() / chances)
    behaviour = np.concatenate([episode.extras["logp"] for episode in episodes])
    actions = np.concatenate([episode.actions["action"][:, 0] for episode in episodes])
    ages = np.repeat([2, 2, 1, 1], 40)[-len(actions) :]
    cut, age, count = 0, 0, samples.fresh
    for at in range(count, len(samples)):
        ratio = np.exp(samples.logps[at] - behaviour)
        close = np.isclose(np.minimum(ratio, 1.02) * importance, samples.weights[at], rtol=1e-5)
        mine = close & (actions == samples.actions[at, 0]) & (np.tile(np.arange(40), len(episodes)) == samples.time[at])
        assert mine.sum() == 1
        cut += int(ratio[mine][0] > 1.02)
        age += int(ages[mine][0])
    assert 0.05 < told["replay/truncated"] < 0.95
    assert told["replay/steps"] == len(samples) - count
    assert told["replay/truncated"] * told["replay/steps"] == pytest.approx(cut)
    assert told["replay/age"] * told["replay/steps"] == pytest.approx(age)
    assert told["replay/weight"] == pytest.approx(samples.weights[count:].mean(), rel=1e-5)
    assert told["replay/covered"] >= 0.9


def _priorities(episode: Any) -> Any:
    """Return what hangs on each step, counted edge by edge."""
    found = []
    edges = [(edge.cause, edge.effect) for edge in episode.graph]
    for step in range(len(episode)):
        reached = {step}
        for cause, effect in sorted(edges):
            if cause in reached:
                reached.add(effect)
        later = episode.rewards[step + 1 :]
        found.append((len(reached) - 1) * (later.var() if len(later) > 1 else 0.0))
    return np.array(found)


@pytest.mark.parametrize("sampler", ["fifo", "uniform", "causal"])
def test_as_many_steps_are_drawn_however_and_none_is_too_old(opened: Opened, sampler: Any) -> None:
    """107 beside 160 are 40 %; fifo takes the newest 107 steps that there are, which are of the latest two episodes."""
    learner = opened(line(sampler=sampler, oldest=2))
    told = [learner.iterate(iteration) for iteration in range(5)]
    assert [each["replay/steps"] for each in told] == [0, 107, 107, 107, 107]
    ages = [each["replay/age"] for each in told[1:]]
    if sampler == "fifo":
        assert ages[1:] == [pytest.approx((80 + 27 * 2) / 107)] * 3
    else:
        assert ages[0] == 1
        assert all(1.1 < each < 1.9 for each in ages[1:])


class Toys:
    """Records an episode of three steps, the first of which is the cause of the second; what hangs on it varies."""

    def __init__(self) -> None:
        self.reward = 0.0

    def episodes(self, kept: Any, clock: Callable[[int, int], int]) -> Iterator[Episode]:
        del kept
        rewards = np.array([0.0, 0.0, self.reward])
        yield Episode("toy", clock(0, 0), {}, {}, rewards, graph=Graph.of([Edge(0, 1, "part")]))


def test_what_is_too_old_is_not_among_the_steps_that_should_be_covered(tmp_path: Path) -> None:
    """However much hangs on it. Left are two episodes in each of which the first step weighs 1, and the others nothing:
    they are drawn with .8/2 + .2/6 and .2/6."""
    toys = Toys()
    stored = Stored(Replay(share=0.5, oldest=2), Plan(1, 3, 0), tmp_path, 1, 0)
    for iteration, toys.reward in enumerate((90.0, 2.0, 2.0)):
        stored.store(toys, None, iteration)  # type: ignore[arg-type]  # a stand-in
    drawn = stored.draw(400, 3)
    assert drawn is not None
    assert set(drawn.numbers.tolist()) == {1, 2}
    assert stored.covered(drawn, 3) == (2, 2)
    chances = np.where(drawn.steps == 0, 0.4 + 0.2 / 6, 0.2 / 6)
    np.testing.assert_allclose(drawn.weights, np.sqrt(0.2 / 6 / chances), rtol=1e-12)
    assert stored.draw(1, 5) is None
    stored.close()


def test_what_is_clipped_is_counted_of_all_samples_and_the_divergence_of_fresh_ones(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if every stored step had become e times likelier during the update, and no fresh one."""
    settings = guessing()
    slow = settings.training.model_copy(update={"learning_rate": 1e-12})
    learner = opened(settings.model_copy(update={"training": slow}))
    learner.iterate(0)
    samples = samples_of(learner, monkeypatch, 1)
    assert (samples.fresh, len(samples)) == (80, 160)
    moved = replace(samples, logps=samples.logps - (np.arange(160) >= 80).astype(np.float32))
    still = torch.optim.SGD(learner.network.parameters(), lr=0.0)
    found = Learning(learner.network, still, Training(iterations=1, epochs=2)).improve(moved, np.random.default_rng(0))
    assert found.clips.sum(axis=1).tolist() == [2 * 80, 2 * 160]
    assert abs(found.divergence) < 1e-6


def test_fresh_steps_that_are_nearly_alike_do_not_blow_up_stored_ones(opened: Opened) -> None:
    learner = opened(line())
    learner.iterate(0)
    assert learner._replaying is not None
    alike = np.tile([3.0, 0.0, 1e-12], (4, 1))  # of three fresh steps a segment: their count, sum and sum of squares
    found = learner._replaying.samples(60, 1, learner.experience.paid, (0.2,) * 4, alike)
    assert found is not None
    assert np.abs(found.advantages).max() == 10


def test_the_oldest_are_dropped_where_there_is_no_room_for_them(opened: Opened, tmp_path: Path) -> None:
    """4 MiB hold some 40 of these episodes of nearly 100 KiB, in whole sixteenths."""
    learner = opened(line(capacity=4, rows=4))
    for iteration in range(14):
        told = learner.iterate(iteration)
        learner.state()
    learner.close()
    with stored(tmp_path / "run") as buffer:
        assert 8 < len(buffer) < 56
        assert buffer.numbers.stop == 56
    assert told["replay/steps"] == 107


def test_what_cannot_be_learned_from_again_is_said_at_once(tmp_path: Path, opened: Opened) -> None:
    with pytest.raises(ValueError, match=r"nothing tells what came of what in rolf-test/Guess-v0; give 'uniform'"):
        opened(guessing(sampler="causal"))
    with pytest.raises(ValueError, match=r"rows=8 must be at most rollout\.rows=4"):
        opened(line(rows=8))
    homeless = build(line(), seed=0)
    with pytest.raises(RuntimeError, match="call keep_in before"):
        homeless.iterate(0)
    homeless.close()
    learner = opened(line(), "used")
    learner.iterate(0)
    before = copy.deepcopy(learner.state())
    learner.close()
    another = opened(line(), "used")
    with pytest.raises(TrainingError, match="holds episodes of a training that is not this one"):
        another.iterate(0)
    without = State(before.tensors, {name: each for name, each in before.values.items() if name != "replay"})
    with pytest.raises(ValueError, match="a learner that replays"):
        another.load(without)


def test_what_cannot_be_kept_is_said_in_a_line_and_closes_the_learner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[VectorLearner] = []
    close = VectorLearner.close
    monkeypatch.setattr(VectorLearner, "close", lambda self: (closed.append(self), close(self)))
    (tmp_path / "buffer").write_text("in the way")
    with pytest.raises(TrainingError, match=r"cannot keep its files in '.*buffer/rank-0': Not a directory; make room"):
        train(checked(plain()), tmp_path)
    assert len(closed) == 1


@pytest.mark.timeout(400)
def test_goes_on_bit_by_bit_after_a_break(opened: Opened, tmp_path: Path) -> None:
    """What was stored after the state is forgotten, and the same is stored and drawn again."""
    for number, settings in enumerate((line(oldest=2), line(sampler="fifo"), guessing())):
        whole = opened(settings, f"whole-{number}")
        told = [whole.iterate(iteration) for iteration in range(5)]
        broken = opened(settings, f"broken-{number}")
        for iteration in range(2):
            broken.iterate(iteration)
        kept = copy.deepcopy(broken.state())
        broken.iterate(2)
        broken.close()
        resumed = opened(settings, f"broken-{number}")
        resumed.load(kept)
        again = [resumed.iterate(iteration) for iteration in range(2, 5)]
        assert same(whole.state(), resumed.state())
        for one, other in zip(told[2:], again, strict=True):
            lasting = [name for name in one if not name.startswith("time/")]
            assert repr([one[name] for name in lasting]) == repr([other[name] for name in lasting])
        assert told[-1]["replay/steps"] == round(
            settings.rollout.rows * settings.rollout.steps * (2 / 3 if number < 2 else 1)
        )
