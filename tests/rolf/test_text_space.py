"""Text of any characters as a space, and everything Gymnasium does with a space."""

from __future__ import annotations

import copy
import pickle

import pytest
from gymnasium import spaces
from gymnasium.spaces.utils import flatdim, flatten, flatten_space, is_space_dtype_shape_equiv, unflatten
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    create_shared_memory,
    iterate,
    read_from_shared_memory,
    write_to_shared_memory,
)
from hypothesis import given
from hypothesis import strategies as st

from rolf.text_space import ALL_CHARACTERS, CODE_POINTS, UnicodeText

ODD = "naïve ☕ 🎉 \x00 \x1b[31m \ud800 \U0010ffff"


def test_any_text_fits() -> None:
    """Gymnasium's own Text would refuse most of what a terminal prints."""
    space = UnicodeText(100)
    assert ODD in space
    assert "" in space
    assert "x" * 101 not in space
    assert b"bytes" not in space
    assert 5 not in space
    assert "x" not in UnicodeText(5, min_length=2)


@given(st.text(st.characters(), max_size=50))
def test_flattening_loses_nothing(text: str) -> None:
    """Shared memory and flat observations go this way; every code point must come back, lone surrogates included."""
    space = UnicodeText(50)
    flat = flatten(space, text)
    assert flat.shape == (flatdim(space),)
    assert flat in flatten_space(space)
    assert unflatten(space, flat) == text


def test_samples_are_members_and_follow_the_seed() -> None:
    space = UnicodeText(1000)
    space.seed(3)
    first = [space.sample() for _ in range(20)]
    space.seed(3)
    assert first == [space.sample() for _ in range(20)]
    assert len(set(first)) > 10
    assert all(sample in space and sample.isprintable() for sample in first)
    assert len(UnicodeText(80, min_length=80).sample()) == 80


def test_refuses_masks() -> None:
    with pytest.raises(ValueError, match="no character set to mask"):
        UnicodeText(5).sample(mask=(3, None))


def test_equal_spaces_are_equal_wherever_they_were_made() -> None:
    """Vector environments compare the spaces of processes, specs are pickled and copied."""
    space = UnicodeText(5)
    assert pickle.loads(pickle.dumps(space)) == space
    assert copy.deepcopy(space) == space
    assert UnicodeText(5) != UnicodeText(5, min_length=1)
    assert UnicodeText(5) != UnicodeText(6)
    assert UnicodeText(5) != spaces.Text(5)
    assert spaces.Text(5) != UnicodeText(5)
    assert is_space_dtype_shape_equiv(space, UnicodeText(5))


def test_all_characters_behave_as_the_sets_and_lists_they_stand_for() -> None:
    assert len(ALL_CHARACTERS) == CODE_POINTS
    assert ALL_CHARACTERS[9749] == "☕"
    assert ALL_CHARACTERS[-1] == "\U0010ffff"
    assert ALL_CHARACTERS[97:100] == "abc"
    assert "é" in ALL_CHARACTERS
    assert "ab" not in ALL_CHARACTERS
    with pytest.raises(IndexError):
        ALL_CHARACTERS[CODE_POINTS]
    assert pickle.loads(pickle.dumps(ALL_CHARACTERS)) == ALL_CHARACTERS


def test_batches_as_gymnasium_does() -> None:
    both = batch_differing_spaces([UnicodeText(3), UnicodeText(9)])
    assert both.contains(("abc", "abcdefghi"))
    assert list(iterate(batch_space(UnicodeText(5), 2), ("a", "b"))) == ["a", "b"]


def test_text_passes_through_shared_memory() -> None:
    """AsyncVectorEnv moves observations so; Gymnasium's own way would look at 33 000 characters one by one."""
    space = UnicodeText(60)
    memory = create_shared_memory(space, 2)
    write_to_shared_memory(space, 0, ODD, memory)
    write_to_shared_memory(space, 1, "", memory)
    live = read_from_shared_memory(space, memory, 2)
    assert copy.deepcopy(live) == (ODD, "")
    write_to_shared_memory(space, 1, "later", memory)
    assert copy.deepcopy(live) == (ODD, "later")
    assert live[1] == "later"
    assert live[:1] == (ODD,)
