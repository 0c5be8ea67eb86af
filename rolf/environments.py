"""The installed environments, found by the entry points that they register; rolf itself imports none of them.

An environment joins the command line by one line of packaging metadata:

    [project.entry-points."rolf.environments"]
    "TermEnv-v1" = "termgym.catalogue"

The name is the environment's Gymnasium id, the value a module that offers what `Environment` asks for. So `rolf list`,
`rolf tasks` and `rolf doctor` reach environments that rolf has never heard of, those of other distributions too. A
module may offer more: with what `Exhibitor` asks for it has a part in `rolf demo`, with what `Divisible` asks for its
tasks are validated by several processes at once, and where an earlier run stopped, with what `Linter` asks for their
files are looked at, with what `Rooted` asks for it makes root filesystems (`rolf tasks rootfs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import entry_points
from typing import Any, Protocol, cast, runtime_checkable

from rolf.exhibit import Progress, Section

GROUP = "rolf.environments"


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """One task that an environment offers."""

    name: str
    """What ``gymnasium.make(..., task=name)`` takes."""
    causes: tuple[str, ...]
    """What may lie behind the one symptom; ``name/cause`` pins it."""
    summary: str
    """The symptom, in one line."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one instance of a task is fit to be counted."""

    task: str
    """``name/cause@seed``"""
    problems: tuple[str, ...]
    """Empty: the oracle succeeds, doing nothing does not, and the same seed gives the same world."""
    seconds: float
    """Time that the validation took [s]."""
    fault: str = ""
    """How the machine failed, which says nothing about the task; empty: it did not."""
    notes: tuple[str, ...] = ()
    """What its author should know and what keeps it from nothing."""

    @property
    def valid(self) -> bool:
        """Whether it was played to the end and nothing is wrong with it."""
        return not self.problems and not self.fault


@dataclass(frozen=True, slots=True)
class Case:
    """One instance of a task that is to be validated."""

    task: str
    """``name/cause@seed``, as its verdict will say."""
    digest: str
    """Of its content: with another one it is another task, whatever it is called."""
    instance: Any
    """For the environment that made the case; travels to other processes by pickle."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that is wrong with the files of a task."""

    place: str
    """File and line."""
    severity: str
    """``error`` (not fit to be counted), ``warning`` or ``note``."""
    rule: str
    message: str
    """What is there."""
    advice: str
    """What to do about it."""


class State(StrEnum):
    """How much of something works on this machine."""

    OK = "ok"
    LIMITED = "limited"
    """Something weaker stands in for it."""
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that an environment uses of this machine, and whether it is there."""

    subject: str
    state: State
    found: str
    """What was found by trying."""
    advice: str = ""
    """What to do about it, as a line to type where there is one; empty when all is well."""


class Environment(Protocol):
    """What the module behind an entry point offers."""

    SUMMARY: str
    """One line for lists."""
    HEADINGS: tuple[str, str, str]
    """What name, summary and causes of a `TaskEntry` are called here."""
    EXAMPLE: str
    """How to make one of what `tasks` lists, as a line of Python."""

    def tasks(self) -> Sequence[TaskEntry]:
        """Return the tasks, sorted by name."""

    def validate(self, names: Sequence[str], seeds: int) -> Iterator[Verdict]:
        """Validate ``seeds`` worlds of each task named (``task`` or ``task/cause``; none: all), one verdict at a time.

        Raises:
            LookupError: no task has one of the names.
        """

    def recognises(self, name: str) -> bool:
        """Return whether a name is of the kind that `validate` takes, even if nothing is called so."""

    def checkup(self) -> Iterable[Finding]:
        """Say what works on this machine, found by trying."""


@runtime_checkable
class Exhibitor(Protocol):
    """What an environment offers besides that has something to show."""

    def demonstrate(self, count: int, seed: int, progress: Progress) -> Iterator[Section]:
        """Show what the environment is and what it can do here, measured now, one section as soon as it is ready.

        Args:
            count: How many of it to run at once.
            seed: What the episodes begin with.
            progress: Called now and then while that takes.

        Raises:
            RuntimeError: this machine cannot run it.
        """


@runtime_checkable
class Divisible(Protocol):
    """What an environment offers besides whose tasks can be validated one by one, in any order and any process."""

    def cases(self, names: Sequence[str], seeds: int) -> Sequence[Case]:
        """Return what ``validate`` would look at.

        Raises:
            LookupError: no task has one of the names.
        """

    def judge(self, *, build_network: bool = False) -> AbstractContextManager[Callable[[Case], Verdict]]:
        """Open what it takes to validate cases, and close it in the end.

        What is opened raises RuntimeError where this machine can validate nothing.

        Args:
            build_network: Whether what a task is built from may be fetched from the network.
        """


@runtime_checkable
class Linter(Protocol):
    """What an environment offers besides whose tasks are files that people write."""

    def lint(self, path: str) -> Iterator[Remark]:
        """Look at the task, or the tasks, that lie there; nothing of them is run.

        Raises:
            ValueError: no task lies there.
        """


@dataclass(frozen=True, slots=True)
class RootFilesystem:
    """One root filesystem that tasks' images can stand on."""

    name: str
    path: str
    about: str
    """What it holds, in one line."""


@runtime_checkable
class Rooted(Protocol):
    """What an environment offers besides whose tasks bring images, which stand on root filesystems."""

    def roots(self) -> Sequence[RootFilesystem]:
        """Return those that were made, by name."""

    def build_root(
        self, name: str, *, suite: str, include: Sequence[str], mirror: str, report: Callable[[str], None]
    ) -> RootFilesystem:
        """Make one; one of that name is replaced.

        Raises:
            ValueError: it cannot be made; says why.
        """

    def remove_root(self, name: str) -> bool:
        """Remove one; return whether there was one of that name."""


@runtime_checkable
class Portable(Protocol):
    """What an environment offers besides whose tasks other harnesses can read, and that reads theirs."""

    COLLECTIONS: Sequence[str]
    """What `bring` knows."""

    def export(self, name: str, directory: str) -> None:
        """Write a task as files into a directory that is not there yet.

        Raises:
            LookupError: no task has this name.
            ValueError: it cannot be written there, or not in that form.
        """

    def bring(self, collection: str, source: str, directory: str) -> Iterator[str]:
        """Make tasks of another project's files, one at a time, and yield where each was written.

        Raises:
            ValueError: the files are not those of the collection, or something is in the way.
        """


def environments() -> dict[str, Environment]:
    """Return the installed environments: Gymnasium id with its module (``termgym:TermEnv-v1``) -> environment."""
    found = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        package = entry.module.partition(".")[0]
        found[f"{package}:{entry.name}"] = cast(Environment, entry.load())
    return found
