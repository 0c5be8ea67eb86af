"""Mutations: what happens to a tree, and what a comparison of before and after must report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from rolf.strategies.file_trees import DIRECTORY_MODES, LONGEST_HOLE, MODES, TIMES, contents, file_names, files
from rolf.strategies.mutation import (
    BreakLink,
    ChangeMode,
    Create,
    Link,
    Mutation,
    Nodes,
    Remove,
    Rename,
    Replace,
    Resize,
    Touch,
    Write,
    nodes_of,
    tree_of,
    within,
)
from rolf.strategies.tree import LONG_AGO, Directory, File, Symlink, Tree, TreeChange, changes


@dataclass(frozen=True)
class Edits:
    """A tree and what is done to it, in order."""

    before: Tree
    mutations: tuple[Mutation, ...]

    @cached_property
    def after(self) -> Tree:
        """The tree that it comes to."""
        nodes = nodes_of(self.before)
        for mutation in self.mutations:
            mutation.foresee(nodes)
        return tree_of(nodes)

    @cached_property
    def changes(self) -> tuple[TreeChange, ...]:
        """What a correct comparison of the tree before and after reports, sorted."""
        return changes(self.before, self.after)

    def apply(self, directory: str | Path) -> None:
        """Do it all to the files in a directory that ``before.write`` wrote."""
        for mutation in self.mutations:
            mutation.apply(os.fspath(directory))


class _Recipe(NamedTuple):
    """One mutation before it is known what there is to be changed."""

    make: Callable[[Nodes, _Recipe], Mutation | None]
    which: int
    other: int
    name: str
    content: bytes
    offset: int
    """[bytes]"""
    size: int
    """[bytes]"""
    mode: int
    directory_mode: int
    mtime: int
    entry: File | Directory | Symlink


def mutations(tree: Tree, *, min_size: int = 1, max_size: int = 6) -> st.SearchStrategy[Edits]:
    """Return what may happen to a tree, with what a comparison of before and after must report.

    Files, directories and links are made, removed and put into each other's places; renamed, over others too; given
    more names and fewer; written into, past their end too, with the old time of modification as somebody does who hides
    it; cut off, lengthened by holes; touched; their modes changed. Mutations meet: a file is written through its second
    name in a directory that has moved. It shrinks to one mutation of the first path.

    Args:
        tree: What there is.
        min_size: Mutations drawn at least; those that find nothing to change are left out.
        max_size: Mutations at most.

    Example::

        @given(st.data())
        def test_nothing_is_missed(data):
            edits = data.draw(file_trees().flatmap(mutations))
            with TemporaryDirectory() as folder:
                edits.before.write(folder)
                snapshot = take(folder)
                edits.apply(folder)
                assert snapshot.diff() == [(change.path, change.kind) for change in edits.changes]
    """
    recipes = st.builds(
        _Recipe,
        st.sampled_from(_MAKERS),
        st.integers(0, 19),
        st.integers(0, 19),
        file_names(),
        contents(),
        st.integers(0, 100),
        st.one_of(st.integers(0, 100), st.integers(0, LONGEST_HOLE)),
        st.sampled_from(MODES),
        st.sampled_from(DIRECTORY_MODES),
        st.one_of(st.just(LONG_AGO), TIMES),
        st.one_of(files(), st.builds(Directory), st.builds(Symlink, st.sampled_from(["a", "nowhere"]), TIMES)),
    )
    return st.lists(recipes, min_size=min_size, max_size=max_size).map(lambda drawn: _resolved(tree, drawn))


def _resolved(tree: Tree, recipes: Sequence[_Recipe]) -> Edits:
    nodes, done = nodes_of(tree), list[Mutation]()
    for recipe in recipes:
        mutation = recipe.make(nodes, recipe)
        if mutation is not None:
            mutation.foresee(nodes)
            done.append(mutation)
    return Edits(tree, tuple(done))


# ---- one mutation, if there is what it needs


def _some(nodes: Nodes, kinds: type | tuple[type, ...], number: int) -> str | None:
    """Return one of the paths at which something of these kinds lies."""
    paths = sorted(path for path, node in nodes.items() if isinstance(node.entry, kinds))
    return paths[number % len(paths)] if paths else None


def _free(nodes: Nodes, recipe: _Recipe) -> str | None:
    """Return a path at which nothing lies."""
    parents = ["", *sorted(path for path, node in nodes.items() if isinstance(node.entry, Directory))]
    parent = parents[recipe.other % len(parents)]
    path = f"{parent}/{recipe.name}" if parent else recipe.name
    return None if path in nodes else path


ANYTHING = (File, Directory, Symlink)


def _create(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path = _free(nodes, recipe)
    return None if path is None else Create(path, recipe.entry)


def _link(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path, to = _free(nodes, recipe), _some(nodes, File, recipe.which)
    return None if path is None or to is None else Link(path, to)


def _remove(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path = _some(nodes, ANYTHING, recipe.which)
    return None if path is None else Remove(path)


def _replace(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path = _some(nodes, ANYTHING, recipe.which)
    return None if path is None else Replace(path, recipe.entry)


def _rename(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path, to = _some(nodes, ANYTHING, recipe.which), _free(nodes, recipe)
    # Not into itself.
    return None if path is None or to is None or to.startswith(f"{path}/") else Rename(path, to)


def _rename_over(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path, to = _some(nodes, ANYTHING, recipe.which), _some(nodes, ANYTHING, recipe.other)
    if path is None or to is None or path == to or to.startswith(f"{path}/") or path.startswith(f"{to}/"):
        return None
    directories = [isinstance(nodes[each].entry, Directory) for each in (path, to)]
    # rename(2): a directory over an empty one, anything else over anything else.
    if directories[0] is not directories[1] or (directories[1] and within(nodes, to) != [to]):
        return None
    return Rename(path, to)


def _change_mode(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path = _some(nodes, (File, Directory), recipe.which)
    if path is None:
        return None
    return ChangeMode(path, recipe.mode if isinstance(nodes[path].entry, File) else recipe.directory_mode)


def _append(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path = _some(nodes, File, recipe.which)
    return None if path is None else Write(path, len(_file(nodes, path).data), recipe.content, recipe.mtime)


def _write(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path = _some(nodes, File, recipe.which)
    return None if path is None else Write(path, recipe.offset, recipe.content, recipe.mtime)


def _write_and_hide_it(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    """As many bytes as there were, and the old time: only a look at the bytes finds it."""
    path = _some(nodes, File, recipe.which)
    if path is None:
        return None
    file = _file(nodes, path)
    return Write(path, 0, recipe.content[: len(file.data)], file.mtime)


def _resize(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path = _some(nodes, File, recipe.which)
    return None if path is None else Resize(path, recipe.size, recipe.mtime)


def _touch(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path = _some(nodes, (File, Symlink), recipe.which)
    return None if path is None else Touch(path, recipe.mtime)


def _break_link(nodes: Nodes, recipe: _Recipe) -> Mutation | None:
    path = _some(nodes, File, recipe.which)
    return None if path is None else BreakLink(path)


def _file(nodes: Nodes, path: str) -> File:
    entry = nodes[path].entry
    assert isinstance(entry, File)
    return entry


_MAKERS = (
    _touch,
    _remove,
    _create,
    _change_mode,
    _append,
    _write,
    _write_and_hide_it,
    _resize,
    _rename,
    _rename_over,
    _replace,
    _link,
    _break_link,
)
"""From the simplest."""
