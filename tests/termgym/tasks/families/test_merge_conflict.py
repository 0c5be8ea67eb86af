"""A branch that does not get into main: what must count as done, and what must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from termgym.tasks import make_task
from termgym.tasks.families.merge_conflict import scene
from termgym.tasks.world import World

SEED = 1
UNMARK = "sed -i '/^[<=>]\\{{7\\}}/d' {conf}"


def _play(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> bool:
    at = scene(World("merge-conflict", "", SEED))
    names = {
        "conf": at.conf,
        "moved": at.moved,
        "branch": at.branch,
        "main": at.main.id,
        "base": at.base.id,
        "page": at.page,
    }
    task = make_task(f"merge-conflict/{cause}", SEED)
    names["put"] = next(plan.command for plan in task.oracle if plan.command.startswith("cat >"))
    return attempt(task, f"cd {at.root}", *(command.format(**names) for command in commands))


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("same-lines", ("git merge -q -X ours {branch}",)),
        ("same-lines", ("git merge -q -X theirs {branch}",)),
        ("same-lines", ("git merge {branch}", UNMARK, "git commit -qam merged")),
        ("same-lines", ("git merge -q --squash {branch}", "{put}", "git commit -qam 'Merge {branch}'")),
        ("same-lines", ("git checkout -q {branch} -- {page}", "{put}", "git commit -qam 'Merge {branch}'",
                        "git replace --graft HEAD {main} {branch}")),
        ("same-lines", ("git reset -q --hard {base}", "git merge -q {branch}", "{put}", "git commit -qam Rules")),
        ("same-lines", ("git merge {branch}", "{put}")),
        ("moved-file", ("git merge {branch}", "git rm -q {conf}", "git commit -q --no-edit")),
        ("moved-file", ("git merge {branch}", "{put}", "git add . ; git commit -q --no-edit")),
        ("unfinished-merge", ("git merge --abort",)),
        ("unfinished-merge", ("git checkout -q --ours {conf}; git commit -qam merged",)),
        ("unfinished-merge", ("git merge --abort; git merge -q -s ours {branch}",)),
        ("unfinished-rebase", ("git rebase --skip", "git checkout -q main", "git merge -q {branch}")),
        ("unfinished-rebase", ("git rebase --abort", "git checkout -q main")),
        ("unfinished-rebase", ("{put}", "git add .; git rebase --continue")),
        ("committed-marks", (UNMARK, "git commit -qam Unmarked")),
        ("committed-marks", ("git reset -q --hard {main}",)),
        ("committed-marks", ("{put}", "git update-index --assume-unchanged {conf}")),
        ("committed-marks", ("sed -i 's/if not equals/if 0/' check.py", UNMARK, "git commit -qam Unmarked")),
    ],
)  # fmt: skip
def test_what_drops_a_side_or_its_history_does_not_count(
    attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]
) -> None:
    """One side's words, somebody's commits, main as it was, or only the marks gone; or still under way."""
    assert not _play(attempt, cause, commands)


@pytest.mark.parametrize(
    ("cause", "commands"),
    [
        ("same-lines", ("git checkout -q {branch}; git rebase -q main", "{put}", "git add .; git rebase --continue",
                        "git branch -f main; git checkout -q main")),
        ("unfinished-merge", ("git merge --abort && git merge {branch}", "{put}", "git commit -qam 'In it goes'")),
        ("unfinished-rebase", ("git rebase --abort && git checkout -q main; git merge {branch}", "{put}",
                               "git commit -qam Merged; git branch -d {branch}")),
        ("committed-marks", ("git reset -q --hard {main}; git merge {branch}", "{put}", "git commit -qam Merged")),
    ],
)  # fmt: skip
def test_other_ways_count_too(attempt: Callable[..., bool], cause: str, commands: tuple[str, ...]) -> None:
    """Merged or rebased, gone on with or begun anew."""
    assert _play(attempt, cause, commands)
