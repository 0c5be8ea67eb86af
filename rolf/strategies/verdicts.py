"""Verdicts on one answer of an environment: what its interface promises, whatever it simulates."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np

from rolf.checks.returns import is_finite_number
from rolf.checks.rewards import terms_fault
from rolf.checks.stray import stray


class Told(NamedTuple):
    """What ``step`` returned; of ``reset`` only the first and the last."""

    observation: Any
    info: Any
    reward: Any = 0.0
    terminated: Any = False
    truncated: Any = False

    @property
    def over(self) -> bool:
        """Whether it ends the episode."""
        return bool(self.terminated or self.truncated)


def told_by_reset(returned: Any) -> Told:
    """Return what ``reset`` returned.

    Raises:
        AssertionError: it is no pair.
    """
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise AssertionError(f"reset returned {returned!r:.200}; return (observation, info)")
    return Told(returned[0], returned[1])


def told_by_step(returned: Any) -> Told:
    """Return what ``step`` returned.

    Raises:
        AssertionError: it is no tuple of five.
    """
    if not isinstance(returned, tuple) or len(returned) != 5:
        raise AssertionError(
            f"step returned {returned!r:.200}; return (observation, reward, terminated, truncated, info)"
        )
    observation, reward, terminated, truncated, info = returned
    return Told(observation, info, reward, terminated, truncated)


def judge(env: gymnasium.Env[Any, Any], told: Told) -> str | None:
    """Return what is wrong with an answer by itself, or None."""
    found = stray("observation", env.observation_space, told.observation)
    if found is not None:
        return f"{found.field} is {found.got}, observation_space allows {found.allowed}"
    if not isinstance(told.info, dict):
        return f"info is {told.info!r:.200}; return a dict"
    for name in ("terminated", "truncated"):
        flag = getattr(told, name)
        if not isinstance(flag, bool | np.bool_):
            return f"{name} is {flag!r} of type {type(flag).__name__}; return True or False"
    if not is_finite_number(told.reward):
        return f"reward is {told.reward!r} of type {type(told.reward).__name__}; return a finite number"
    if "reward_terms" not in told.info:
        return None
    fault = terms_fault(told.info["reward_terms"], told.reward)
    return None if fault is None else f"{fault}: {told.reward!r} and {told.info['reward_terms']!r:.300}"


class Keys:
    """Which keys ``info`` has, and whether it goes on having them.

    All resets tell the same, and so do all steps; those that end an episode may tell more.

    Args:
        optional: Keys that may be there or not.
    """

    def __init__(self, optional: frozenset[str]) -> None:
        self._optional = optional
        self._known: dict[str, frozenset[str]] = {}

    def judge(self, kind: str, told: Told) -> str | None:
        """Return how the keys of an answer of ``reset``, or of a ``step``, differ from the first of its kind."""
        got = frozenset(map(str, told.info)) - self._optional
        ending = kind == "step" and told.over
        wanted = self._known.setdefault("last step" if ending else kind, got)
        lost, new = wanted - got, got - wanted
        if ending:
            lost |= self._known.get("step", frozenset()) - got
        if not lost and not new:
            return None
        changed = [f"{what} {', '.join(sorted(keys))}" for what, keys in (("lacks", lost), ("has now", new)) if keys]
        what = "a last step" if ending else f"a {kind}"
        return f"info of {what} {' and '.join(changed)}; keep its keys, or name those in optional_info"
