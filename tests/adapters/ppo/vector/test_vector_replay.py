"""What is learned from again is what was played, weighed by hand, and the same whatever stops the training."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
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
from together import ENVIRONMENT
from trained_files import files

from rolf_adapters.buffer import Edge, Episode, Graph, TrajectoryBuffer
from rolf_adapters.buffer.line_edges import LineEdges
from rolf_adapters.ppo.config import checked
from rolf_adapters.ppo.learner import State
from rolf_adapters.ppo.metrics import METRICS, read
from rolf_adapters.ppo.run import TrainingError
from rolf_adapters.ppo.train import train
from rolf_adapters.ppo.vector.learner import VectorLearner, build
from rolf_adapters.ppo.vector.settings import Environment, Policy, Replay, Reward, Rollout, Settings, Training
from rolf_adapters.ppo.vector.stored import Plan, Stored
from rolf_adapters.ppo.vector.update import Learning

SHARED = Path(__file__).parents[3] / "shared"
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


# ---- through `rolf train`


def plain(**replay: Any) -> dict[str, Any]:
    """Return a training of a short line as `rolf train` reads it."""
    told = line(**replay).model_dump(mode="json")
    told["training"] |= {"iterations": 8, "evaluate_every": 0}
    return told | {
        "experiment": {"kind": "vector"},
        "logging": {"checkpoint_every": 1, "checkpoints": 2, "tensorboard": False},
    }


def killed(out: Path, kills: int, seed: int) -> list[str]:
    command = [sys.executable, str(SHARED / "killed_training.py"), str(out), str(kills), str(seed), json.dumps(plain())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


def assert_whole(out: Path) -> None:
    """Checkpoints, curves, segments of the buffer, and what its index knows: all as in the undisturbed run."""
    whole = out.with_name(f"{out.name}-whole")
    assert files(out) == files(whole)
    assert any(name.startswith("buffer/rank-0/") and data for name, data in files(out).items())
    with stored(out) as one, stored(whole) as other:
        assert one.numbers == other.numbers == range(16)
        for number in one.numbers:
            assert one.graph(number) == other.graph(number)
            np.testing.assert_array_equal(one.priorities(number), other.priorities(number))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_three_kills_change_no_bit(tmp_path: Path) -> None:
    """SIGKILL at a random moment, a checkpoint in each iteration."""
    found = killed(tmp_path / "run", 3, seed=1)
    assert set(found) - {"none", "iteration-000000", "iteration-000008"}, "no kill came in the middle"
    assert_whole(tmp_path / "run")


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_ten_kills_change_no_bit(tmp_path: Path) -> None:
    found = killed(tmp_path / "run", 10, seed=2)
    assert len(set(found)) > 3
    assert_whole(tmp_path / "run")


@pytest.mark.timeout(400)
def test_going_back_takes_back_what_was_stored(tmp_path: Path) -> None:
    """A gate rolls the training back, and the buffer with it."""
    config = plain()
    gate = {"measure": "replay/age", "when": "above", "value": 1.2, "then": "roll back"}
    config |= {"stages": {"gates": [gate], "rollbacks": 1}}
    with pytest.raises(TrainingError, match="has gone back 1 times"):
        train(checked(config), tmp_path / "run")
    lines = [each for each in read(tmp_path / "run" / METRICS) if "event" not in each]
    last = [each["iteration"] for each in lines if each["rollbacks"] == 0][-1]
    assert next(each["iteration"] for each in lines if each["rollbacks"] == 1) == last
    with stored(tmp_path / "run") as buffer:
        times = [buffer.episode(number).timestamp // 160 for number in buffer.numbers]
    assert times == [iteration for iteration in range(last + 1) for _ in range(2)]


@pytest.mark.timeout(400)
def test_a_return_that_is_killed_in_its_middle_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The buffer has gone back, and the latest checkpoint of before, which was no good one, knows more episodes."""
    config = plain()
    gate = {"measure": "replay/age", "when": "above", "value": 1.2, "patience": 2, "then": "roll back"}
    config |= {"stages": {"gates": [gate], "rollbacks": 1}}
    with pytest.raises(TrainingError, match="has gone back 1 times"):
        train(checked(config), tmp_path / "whole")

    class Killed(BaseException):
        pass

    def killed_after(self: VectorLearner, state: State) -> str:
        goes(self, state)
        raise Killed

    goes = VectorLearner.go_back
    with monkeypatch.context() as patched:
        patched.setattr(VectorLearner, "go_back", killed_after)
        with pytest.raises(Killed):
            train(checked(config), tmp_path / "parts")
    with pytest.raises(TrainingError, match="has gone back 1 times"):
        train(checked(config), tmp_path / "parts", resume=True)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")


@pytest.mark.timeout(400)
def test_going_back_goes_on_with_what_is_left_of_what_was_stored(tmp_path: Path) -> None:
    """The last good checkpoint may be older than all that a full buffer keeps: said in a line, and no error."""
    config = plain(capacity=4, rows=4)
    config["training"] |= {"iterations": 12}
    config["logging"] |= {"checkpoints": 1}
    gate = {"measure": "replay/age", "when": "above", "value": 1.2, "patience": 10, "then": "roll back"}
    config |= {"stages": {"gates": [gate], "rollbacks": 1}}
    said: list[str] = []
    train(checked(config), tmp_path / "run", report=lambda news: said.append(news.message))
    told = [each for each in said if "dropped since" in each]
    assert told == [
        "8 episodes that were stored then have been dropped since; it goes on with what is left of them; a larger "
        "training.replay.capacity keeps more"
    ]
    lines = [each for each in read(tmp_path / "run" / METRICS) if "event" not in each]
    steps = [each["replay/steps"] for each in lines if each["rollbacks"] == 1]
    assert steps == [0, *[107] * 9]
    with stored(tmp_path / "run") as buffer:
        times = [buffer.episode(number).timestamp // 160 for number in buffer.numbers]
        assert buffer.verify() == []
    assert times == [number // 4 for number in buffer.numbers]


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_each_of_two_processes_stores_for_itself_and_goes_on(tmp_path: Path) -> None:
    """Stopped after three iterations and continued, it comes to what it comes to in one go."""
    config = plain()
    config |= {"cluster": {"processes": 2}}
    config["training"]["evaluate_every"] = 1  # the last iteration of a part is evaluated in any case
    config["training"]["distillation"] |= {"every": 2, "count": 2, "attempts": 2}
    (tmp_path / "two.yaml").write_text(checked(config).text())
    for name, iterations in (("whole", (5,)), ("parts", (3, 5))):
        for count in iterations:
            call = ["train", str(tmp_path / "two.yaml"), "--out", str(tmp_path / name), "--json"]
            call += ["--set", f"training.iterations={count}", *(["--resume"] if count != iterations[0] else [])]
            code = "from rolf.cli import main; main(prog_name='rolf')"
            done = subprocess.run([sys.executable, "-c", code, *call], capture_output=True, text=True, env=ENVIRONMENT)
            assert done.returncode == 0, done.stderr
    told = files(tmp_path / "whole")
    assert [name for name in told if name.startswith("buffer/rank-1/") and told[name]]
    parts = files(tmp_path / "parts")
    differ = {name for name in told if told[name] != parts.get(name)}
    assert differ <= {"checkpoints/iteration-000003/manifest.json"}
    lines = read(tmp_path / "whole" / METRICS)
    assert [line["replay/steps"] for line in lines] == [0, 106, 106, 106, 106]
    assert ["own/hard_variants" in line for line in lines] == [False, True, False, True, False]
