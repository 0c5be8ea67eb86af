"""check_all: every check that applies, and why the others do not."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from rolf.checks.aliasing import check_no_aliasing
from rolf.checks.closing import check_close
from rolf.checks.determinism import check_determinism
from rolf.checks.errors import CheckFailed, NotApplicable
from rolf.checks.independence import check_step_independence
from rolf.checks.leaks import check_no_leaks
from rolf.checks.likeness import check_vector_equals_single
from rolf.checks.order import check_step_after_end, check_step_before_reset
from rolf.checks.remaking import check_spec
from rolf.checks.restoring import check_restore
from rolf.checks.returns import check_returns
from rolf.checks.rewards import check_reward_terms
from rolf.checks.seeding import check_seeding
from rolf.checks.spaces import check_spaces
from rolf.checks.subject import EnvLike, Subject

CHECKS: Mapping[str, Callable[..., None]] = {
    check.__name__.removeprefix("check_"): check
    for check in (
        check_returns,
        check_spaces,
        check_determinism,
        check_seeding,
        check_step_independence,
        check_step_before_reset,
        check_step_after_end,
        check_no_aliasing,
        check_reward_terms,
        check_restore,
        check_vector_equals_single,
        check_spec,
        check_close,
        check_no_leaks,
    )
}
"""The checks by their names without ``check_``, the plainest first."""


class State(StrEnum):
    """What a check came to."""

    PASSED = "passed"
    FAILED = "failed"
    INAPPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Result:
    """What one check came to."""

    check: str
    """Its name without ``check_``."""
    state: State
    reason: str
    """Why it does not apply, or what is wrong; empty where it passed."""
    seconds: float
    """Time that it took [s]."""
    failure: CheckFailed | None = None
    """What it raised."""

    def __str__(self) -> str:
        mark = {State.PASSED: "ok", State.FAILED: "FAILED", State.INAPPLICABLE: "-"}[self.state]
        first, *rest = self.reason.splitlines() or [""]
        line = f"{mark:6}  {self.check:20}  {first.removeprefix(f'check_{self.check}: ')}".rstrip()
        return "\n".join([line, *rest])

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        failure = self.failure
        told = {} if failure is None else {"values": failure.values, "reproduction": failure.reproduction}
        if failure is not None and failure.place is not None:
            told["place"] = failure.place._asdict()
        problem = self.reason if failure is None else failure.problem
        return {"check": self.check, "state": str(self.state), "reason": problem, "seconds": self.seconds, **told}


@dataclass(frozen=True, slots=True)
class Report:
    """What all checks of one environment came to."""

    environment: str
    results: tuple[Result, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failures

    @property
    def failures(self) -> list[CheckFailed]:
        """What checks raised."""
        return [result.failure for result in self.results if result.failure is not None]

    def require(self) -> None:
        """Do nothing if no check failed.

        Raises:
            CheckFailed: one did.
            ExceptionGroup: several did; it holds a `CheckFailed` for each.
        """
        failures = self.failures
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise ExceptionGroup(f"{self.environment} fails {len(failures)} of {len(self.results)} checks", failures)

    def __str__(self) -> str:
        counts = {state: sum(result.state is state for result in self.results) for state in State}
        told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        return "\n".join([*map(str, self.results), f"{self.environment}: {told}"])


def check_all(
    env: EnvLike,
    *,
    only: Sequence[str] | None = None,
    skip: Sequence[str] = (),
    tell: Callable[[Result], None] | None = None,
    **settings: Any,
) -> Report:
    """Run all checks that apply to an environment.

    Args:
        env: The environment; see `rolf.checks`.
        only: Names of the checks to run, as in `CHECKS`; None: all.
        skip: Names of those to leave out.
        tell: Called with each result as soon as there is one.
        **settings: What the checks take: ``actions``, ``seeds``, ``steps``, ``volatile``, ``processes``,
            ``vector_kwargs``, …; each check is given those that it knows.

    Returns:
        What they came to. ``report.require()`` raises if one failed.

    Raises:
        TypeError: no check takes one of the settings.
        ValueError: there is no such check.
        gymnasium.error.Error: there is no such environment.
    """
    chosen = _chosen(only, skip)
    known = {name for check in CHECKS.values() for name in inspect.signature(check).parameters} - {"env"}
    for name in settings:
        if name not in known:
            raise TypeError(f"no check takes {name!r}; {_hint(name, known)}they take {', '.join(sorted(known))}")
    subject = Subject.of(env)
    results = []
    for check in chosen:
        results.append(_result(check, env, settings))
        if tell is not None:
            tell(results[-1])
    return Report(subject.name, tuple(results))


def _chosen(only: Sequence[str] | None, skip: Sequence[str]) -> list[str]:
    for name in (*(only or ()), *skip):
        if name not in CHECKS:
            raise ValueError(f"there is no check {name!r}; {_hint(name, CHECKS)}there are {', '.join(CHECKS)}")
    return [name for name in CHECKS if (only is None or name in only) and name not in skip]


def _hint(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def _result(name: str, env: EnvLike, given: Mapping[str, Any]) -> Result:
    check = CHECKS[name]
    known = inspect.signature(check).parameters
    begun = time.monotonic()
    state, reason, failure = State.PASSED, "", None
    try:
        check(env, **{key: value for key, value in given.items() if key in known})
    except NotApplicable as error:
        state, reason = State.INAPPLICABLE, str(error)
    except CheckFailed as error:
        state, reason, failure = State.FAILED, str(error), error
    return Result(name, state, reason, time.monotonic() - begun, failure)
