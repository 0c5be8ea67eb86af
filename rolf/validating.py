"""Validating: which cases names stand for, what is known of them already, and the verdicts about the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from difflib import get_close_matches

from rolf.environments import Case, Divisible, Environment, Linter, Verdict, environments
from rolf.jobs import done
from rolf.results import Results


@dataclass(frozen=True, slots=True)
class Share:
    """What is to be validated of one environment."""

    env_id: str
    environment: Environment
    names: tuple[str, ...]
    """As they were given; none: all that it has."""
    cases: tuple[Case, ...] | None
    """What the names stand for; None: only the environment knows, and validates them together."""


def shares(names: Sequence[str], seeds: int) -> list[Share]:
    """Return what names stand for, each in the environment that has it.

    Args:
        names: As `Environment.validate` takes them; none: everything.
        seeds: Worlds of each.

    Raises:
        LookupError: a name is of nothing that there is; the message suggests the nearest.
        ValueError: a name is not written as it must be.
    """
    known = environments()
    found: dict[str, list[str]] = {env_id: [] for env_id in known}
    for name in names:
        found[_owner(name, known)].append(name)
    return [_share(env_id, known[env_id], found[env_id], seeds) for env_id in known if found[env_id] or not names]


def _share(env_id: str, environment: Environment, names: Sequence[str], seeds: int) -> Share:
    cases = tuple(environment.cases(names, seeds)) if isinstance(environment, Divisible) else None
    return Share(env_id, environment, tuple(names), cases)


def kept(share: Share, results: Results | None) -> Iterator[tuple[Case, Verdict]]:
    """Yield the cases about which an earlier run has come to a verdict."""
    for case in share.cases or ():
        verdict = results.kept(share.env_id, case) if results is not None else None
        if verdict is not None:
            yield case, verdict


def validated(
    share: Share, seeds: int, jobs: int, results: Results | None, *, build_network: bool = False
) -> Iterator[Verdict]:
    """Validate the cases of a share about which nothing is known, and write down each verdict as it comes.

    Raises:
        LookupError: a name is of nothing that there is.
        RuntimeError: this machine can validate nothing.
    """
    if share.cases is None:
        for verdict in share.environment.validate(share.names, seeds):
            if results is not None:
                results.add(share.env_id, verdict)
            yield verdict
        return
    known = {id(case) for case, _ in kept(share, results)}
    left = [case for case in share.cases if id(case) not in known]
    for case, verdict in done(_Judging(share.env_id, build_network), left, jobs):
        if results is not None:
            results.add(share.env_id, verdict, case.digest)
        yield verdict


@dataclass(frozen=True, slots=True)
class _Judging:
    """The validation of cases, as work for processes (``rolf.jobs.Work``)."""

    env_id: str
    build_network: bool

    def open(self) -> AbstractContextManager[Callable[[Case], Verdict]]:
        environment = environments()[self.env_id]
        assert isinstance(environment, Divisible)
        return environment.judge(build_network=self.build_network)

    def lost(self, case: Case, seconds: float, end: str) -> Verdict:
        return Verdict(case.task, (), seconds, f"the process that validated it {end} before there was a verdict")


def _owner(name: str, known: Mapping[str, Environment]) -> str:
    """Return the id of the environment that a name belongs to, or that knows the nearest to it.

    That one then says what is wrong with the name.

    Raises:
        LookupError: the name is like nothing that there is.
    """
    # A line's id may look like a path: whose tasks are files is asked first, for it looks whether they are there.
    for env_id, environment in sorted(known.items(), key=lambda each: not isinstance(each[1], Linter)):
        if environment.recognises(name):
            return env_id
    names = {task.name: env_id for env_id, environment in known.items() for task in environment.tasks()}
    near = get_close_matches(name.partition("@")[0].partition("/")[0], names, n=1)
    if not near:
        raise LookupError(f"{name!r} is no task of {', '.join(known)}; `rolf list` shows what there is")
    return names[near[0]]
