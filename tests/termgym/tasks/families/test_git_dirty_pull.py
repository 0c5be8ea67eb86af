"""A refused pull: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.git_dirty_pull import Scene, scene
from termgym.tasks.world import World

SEED = 1


def _at(seed: int = SEED) -> Scene:
    return scene(World("git-dirty-pull", "", seed))


def _apart() -> int:
    """Return a seed whose local edit does not meet the incoming one."""
    return next(seed for seed in range(20) if "git stash pop" in str(make_task("git-dirty-pull/modified", seed).oracle))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("modified", ("git reset -q --hard", "git pull")),
        ("modified", ("git fetch -q", "git checkout -q -f origin/main")),
        ("modified", ("cd ..", "rm -rf {project}", "git clone -q {origin}")),
        ("modified", ("git stash -q", "git pull", "git stash drop")),
        (
            "modified",
            ("git stash -q", "git pull", "git stash pop; git add -A; git commit -qm x", "git reset -q --hard HEAD~1"),
        ),
        ("modified", ("git fetch -q", "git reset -q --soft origin/main")),
        (
            "modified",
            ("git stash -q", "git remote set-url origin /tmp/x.git", "git clone -q --bare . /tmp/x.git", "git pull"),
        ),
        ("untracked", ("rm {arriving}", "git pull")),
        ("untracked", ("git clean -qfd", "git pull")),
        ("unfinished-merge", ("git merge --abort || git reset -q --hard", "git pull --no-edit")),
        ("stale-lock", ("rm .git/index.lock", "git -C {origin} update-ref refs/heads/main {base}", "git pull")),
        ("stale-lock", ("rm .git/index.lock", "git checkout -q -- .", "git pull")),
        ("stale-lock", ("rm .git/index.lock",)),
    ],
)
def test_what_loses_work_or_brings_none_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """An agent paid for a quiet `git pull` would throw the edits away, or pull from a remote that has nothing new."""
    at = _at(_apart() if cause == "modified" else SEED)
    names = {"project": at.project, "origin": at.origin, "arriving": at.arriving, "base": at.base[-1].id}
    task = make_task(f"git-dirty-pull/{cause}", _apart() if cause == "modified" else SEED)
    assert not attempt(task, f"cd {at.clone}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("modified", ("git commit -qam mine", "git pull --no-edit")),
        ("modified", ("git pull --autostash",)),
        ("modified", ("git diff > ~/mine.patch", "git checkout -q -- .", "git pull")),
        ("untracked", ("git stash -q --include-untracked", "git pull")),
        ("untracked", ("cp {arriving} ~/kept", "git pull -q || (rm {arriving}; git pull)")),
        ("unfinished-merge", ("git commit -qam merged", "git fetch -q", "git merge -q --no-edit origin/main")),
        ("stale-lock", ("mv .git/index.lock /tmp", "git fetch", "git merge --ff-only origin/main")),
    ],
)
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """The outcome counts: wherever the work is kept, and however the commits came."""
    seed = _apart() if cause == "modified" else SEED
    at = _at(seed)
    task = make_task(f"git-dirty-pull/{cause}", seed)
    assert attempt(task, f"cd {at.clone}", *(command.format(arriving=at.arriving) for command in commands))
