"""Commit ids that are computed here are those that git computes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from termgym.tasks.history import Commit, import_script
from termgym.tasks.world import FIRST_DAY, Person


def test_a_commits_id_is_the_one_that_git_gives_it(tmp_path: Path) -> None:
    """The goal of a git task stands on it. Folders sort as if their names ended in a slash: a.txt < a/ < a0."""
    someone = Person("Zoë Ångström", "zoe", "zoe@example.org")
    files = {"a.txt": b"1\n", "a/deep/er.txt": "ü\n".encode(), "a0": b"", "b": b"no newline"}
    first = Commit(files, someone, FIRST_DAY, "First\n\nwith a body")
    second = Commit({**files, "b": b"changed\n"}, someone, FIRST_DAY + 60, "Second", first)
    third = Commit({"a.txt": b"1\n"}, someone, FIRST_DAY + 90, "Third, in a stream of its own", second)
    script = "\n".join(
        (
            "git init -q -b main .",
            import_script("main", [first, second]),
            import_script("main", [third]),
            "git rev-list main",
        )
    )
    seen = subprocess.run(["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert seen.split() == [third.id, second.id, first.id]
