"""Episodes as bytes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from kept_episodes import episode, same

from rolf_adapters.buffer.decoding import decode
from rolf_adapters.buffer.encoding import encode
from rolf_adapters.buffer.episode import Column, Episode, check
from rolf_adapters.buffer.errors import Damaged
from rolf_adapters.buffer.framing import framed

DTYPES = ["?", "<i1", "<u2", "<i8", ">i4", "<f2", "<f4", "<f8"]


def columns(rows: int) -> st.SearchStrategy[dict[str, Column]]:
    dense = st.sampled_from(DTYPES).flatmap(
        lambda dtype: st.lists(st.integers(0, 3), max_size=2).flatmap(
            lambda shape: (
                arrays.arrays(np.dtype(dtype), (rows, *shape), elements={"allow_nan": False})
                if np.dtype(dtype).kind == "f"
                else arrays.arrays(np.dtype(dtype), (rows, *shape))
            )
        )
    )
    texts = st.lists(st.text(st.characters(), max_size=9), min_size=rows, max_size=rows)
    blobs = st.lists(st.binary(max_size=9), min_size=rows, max_size=rows)
    ragged = st.lists(arrays.arrays(np.int32, st.integers(0, 5)), min_size=rows, max_size=rows)
    return st.dictionaries(st.text(max_size=5), st.one_of(dense, texts, blobs, ragged), max_size=3)


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_an_episode_comes_back_as_it_was(data: st.DataObject) -> None:
    """Whatever its columns are called and hold, surrogates and empty arrays included."""
    steps = data.draw(st.integers(1, 4))
    rewards = data.draw(arrays.arrays(np.float64, steps, elements={"allow_nan": False, "allow_infinity": False}))
    given_ = Episode(
        data.draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)),
        data.draw(st.integers(0, 2**63 - 1)),
        data.draw(columns(steps + 1)),
        data.draw(columns(steps)),
        rewards,
        data.draw(st.booleans()),
        extras=data.draw(columns(steps)),
    )
    check(given_)
    assert same(decode(b"12345678" + encode(given_), 8), given_)


def test_bytes_that_are_no_text_come_back() -> None:
    """Names of files on Linux are bytes; Python keeps those that are no UTF-8 as surrogates."""
    given_ = Episode("e", 0, {}, {"said": ["\udcff größer", ""]}, np.zeros(2), extras={"raw": [b"\xff\0", b""]})
    assert same(decode(encode(given_)), given_)


def test_arrays_are_views_of_the_bytes_and_cannot_be_written() -> None:
    """Copies would cost more than all else, and writing through a view would change the disk."""
    found = decode(encode(episode(3)))
    seen = found.states["seen"]
    assert isinstance(seen, np.ndarray)
    assert not seen.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        seen[0, 0] = 1


def test_what_is_read_is_an_episode_like_any_other() -> None:
    """Its fields are made when they are asked for: once each, and in whatever way it is asked for them."""
    found = decode(encode(episode(3)))
    assert found.rewards is found.rewards
    assert found.states is found.states
    for other in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert type(other) is Episode
        assert same(other, episode(3))
    changed = dataclasses.replace(decode(encode(episode(3))), timestamp=8)
    assert (changed.timestamp, changed.rewards.tolist()) == (8, episode(3).rewards.tolist())
    assert "terminated=True" in repr(decode(encode(episode(3))))
    with pytest.raises(AttributeError, match="has no 'observations'"):
        _ = found.observations  # type: ignore[attr-defined]


def test_checksums_are_those_of_zlib() -> None:
    """Whichever library works them out: a buffer is read where another is installed."""
    data = bytes(range(256)) * 50
    for size in (0, 1, 7, 63, 64, 1_000, len(data)):
        head, body, _ = framed(5, data[:size])
        assert int.from_bytes(head[4:8], "little") == zlib.crc32(head[8:] + body)


def test_arrays_that_do_not_lie_in_order_come_back_in_order() -> None:
    turned = np.arange(12.0).reshape(4, 3).T[::-1]
    given_ = dataclasses.replace(episode(0), states={"s": turned}, actions={}, extras={}, rewards=np.zeros(2))
    assert same(decode(encode(given_)), given_)


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (np.array(["a", None], object), "dtype object"),
        (np.array(["2020", "2021"], "M8[Y]"), "dtype datetime64"),
        ([1, 2], "holds int"),
        (["a", b"b"], "holds bytes, str"),
        ([np.zeros(1), np.zeros(1, int)], "holds"),
        ([np.zeros((1, 1)), np.zeros((1, 2))], "holds"),
        ([np.array([None]), np.array([None])], "dtype object"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(column: Any, told: str) -> None:
    """Pickle would take all of it, and run what it holds when it is read."""
    with pytest.raises(TypeError, match=rf"actions\['a'\].*{told}"):
        encode(Episode("e", 0, {}, {"a": column}, np.zeros(2)))


def test_bytes_that_are_no_episode_are_damage() -> None:
    """Past the CRC nothing should be; if it is, it is said as what it is."""
    whole = encode(episode(1))
    for data in (b"", whole[:10], whole[:200], b"\xff" * 400, whole[:20] + b"\0" * 400):
        with pytest.raises(Damaged):
            decode(data)


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"rewards": [0.0, 1.0, 0.0]}, TypeError, "rewards are of type list"),
        ({"rewards": np.zeros(0)}, ValueError, "at least one"),
        ({"rewards": np.zeros((3, 1))}, ValueError, "shape"),
        ({"rewards": np.array([0.0, np.nan, 0.0])}, ValueError, "not finite"),
        ({"rewards": np.array([0.0, np.inf, -np.inf])}, ValueError, "not finite"),
        ({"states": {"s": np.zeros((3, 2))}}, ValueError, r"states\['s'\] has 3 rows; give T \+ 1 = 4"),
        ({"actions": {"a": np.zeros(4)}}, ValueError, r"actions\['a'\] has 4 rows; give T = 3"),
        ({"extras": {"x": ["a"]}}, ValueError, r"extras\['x'\] has 1 rows"),
        ({"env_id": ""}, ValueError, "env_id"),
        ({"env_id": "x" * 401}, ValueError, "401 bytes"),
        ({"timestamp": -1}, ValueError, "out of range"),
        ({"timestamp": 2**63}, ValueError, "out of range"),
        ({"timestamp": 1.5}, TypeError, "whole number"),
        ({"timestamp": True}, TypeError, "whole number"),
        ({"graph": episode(8).graph}, ValueError, "the steps are 0 to 2"),
    ],
)
def test_what_is_no_episode_is_refused(change: dict[str, Any], error: type[Exception], told: str) -> None:
    assert len(episode(8)) > 3
    sound = Episode("e", 0, {"s": np.zeros((4, 2))}, {"a": np.zeros(3)}, np.zeros(3))
    check(sound)
    check(dataclasses.replace(sound, rewards=np.array([1e308, 1e308, 0.0])))
    with pytest.raises(error, match=told):
        check(dataclasses.replace(sound, **change))


def test_a_node_is_a_step_with_what_came_of_it() -> None:
    found = episode(5)
    node = found.node(1)
    assert node.state["seen"].tolist() == found.states["seen"][1].tolist()
    assert node.next_state["seen"].tolist() == found.states["seen"][2].tolist()
    assert (node.reward, node.extras["said"]) == (found.rewards[1], found.extras["said"][1])
    with pytest.raises(IndexError, match="give a number from 0"):
        found.node(len(found))
