"""The spaces, and the name of every number."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from gymnasium import spaces

from linegym.layout import SEEN_ROW
from linegym.plant import ACTIONS
from linegym.spaces import action_space, obs_spec, observation_space


def test_every_number_has_a_name_of_its_own() -> None:
    spec = obs_spec()
    assert [entry.index for entry in spec] == list(range(SEEN_ROW))
    assert len({entry.name for entry in spec}) == SEEN_ROW
    assert all(entry.min < entry.max for entry in spec)
    assert all(entry.meaning for entry in spec)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("station[0].value[0]", 0),
        ("station[3].age", 3 * 24 + 6),
        ("station[23].inspection_age", 575),
        ("technician[0].state", 576),
        ("technician[5].timer", 599),
        ("part[0].stock", 600),
        ("part[7].arrival", 623),
        ("line.time", 624),
        ("line.open_orders", 631),
    ],
)
def test_names_are_where_the_specification_puts_them(name: str, index: int) -> None:
    assert obs_spec()[index].name == name


def test_bounds_are_finite_and_the_specs() -> None:
    """Normalisers divide by them."""
    space = observation_space("flat")
    assert isinstance(space, spaces.Box)
    assert np.isfinite(space.low).all()
    assert np.isfinite(space.high).all()
    assert space.low.tolist() == [entry.min for entry in obs_spec()]
    assert space.high.tolist() == [entry.max for entry in obs_spec()]


@pytest.mark.parametrize(
    "made", [lambda kind: observation_space(kind), lambda kind: action_space("multi" if kind == "dict" else kind)]
)
@pytest.mark.parametrize("kind", ["flat", "dict"])
def test_spaces_survive_pickling_and_copying(made, kind: str) -> None:
    """Worker processes get them so, and compare them."""
    space = made(kind)
    assert pickle.loads(pickle.dumps(space)) == space == copy.deepcopy(space)
    space.seed(0)
    first = space.sample()
    space.seed(0)
    assert first in space
    assert repr(first) == repr(space.sample())


def test_the_dict_holds_a_mask_of_the_flat_actions() -> None:
    space = observation_space("dict")
    assert isinstance(space, spaces.Dict)
    assert space["action_mask"] == spaces.MultiBinary(ACTIONS)
    assert space["observation"] == observation_space("flat")


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="observation='box' is not known; allowed are 'flat', 'dict'"):
        observation_space("box")
    with pytest.raises(ValueError, match="action='discrete' is not known; allowed are 'flat', 'multi'"):
        action_space("discrete")
