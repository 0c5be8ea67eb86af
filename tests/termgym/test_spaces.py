"""The terminal's spaces: a place for everything, and everything Gymnasium does with a space works on them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import is_space_dtype_shape_equiv
from gymnasium.vector.utils import batch_space, create_empty_array, iterate

from termgym.event import Event
from termgym.spaces import action_space, observation_space


def test_equal_spaces_are_equal_wherever_they_were_made() -> None:
    """Vector environments compare the spaces of processes, specs are pickled and copied."""
    space = observation_space(4096)
    assert pickle.loads(pickle.dumps(space)) == space
    assert copy.deepcopy(space) == space
    assert observation_space(4097) != space
    assert is_space_dtype_shape_equiv(space, observation_space(4096))


def test_batches_as_gymnasium_does() -> None:
    space = observation_space(4096)
    batched = batch_space(space, 2)
    assert isinstance(batched["stdout"], spaces.Tuple)
    assert batched["exit_code"].shape == (2, 1)
    assert create_empty_array(space, 2)["stdout"] == ("", "")
    assert list(iterate(batch_space(action_space(), 2), ("a", "b"))) == ["a", "b"]


def test_the_observation_space_has_a_place_for_every_event_and_status() -> None:
    space = observation_space(4096)
    assert space["event"].n == len(Event)
    assert np.array([-1]) in space["exit_code"]
    assert np.array([255]) in space["exit_code"]
    assert np.array([256]) not in space["exit_code"]
