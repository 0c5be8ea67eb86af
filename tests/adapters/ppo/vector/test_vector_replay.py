"""What is learned from again is what was played, weighed by hand, and the same whatever stops the training."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from guessing_world import ID

from rolf_adapters.buffer import TrajectoryBuffer
from rolf_adapters.buffer.line_edges import LineEdges
from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.vector.learner import VectorLearner, build
from rolf_adapters.ppo.vector.settings import Environment, Policy, Replay, Reward, Rollout, Settings, Training

LINE = "linegym:LineEnv-v1"
Opened = Callable[..., VectorLearner]


def line(**replay: Any) -> Settings:
    return Settings(
        environment=Environment(id=LINE, kwargs={"max_episode_steps": 40, "ticks_per_step": 5}, split="line-v1/fit"),
        rollout=Rollout(rows=4, steps=40, statistics=20, evaluation_rows=2),
        policy=Policy(width=16, layout="line", period=40.0),
        training=Training(iterations=6, learning_rate=3e-3, replay=Replay(**{"share": 0.4, "rows": 2} | replay)),
    )


def guessing(**replay: Any) -> Settings:
    """Episodes of 8 steps, of which 20 steps hold two and a half."""
    return Settings(
        environment=Environment(id=ID),
        rollout=Rollout(rows=4, steps=20, statistics=20),
        reward=Reward(curiosity=0.02),
        training=Training(iterations=6, replay=Replay(**{"share": 0.5, "rows": 2, "sampler": "uniform"} | replay)),
    )


def same(one: State, other: State) -> bool:
    return (
        one.values == other.values
        and one.tensors.keys() == other.tensors.keys()
        and all(torch.equal(each, other.tensors[name]) for name, each in one.tensors.items())
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


def stored(folder: Path) -> TrajectoryBuffer:
    return TrajectoryBuffer(folder / "buffer" / "rank-0", readonly=True)


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
            assert variant == learner.choosing.chosen(4, iteration)[row]
            env = gym.make(LINE, variant=variant, horizon=200, ticks_per_step=5)
            seen, info = env.reset(seed=learner._row_seeds("rollout", iteration)[row])
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


def test_goes_on_bit_by_bit_after_a_break(opened: Opened, tmp_path: Path) -> None:
    """What was stored after the state is forgotten, and the same is stored and drawn again."""
    for number, settings in enumerate((line(), line(sampler="fifo"), guessing())):
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
