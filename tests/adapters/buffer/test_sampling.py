"""What is drawn, how likely it was, and how it is weighed: by hand first, then by counting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept_episodes import write

from rolf_adapters.buffer import Causal, Edge, Episode, Graph, Sample, TrajectoryBuffer, Uniform
from rolf_adapters.buffer.sampling import importance, mixed
from rolf_adapters.buffer.sumtree import SumTree


def small(timestamp: int, rewards: list[float], edges: list[Edge]) -> Episode:
    return Episode("toy", timestamp, {}, {}, np.array(rewards), graph=Graph.of(edges))


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[TrajectoryBuffer]:
    """Priorities 2, 1, 0, 0 (`test_priority`), then 0, 0, then 4 · 1 = 4, 0, 0, 0 … with alpha 1."""
    with TrajectoryBuffer(tmp_path / "toy", alpha=1.0) as buffer:
        buffer.add(small(0, [0, 1, 0, 2], [Edge(0, 1, "a"), Edge(1, 3, "a"), Edge(0, 2, "a")]))
        buffer.add(small(1, [0, 1], []))
        buffer.add(small(2, [7, 2, 0, 2, 0], [Edge(0, 1, "a"), Edge(0, 2, "a"), Edge(0, 3, "a"), Edge(0, 4, "a")]))
        buffer.commit()
        yield buffer


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def test_the_toy_has_the_priorities_that_the_tests_are_worked_out_for(toy: TrajectoryBuffer) -> None:
    assert [toy.priorities(number).tolist() for number in toy.numbers] == [[2, 1, 0, 0], [0, 0], [4, 0, 0, 0, 0]]
    assert (len(toy), toy.steps) == (3, 11)


def test_probabilities_and_weights_of_episodes_worked_by_hand(toy: TrajectoryBuffer) -> None:
    """Episodes weigh 3, 0 and 4 of 7. With a share of 0.2: P = 0.8 · 3/7 + 0.2/3 and so on. With beta 1 the weights are
    1/(3 P), divided by the largest, that of the second: 1/(3 · 0.2/3) = 5."""
    expected = np.array([0.8 * 3 / 7 + 0.2 / 3, 0.2 / 3, 0.8 * 4 / 7 + 0.2 / 3])
    assert expected.sum() == pytest.approx(1)
    sample = toy.sample_episodes(400, generator(), Causal(share=0.2, beta=1.0))
    assert set(sample.numbers.tolist()) == {0, 1, 2}
    assert sample.steps is None
    np.testing.assert_allclose(sample.probabilities, expected[sample.numbers], rtol=1e-12)
    np.testing.assert_allclose(sample.weights, (1 / (3 * expected) / 5)[sample.numbers], rtol=1e-12)
    assert sample.weights.max() == 1.0
    for seed in range(20):  # the largest that there could be, not of what happens to be drawn together
        alone = toy.sample_episodes(1, generator(seed), Causal(share=0.2, beta=1.0))
        np.testing.assert_allclose(alone.weights, (1 / (3 * expected) / 5)[alone.numbers], rtol=1e-12)
    plain = toy.sample_episodes(400, generator(), Causal(share=0.2, beta=1.0, normalised=False))
    np.testing.assert_allclose(plain.weights, (1 / (3 * expected))[plain.numbers], rtol=1e-12)


def test_probabilities_and_weights_of_steps_worked_by_hand(toy: TrajectoryBuffer) -> None:
    """Eleven steps that weigh 2, 1 and 4 of 7, the others nothing: P = 0.8 · 2/7 + 0.2/11 … 0.2/11. With beta 0.5 the
    weights are 1/sqrt(11 P), divided by the largest, 1/sqrt(11 · 0.2/11)."""
    flat = np.array([2, 1, 0, 0, 0, 0, 4, 0, 0, 0, 0])
    expected = 0.8 * flat / 7 + 0.2 / 11
    assert expected.sum() == pytest.approx(1)
    sample = toy.sample_steps(2_000, generator(1), Causal(share=0.2, beta=0.5))
    assert sample.steps is not None
    at = np.array([0, 4, 6])[sample.numbers] + sample.steps
    assert set(at.tolist()) == set(range(11))
    np.testing.assert_allclose(sample.probabilities, expected[at], rtol=1e-12)
    weights = (11 * expected) ** -0.5 / (11 * 0.2 / 11) ** -0.5
    np.testing.assert_allclose(sample.weights, weights[at], rtol=1e-12)
    counts = np.bincount(at, minlength=11)
    spread = np.sqrt(2_000 * expected * (1 - expected))
    assert (abs(counts - 2_000 * expected) < 4 * spread).all(), "they are drawn as often as is said"


def test_probabilities_and_weights_from_an_episode_on_worked_by_hand(toy: TrajectoryBuffer) -> None:
    """With the first episode once more at the end, those from the second on have eleven steps that weigh 4, 2 and 1 of
    7; in all there are fifteen that weigh 10. P = 0.8 · 4/7 + 0.2/11 and so on, and the weights as without `first`."""
    toy.add(small(3, [0, 1, 0, 2], [Edge(0, 1, "a"), Edge(1, 3, "a"), Edge(0, 2, "a")]))
    toy.commit()
    flat = np.array([0, 0, 4, 0, 0, 0, 0, 2, 1, 0, 0])
    expected = 0.8 * flat / 7 + 0.2 / 11
    assert expected.sum() == pytest.approx(1)
    drawing = generator(1)
    sample = toy.sample_steps(2_000, drawing, Causal(share=0.2, beta=0.5), first=1)
    assert sample.steps is not None
    at = np.array([-1, 0, 2, 7])[sample.numbers] + sample.steps
    assert set(sample.numbers.tolist()) == {1, 2, 3}
    np.testing.assert_allclose(sample.probabilities, expected[at], rtol=1e-12)
    np.testing.assert_allclose(sample.weights, np.sqrt(0.2 / 11 / expected[at]), rtol=1e-12)
    counts = np.bincount(at, minlength=11)
    spread = np.sqrt(2_000 * expected * (1 - expected))
    assert (abs(counts - 2_000 * expected) < 4 * spread).all(), "they are drawn as often as is said"
    apart = generator(1)
    apart.random((2_000, 2))
    assert drawing.random() == apart.random(), "nothing is drawn to be thrown away"
    whole = np.array([0, 4, 3]) / 7 * 0.8 + 0.2 / 3
    episodes = toy.sample_episodes(100, generator(), Causal(share=0.2, beta=1.0), first=1)
    np.testing.assert_allclose(episodes.probabilities, whole[episodes.numbers - 1], rtol=1e-12)
    np.testing.assert_allclose(episodes.weights, (0.2 / 3 / whole)[episodes.numbers - 1], rtol=1e-12)
    alike = toy.sample_steps(500, generator(), first=1)
    assert (alike.probabilities == 1 / 11).all()
    assert set(alike.numbers.tolist()) == {1, 2, 3}


def test_weights_undo_the_preference() -> None:
    """With beta 1 and without normalisation the expectation of what is weighed is the mean over all of it: that is what
    the N in 1/(N P) is for."""
    values = np.array([3.0, -1.0, 10.0, 0.5])
    probabilities = mixed(np.array([5.0, 0.0, 1.0, 0.25]), 6.25, 4, 0.2)
    weights = importance(probabilities, 4, float(probabilities.min()), Causal(beta=1.0, normalised=False))
    assert (probabilities * weights * values).sum() == pytest.approx(values.mean(), rel=1e-12)


def test_uniform_draws_each_alike(toy: TrajectoryBuffer) -> None:
    """The ordinary buffer, for comparison: all weights 1, steps as likely in a long episode as in a short one."""
    episodes, steps = toy.sample_episodes(3_000, generator(), Uniform()), toy.sample_steps(3_000, generator())
    assert steps.steps is not None
    for sample, at, size in (
        (episodes, episodes.numbers, 3),
        (steps, np.array([0, 4, 6])[steps.numbers] + steps.steps, 11),
    ):
        assert (sample.weights == 1).all()
        assert (sample.probabilities == 1 / size).all()
        counts = np.bincount(at, minlength=size)
        assert (abs(counts - 3_000 / size) < 4 * np.sqrt(3_000 / size)).all()


def test_what_nothing_hangs_on_comes_a_fifth_as_often(toy: TrajectoryBuffer) -> None:
    """The share is what an idle step keeps of its frequency."""
    sample = toy.sample_steps(20_000, generator(2), Causal(share=0.2))
    idle = (sample.numbers == 1).mean()
    assert idle == pytest.approx(0.2 * 2 / 11, rel=0.15)


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_the_steps_that_matter_most_are_covered(toy: TrajectoryBuffer, tmp_path: Path, alpha: float) -> None:
    """By priority, then by age; and a causal sample of as many steps as there are holds nearly all of them."""
    assert toy.top_steps(2) == [(2, 0), (0, 0)]
    assert toy.top_steps(9) == [(2, 0), (0, 0), (0, 1)], "nothing hangs on the others"
    with TrajectoryBuffer(tmp_path / "b", alpha=alpha) as buffer:
        write(buffer, 0, 200)
        every = [
            (-float(value), number, step)
            for number in range(200)
            for step, value in enumerate(buffer.priorities(number))
        ]
        assert buffer.top_steps(10) == [(number, step) for _, number, step in sorted(every)[:10]]
        sample = buffer.sample_steps(buffer.steps, generator(), Causal())
        assert sample.steps is not None
        held = set(zip(sample.numbers.tolist(), sample.steps.tolist(), strict=True))
        assert sum(top in held for top in buffer.top_steps(10)) / 10 >= 0.92


def test_without_any_priority_all_are_alike(tmp_path: Path) -> None:
    """A buffer of episodes in which nothing came of anything is sampled like any other."""
    with TrajectoryBuffer(tmp_path / "b") as buffer:
        for number in range(5):
            buffer.add(small(number, [1.0, 2.0], []))
        buffer.commit()
        for sample in (
            buffer.sample_episodes(500, generator(), Causal()),
            buffer.sample_steps(500, generator(), Causal()),
        ):
            assert set(sample.numbers.tolist()) == set(range(5))
            assert (sample.weights == 1).all()


def equal(one: Sample, other: Sample) -> bool:
    return all(np.array_equal(a, b) if a is not None else b is None for a, b in zip(one, other, strict=True))


def draws(buffer: TrajectoryBuffer, **more: int) -> list[Sample]:
    return [
        draw(200, generator(7), how, **more)
        for draw in (buffer.sample_episodes, buffer.sample_steps)
        for how in (Uniform(), Causal(), Causal(share=0.01, beta=0.7))
    ]


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_draws_depend_on_the_episodes_and_the_generator_alone(tmp_path: Path, batch: int) -> None:
    """Not on how many were committed at once, on which were dropped when, or on whether the buffer was opened anew."""
    sizes = {"capacity": 64 << 10, "segment_size": 16 << 10}
    with TrajectoryBuffer(tmp_path / "plain", **sizes) as buffer:
        write(buffer, 0, 100)
        expected = draws(buffer)
        assert buffer.numbers.start > 0, "some were dropped"
    with TrajectoryBuffer(tmp_path / "batches", **sizes, batch=batch) as buffer:
        write(buffer, 0, 100)
        assert all(map(equal, draws(buffer), expected))
    with TrajectoryBuffer(tmp_path / "batches", **sizes) as buffer:
        assert all(map(equal, draws(buffer), expected))


def test_draws_from_an_episode_on_are_those_of_a_buffer_without_the_older_ones(tmp_path: Path) -> None:
    """Bit by bit, and so are the steps of highest priority; whatever else is stored or was dropped."""
    with TrajectoryBuffer(tmp_path / "all", capacity=64 << 10, segment_size=16 << 10) as buffer:
        write(buffer, 0, 100)
        for first in (buffer.numbers.start + 1, 90, 99):
            with TrajectoryBuffer(tmp_path / str(first)) as rest:
                write(rest, first, 100)
                expected = [each._replace(numbers=each.numbers + first) for each in draws(rest)]
                assert all(map(equal, draws(buffer, first=first), expected))
                assert buffer.top_steps(20, first=first) == [(first + at, step) for at, step in rest.top_steps(20)]
        for first in (0, buffer.numbers.start):
            assert all(map(equal, draws(buffer, first=first), draws(buffer)))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [({"share": 0.0}, "share"), ({"share": 1.1}, "share"), ({"beta": -0.1}, "beta"), ({"beta": 2}, "beta")],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float], told: str) -> None:
    with pytest.raises(ValueError, match=f"{told}=.*out of range"):
        Causal(**wrong)


def test_nothing_can_be_drawn_from_nothing(tmp_path: Path, toy: TrajectoryBuffer) -> None:
    with TrajectoryBuffer(tmp_path / "b") as empty, pytest.raises(ValueError, match="buffer is empty"):
        empty.sample_episodes(1, generator())
    with pytest.raises(ValueError, match="draw one at least"):
        toy.sample_steps(0, generator())
    for draw in (toy.sample_steps, toy.sample_episodes):
        with pytest.raises(ValueError, match="first=3: there is no such episode yet; the latest is 2"):
            draw(1, generator(), first=3)
        with pytest.raises(ValueError, match="first=-1 is no episode's number; give 0 or more"):
            draw(1, generator(), first=-1)
    with pytest.raises(ValueError, match="first=3: there is no such episode yet"):
        toy.top_steps(1, first=3)


# ---- the sum tree


@given(st.lists(st.integers(0, 9).map(float), min_size=1, max_size=70), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_a_tree_draws_in_proportion(weights: list[float], piece: int) -> None:
    """Whole numbers have exact sums: beside a plain search of the running sum, for every place in it."""
    tree = SumTree()
    for start in range(0, len(weights), piece):
        tree.extend(np.array(weights[start : start + piece]))
    total = sum(weights)
    assert tree.total == total
    assert tree.weights.tolist() == weights
    if total:
        places = np.arange(int(total))
        found, rest = tree.draw(places / total + 1e-9)
        expected = np.searchsorted(np.cumsum(weights), places, side="right")
        assert found.tolist() == expected.tolist()
        np.testing.assert_allclose(rest, places - (np.cumsum(weights) - weights)[expected], atol=1e-6)


def test_a_tree_never_draws_what_has_no_weight() -> None:
    """Sums are rounded: the end of one may lie behind the beginning of the next."""
    draw = generator(3)
    for _ in range(200):
        weights = draw.random(int(draw.integers(1, 40))) * 10.0 ** draw.integers(-12, 12)
        weights[draw.random(len(weights)) < 0.5] = 0
        if weights.any():
            tree = SumTree()
            tree.extend(weights)
            found, _ = tree.draw(np.concatenate([draw.random(50), [0.0, np.nextafter(1.0, 0)]]))
            assert (weights[found] > 0).all()


def test_a_tree_that_grew_has_the_bits_of_one_that_was_built_at_once() -> None:
    weights = generator(4).random(300)
    grown, built = SumTree(), SumTree()
    for weight in weights:
        grown.extend(np.array([weight]))
    built.rebuild(weights)
    assert grown.total == built.total
    uniform = generator(5).random(500)
    assert all(map(np.array_equal, grown.draw(uniform), built.draw(uniform)))
