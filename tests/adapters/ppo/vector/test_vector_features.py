"""Features and statistics, worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from rolf_adapters.ppo.vector.features import Features
from rolf_adapters.ppo.vector.layout import Layout
from rolf_adapters.ppo.vector.statistics import Statistics, _add

PAIR = Layout(
    entities=2,
    size=2,
    present=0,
    levels=((1, 3),),
    traced=((0, -1), (1, 2)),
    gains=(0.5, 0.25),
    words="plant",
    vocabulary=("red", "blue"),
)


def test_traces_are_exponential_means_that_begin_with_the_episode() -> None:
    """Entity by entity, gain by gain: the number itself, then how often the level was 2 of 0, 1, 2."""
    features = Features(1, 5, PAIR)
    first = np.array([[4.0, 1.0, 0.0, 0.5, 9.0]], np.float32)
    found = features.begin(first, np.ones(1, np.bool_), {"plant": np.array(["blue/green"], dtype=object)})
    assert found.tolist() == [[4, 1, 0, 0.5, 9, 4, 1, 4, 1, 0, 0, 0, 0]]
    assert features.words.tolist() == [[0, 1]]
    found = features.see(np.array([[0.0, 0.0, 8.0, 1.0, 9.0]], np.float32))
    assert found[0, 5:].tolist() == [2, 0.5, 3, 0.75, 4, 0.5, 2, 0.25]
    assert features.time.tolist() == [1]


def test_a_row_that_begins_anew_leaves_the_others_alone() -> None:
    features = Features(2, 4, PAIR)
    words = {"plant": np.array(["red", "blue"], dtype=object)}
    seen = np.array([[4.0, 1.0, 0.0, 0.5], [2.0, 0.0, 2.0, 0.0]], np.float32)
    features.begin(seen, np.ones(2, np.bool_), words)
    features.see(np.zeros((2, 4), np.float32))
    found = features.begin(np.ones((2, 4), np.float32), np.array([False, True]), {"plant": np.array(["", "red"])})
    assert found[:, 4:8].tolist() == [[2, 0.5, 3, 0.75], [1, 1, 1, 1]]
    assert features.time.tolist() == [1, 0]
    assert features.words.tolist() == [[1, 0], [1, 0]]


class Counts:
    """Senses that tell how many looks there were at a row since it began, and the first number."""

    size = 1

    def begin(self, infos: Mapping[str, Any], rows: NDArray[np.bool_]) -> None:
        del infos
        self.looks = np.where(rows, 0, self.looks if hasattr(self, "looks") else 0)

    def look(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        self.looks = self.looks + 1
        return np.repeat(self.looks.astype(np.float32)[:, None, None], 2, axis=1) + observations[:, :1, None]


def test_senses_look_at_every_step_and_are_told_when_something_is_decided() -> None:
    features = Features(2, 4, PAIR.model_copy(update={"senses": f"{__name__}:Counts", "senses_size": 1}))
    words, every = {"plant": np.array(["red", "blue"], dtype=object)}, np.ones(2, np.bool_)
    found = features.begin(np.zeros((2, 4), np.float32), every, words)
    assert found.shape == (2, 4 + 2 * 5)
    assert found[:, [8, 13]].tolist() == [[0, 0], [0, 0]]
    features.take_in(np.full((2, 4), 10, np.float32))
    found = features.see(np.full((2, 4), 20, np.float32))
    assert found[:, [8, 13]].tolist() == [[22, 22], [22, 22]]
    assert found[:, 4].tolist() == [12.5, 12.5], "traces saw both: 0, half of the way to 10, half of the rest to 20"
    assert features.time.tolist() == [1, 1]
    found = features.begin(np.zeros((2, 4), np.float32), np.array([True, False]), words)
    assert found[:, [8, 13]].tolist() == [[0, 0], [22, 22]]
    found = features.see(np.zeros((2, 4), np.float32))
    assert found[:, [8, 13]].tolist() == [[1, 1], [3, 3]]


def test_senses_of_another_size_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"work out 1 numbers .* senses_size=2; give 1"):
        Features(1, 4, PAIR.model_copy(update={"senses": f"{__name__}:Counts", "senses_size": 2}))


def test_words_that_are_not_told_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"no 'plant', .* it has tick"):
        Features(1, 4, PAIR).begin(np.zeros((1, 4), np.float32), np.ones(1, np.bool_), {"tick": np.zeros(1)})


def test_statistics_are_alike_for_all_entities() -> None:
    """Numbers 0 and 2 are the same of two entities, 1 and 3 as well, 4 is of the whole and stands still."""
    found = Statistics(13)
    seen = np.zeros((2, 13), np.float32)
    seen[:, :5] = [[0, 1, 2, 3, 7], [4, 1, 6, 3, 7]]
    _add(found.sums, seen)
    mean, scale = found.of_features(PAIR, 5)
    assert mean[:5].tolist() == [3, 2, 3, 2, 7]
    assert scale[:5].tolist() == pytest.approx([5**-0.5, 1, 5**-0.5, 1, 1])
    mean, scale = found.of_features(None, 13)
    assert mean[:5].tolist() == [2, 1, 4, 3, 7]
    assert torch.equal(scale[1:2], torch.ones(1))


def test_rewards_are_scaled_by_the_spread_of_returns() -> None:
    found = Statistics(1)
    _add(found.returns, np.array([2.0, 6.0]))
    assert found.reward_scale() == 0.5
    flat = Statistics(1)
    _add(flat.returns, np.array([3.0, 3.0]))
    assert flat.reward_scale() == 1.0
