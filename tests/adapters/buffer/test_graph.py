"""Edges and keys."""

from __future__ import annotations

import pytest

from rolf_adapters.buffer.graph import Edge, Graph
from rolf_adapters.buffer.key import Key


def test_a_graph_holds_each_edge_once_and_sorted() -> None:
    """Equal episodes must have equal bytes, in whatever order the edges were found."""
    edges = [Edge(2, 3, "b"), Edge(0, 1, "z"), Edge(0, 1, "a"), Edge(2, 3, "b")]
    graph = Graph.of(edges)
    assert list(graph) == [Edge(0, 1, "a"), Edge(0, 1, "z"), Edge(2, 3, "b")]
    assert graph == Graph.of(reversed(edges))
    assert graph != Graph.of(edges[:2])
    assert len({graph, Graph.of(edges)}) == 1


@pytest.mark.parametrize("edge", [Edge(1, 1, "self"), Edge(2, 1, "back"), Edge(-1, 1, "before")])
def test_an_edge_leads_to_a_later_step(edge: Edge) -> None:
    """An effect does not come before its cause; a circle would have no dependants to count."""
    with pytest.raises(ValueError, match="later one"):
        Graph.of([edge])


def test_a_key_reads_as_it_is_written() -> None:
    """Environments' ids have colons of their own."""
    key = Key("linegym:LineEnv-v1", 12, 3051)
    assert str(key) == "linegym:LineEnv-v1:12:3051"
    assert Key.parse(str(key)) == key


@pytest.mark.parametrize("text", ["", "12:3", "env:3", "env:x:3", ":1:2", "env:-1:2"])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no key"):
        Key.parse(text)


def test_keys_sort_by_environment_step_and_time() -> None:
    """As numbers, not as digits: 9 comes before 10."""
    keys = [Key(env, step, time) for env in ("a", "b") for step in (9, 10) for time in (99, 100, 2**63 - 1)]
    assert sorted(keys, key=Key.packed) == keys
