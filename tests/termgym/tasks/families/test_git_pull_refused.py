"""A pull that cannot work: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.git_pull_refused import scene
from termgym.tasks.world import World

SEED = 5
ANEW = "cp -r . /tmp/old; cd ..; rm -rf {project}; git clone -q {origin}; cd {project}; cp /tmp/old/draft.txt ."


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("git-pull-refused", "", SEED))
    names = {"project": at.project, "origin": at.origin, "branch": at.branch, "own": at.own.id, "base": at.base.id}
    task = make_task(f"git-pull-refused/{cause}", SEED)
    return attempt(task, f"cd {at.clone}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("parted", ("git fetch -q; git reset -q --hard origin/main",)),
        ("parted", ("git pull -q --no-ff --no-edit", "git reset -q --soft origin/main")),
        ("parted", ("git pull -q --no-ff --no-edit", "git push -q origin main")),
        ("parted", ("git -C {origin} update-ref refs/heads/main {base}", "git pull -q")),
        ("no-branch", ("git checkout -q main", "git pull -q")),
        ("no-branch", ("git fetch -q", "git merge -q --no-edit origin/main")),
        ("no-upstream", ("git fetch -q; git merge -q --no-edit origin/main",)),
        ("no-upstream", ("git pull -q --no-edit origin main; git push -qu origin main",)),
        ("moved-remote", ("git remote set-url origin /srv/git/attic/{project}.git", "git pull -q")),
        ("moved-remote", ("git pull -q --no-edit {origin} main",)),
        ("moved-remote", ("mkdir -p /tmp/x; git clone -q --bare {origin} /tmp/x/{project}.git",
                          "git remote set-url origin /tmp/x/{project}.git", "git pull -q --no-edit")),
        ("moved-remote", ("git remote set-url origin {origin}", "git pull -q --no-edit", "git branch -D {branch}")),
        ("closed-folders", ("chmod -R u+w .git", ANEW, "git pull -q --no-edit /tmp/old main")),
        ("closed-folders", ("chmod -R u+w .git", "git pull -q --no-edit", "git clean -qfd")),
        ("closed-folders", ("chmod -R u+w .git", "git pull -q --no-edit", "chmod a-w .git/refs")),
    ],
)  # fmt: skip
def test_what_loses_work_or_helps_but_once_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """A commit, a branch or a file gone, something pushed, another repository, or no way for the next pull."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("parted", ("git add -A; git commit -qm all; git pull -q --no-ff --no-edit",)),
        ("no-branch", ("git checkout -qB main", "git pull -q --no-edit")),
        ("moved-remote", ("git remote add new {origin}; git remote remove origin; git remote rename new origin",
                          "git fetch -q; git branch -qu origin/main; git rebase -q")),
        ("closed-folders", ("chmod -R u+w .git", "cp -r .git /tmp/new; rm -rf .git; cp -r /tmp/new .git",
                            "git fetch -q; git checkout -q origin/main; git cherry-pick {own}; git checkout -qB main",
                            "git branch -qu origin/main")),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """Merged, rebased or picked: the outcome counts."""
    assert _play(attempt, cause, commands)
