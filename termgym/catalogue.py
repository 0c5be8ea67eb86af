"""What termgym offers to the command line: ``rolf.environments.Environment`` as a module (see pyproject.toml)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rolf.environments import Case, Remark, RootFilesystem, TaskEntry, Verdict
from termgym.checkup import checkup

if TYPE_CHECKING:
    from rolf.evaluation.episode import Ending, Measured
    from rolf.evaluation.evaluable import SplitEntry
    from rolf.evaluation.policy import PolicyEntry
    from rolf.variant import Split, Variant
    from termgym.image.roots import Root

__all__ = [
    "CHOICES",
    "COLLECTIONS",
    "EXAMPLE",
    "HEADINGS",
    "HIDDEN",
    "SUMMARY",
    "bounds",
    "bring",
    "build_root",
    "cases",
    "checkup",
    "export",
    "judge",
    "lint",
    "measure",
    "policies",
    "recognises",
    "remove_root",
    "reseeded",
    "roots",
    "split",
    "splits",
    "tasks",
    "validate",
]

SUMMARY = "a real Linux terminal"
HIDDEN = ("checks", "reward_terms", "violations", "verifier", "stage", "success", "drift", "diff", "state_digest")
"""Keys of ``info`` that tell how far the goal is: no observation says it, so only privileged policies are shown it."""


def _is_built_in(task: object) -> bool:
    """Return whether it names a task that comes with this package, and no folder of the machine."""
    from termgym.tasks import families

    return isinstance(task, str) and task.partition("@")[0].partition("/")[0] in (*families(), "blank")


CHOICES: Mapping[str, Callable[[object], bool]] = {"task": _is_built_in}
"""See ``rolf.evaluation.evaluable.Choosable``: backend, network and limits are not among them, nor are folders."""
COLLECTIONS = "debug-gym", "intercode"
"""Whose files `bring` makes task folders of."""
HEADINGS = "task", "symptom", "causes"
EXAMPLE = 'gymnasium.make("termgym:TermEnv-v1", task="git-dirty-pull")  # or "git-dirty-pull/modified", one cause'
"""How to make one of what ``tasks`` lists."""


def tasks() -> Sequence[TaskEntry]:
    """Return the task families, sorted by name."""
    from termgym.tasks import causes, families, summary

    return [TaskEntry(name, tuple(causes(name)), summary(name)) for name in families()]


def validate(names: Sequence[str], seeds: int) -> Iterator[Verdict]:
    """See ``rolf.environments.Environment.validate``."""
    from termgym.tasks.validation import validate_all

    yield from validate_all(names, seeds)


def cases(names: Sequence[str], seeds: int) -> Sequence[Case]:
    """See ``rolf.environments.Divisible.cases``; a folder is another case when anything in it is edited."""
    from termgym.tasks.digest import folder_digest, task_digest
    from termgym.tasks.named import named
    from termgym.tasks.task import Task

    return [
        Case(each.id, task_digest(each), each) if isinstance(each, Task) else Case(str(each), folder_digest(each), each)
        for each in named(names, seeds)
    ]


@contextmanager
def judge(*, build_network: bool = False) -> Iterator[Callable[[Case], Verdict]]:
    """See ``rolf.environments.Divisible.judge``: one machine for all cases."""
    from termgym.tasks.validation import validator

    with validator(build_network=build_network) as validate_one:
        yield lambda case: validate_one(case.instance)


def recognises(name: str) -> bool:
    """See ``rolf.environments.Environment.recognises``: a family, ``blank``, MODULE:NAME, or the path of a folder."""
    from termgym.assignment import names_folder
    from termgym.tasks import families

    family = name.partition("@")[0].partition("/")[0]
    return family in (*families(), "blank") or ":" in family or names_folder(name)


def lint(path: str) -> Iterator[Remark]:
    """See ``rolf.environments.Linter.lint``."""
    from termgym.folders import find_folders
    from termgym.lint import RULES, lint_folder

    for folder in find_folders(path) or (Path(path),):  # of one that holds none the reader says what it wants
        for each in lint_folder(folder):
            place = folder.name if each.path == "." else f"{folder.name}/{each.path}"
            where = place if each.line is None else f"{place}, line {each.line}"
            yield Remark(where, each.severity.value, each.rule, each.message, RULES[each.rule].advice)


def roots() -> Sequence[RootFilesystem]:
    """See ``rolf.environments.Rooted.roots``."""
    from termgym.image.roots import list_roots
    from termgym.image.store import Store

    return [_described(root) for root in list_roots(Store())]


def build_root(
    name: str, *, suite: str, include: Sequence[str], mirror: str, report: Callable[[str], None]
) -> RootFilesystem:
    """See ``rolf.environments.Rooted.build_root``."""
    from termgym.image.debootstrap import make_root, plan_root
    from termgym.image.store import Store

    return _described(make_root(Store(), plan_root(name, suite, mirror, include), report))


def remove_root(name: str) -> bool:
    """See ``rolf.environments.Rooted.remove_root``."""
    from termgym.image import roots
    from termgym.image.store import Store

    return roots.remove_root(Store(), name)


def _described(root: Root) -> RootFilesystem:
    included = root.about.get("include")
    more = f" with {', '.join(included)}" if isinstance(included, list) and included else ""
    return RootFilesystem(
        root.name, str(root.tree), f"{root.about.get('system', '')} ({root.about.get('suite')}){more}"
    )


def export(name: str, directory: str) -> None:
    """See ``rolf.environments.Portable.export``: a Harbor folder."""
    from termgym.assignment import names_folder
    from termgym.folders import read_folder, write_folder
    from termgym.tasks import make_task

    write_folder(read_folder(name) if names_folder(name) else make_task(name, 0), directory)


def bring(collection: str, source: str, directory: str) -> Iterator[str]:
    """See ``rolf.environments.Portable.bring``."""
    from termgym.folders import debuggym, intercode

    makers = {"debug-gym": debuggym.bring, "intercode": intercode.bring}
    for folder in makers[collection](Path(source), Path(directory)):
        yield str(folder)


def splits() -> Sequence[SplitEntry]:
    """See ``rolf.evaluation.evaluable.Evaluable.splits``."""
    from termgym.evaluation import splits

    return splits()


def split(name: str) -> Split:
    """See ``rolf.evaluation.evaluable.Evaluable.split``.

    Raises:
        UnknownTask: there is none of that name; the message suggests the nearest.
    """
    from termgym.evaluation import split

    return split(name)


def policies() -> Mapping[str, PolicyEntry]:
    """See ``rolf.evaluation.evaluable.Evaluable.policies``."""
    from termgym.policies import POLICIES

    return POLICIES


def measure(variant: Variant, ending: Ending) -> Measured:
    """See ``rolf.evaluation.evaluable.Evaluable.measure``."""
    from termgym.evaluation import measure

    return measure(variant, ending)


def bounds(variant: Variant) -> tuple[float, float] | None:
    """See ``rolf.evaluation.evaluable.Bounded.bounds``."""
    from termgym.evaluation import bounds

    return bounds(variant)


def reseeded(variant: Variant, seed: int) -> Variant:
    """See ``rolf.evaluation.evaluable.Evaluable.reseeded``."""
    from termgym.evaluation import reseeded

    return reseeded(variant, seed)
