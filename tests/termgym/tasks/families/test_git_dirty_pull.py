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
        ("modified", ("git fetch -q", "git reset -q --soft origin/main", "git checkout -q HEAD -- {arriving}")),
        ("modified", ("git fetch -q", "git reset -q --soft origin/main", "git checkout -q HEAD -- {steady}")),
        ("modified", ("git fetch -q", "git checkout -q origin/main -- {steady} {arriving}")),
        ("modified", ("git stash -q", "git pull -q", "git checkout -q --detach")),
        ("modified", ("git stash -q", "git pull -q", "git branch -q --unset-upstream")),
        ("modified", ("git stash -q", "git pull -q", "git remote set-url origin /tmp/elsewhere")),
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
        ("stale-lock", ("cp .git/index /tmp/i", "GIT_INDEX_FILE=/tmp/i git pull -q", "cp /tmp/i .git/index")),
        ("unfinished-merge", ("git commit -qam x", "git pull -q --no-edit", "git checkout -qb t HEAD~1",
                              "git commit -q --allow-empty -m t", "git checkout -q main",
                              "git merge -q --no-ff --no-commit t")),
    ],
)  # fmt: skip
def test_what_loses_work_or_brings_none_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """An agent paid for a quiet `git pull` would throw the edits away, or pull from a remote that has nothing new."""
    at = _at(_apart() if cause == "modified" else SEED)
    names = {"project": at.project, "origin": at.origin, "base": at.base[-1].id}
    names |= {"arriving": at.arriving, "steady": at.steady}
    task = make_task(f"git-dirty-pull/{cause}", _apart() if cause == "modified" else SEED)
    assert not attempt(task, f"cd {at.clone}", *(command.format(**names) for command in commands))


def test_conflict_marks_left_in_a_file_do_not_count(attempt: Callable[..., bool]) -> None:
    """Where both sides changed a line, somebody has to decide; to add the file as it is only hides that."""
    seed = next(seed for seed in range(20) if "stash pop" not in str(make_task("git-dirty-pull/modified", seed).oracle))
    task = make_task("git-dirty-pull/modified", seed)
    merge = ("git stash -q", "git pull -q", "git stash pop")
    assert not attempt(task, f"cd {_at(seed).clone}", *merge)
    assert not attempt(task, f"cd {_at(seed).clone}", *merge, "git add -A")
    assert attempt(task, f"cd {_at(seed).clone}", *merge, "sed -i '/^[<=>]\\{7\\}/d' */*.txt", "git add -A")


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
