"""Pool: environments that are kept open, because what is behind one takes longer to build than an episode to play."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

import gymnasium

from rolf.variant import Variant
from rolf_adapters.ppo.language.problems import Problem

FAULTS = (OSError, RuntimeError, EOFError)
"""What is raised where a machine, a process or a connection fails; all else is a mistake in a program."""
MISTAKES = (NotImplementedError, RecursionError)
"""Are kinds of those, and mistakes in a program all the same."""
_LOG = logging.getLogger(__name__)


class Seen(NamedTuple):
    """What an environment gave."""

    observation: Any
    info: Mapping[str, Any]
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False


class Lost(NamedTuple):
    """An episode that nothing can be said of, because its machine failed."""

    reason: str


class _Failed(Exception):
    """A machine has failed; says how."""


class Pool:
    """So many places, each with one environment, made when it is needed and made anew when it has failed.

    Args:
        places: How many.
        threads: How many of them are waited for at once.
    """

    def __init__(self, places: int, threads: int = 1) -> None:
        self._open: list[tuple[Variant, gymnasium.Env[Any, Any]] | None] = [None] * places
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None

    def __len__(self) -> int:
        return len(self._open)

    def env(self, place: int) -> gymnasium.Env[Any, Any]:
        """Return the environment at a place, in which an episode was begun."""
        found = self._open[place]
        assert found is not None
        return found[1]

    def resets(self, problems: Mapping[int, Problem]) -> dict[int, Seen | Lost]:
        """Begin episodes, by place."""
        return self._each(self.reset, problems)

    def steps(self, actions: Mapping[int, Any]) -> dict[int, Seen | Lost]:
        """Take a step at each place."""
        return self._each(self.step, actions)

    def _each(self, act: Callable[[int, Any], Seen | Lost], given: Mapping[int, Any]) -> dict[int, Seen | Lost]:
        walk = map if self._threads is None else self._threads.map
        return dict(zip(given, walk(act, given.keys(), given.values()), strict=True))

    def reset(self, place: int, problem: Problem) -> Seen | Lost:
        """Begin an episode; an environment that cannot is replaced, and the new one is asked once.

        Raises:
            Exception: whatever is a mistake in a program, with a note of the environment that it is in.
        """
        lost = Lost("")
        for _ in range(2):
            try:
                with _watched(problem.variant):
                    observation, info = self._ready(place, problem.variant).reset(seed=problem.seed)
            except _Failed as error:
                lost = self._replace(place, error)
            else:
                return Seen(observation, info)
        return lost

    def step(self, place: int, action: Any) -> Seen | Lost:
        """Take a step; a machine that fails in it loses the episode.

        Raises:
            Exception: see `reset`.
        """
        found = self._open[place]
        assert found is not None
        try:
            with _watched(found[0]):
                observation, reward, terminated, truncated, info = found[1].step(action)
        except _Failed as error:
            return self._replace(place, error)
        if info.get("masked") or info.get("failure_kind") is not None:
            # The environment itself has noticed, and has a new machine at its next reset.
            return Lost(str(info.get("failure_kind")))
        return Seen(observation, info, float(reward), bool(terminated), bool(truncated))

    def close(self) -> None:
        """Close all; calling it twice is allowed."""
        with ExitStack() as stack:  # a mistake in one does not keep the others open
            for place in range(len(self._open)):
                stack.callback(self._close, place)
            # Before all of that, for it goes backwards: a thread makes anew what is closed under it.
            if self._threads is not None:
                stack.callback(self._threads.shutdown, cancel_futures=True)

    def _ready(self, place: int, variant: Variant) -> gymnasium.Env[Any, Any]:
        found = self._open[place]
        if found is None or found[0] != variant:
            self._close(place)
            found = (variant, variant.make(disable_env_checker=True))
            self._open[place] = found
        return found[1]

    def _replace(self, place: int, error: _Failed) -> Lost:
        _LOG.warning("an environment failed and is replaced: %s", error)
        self._close(place)
        return Lost(str(error))

    def _close(self, place: int) -> None:
        found, self._open[place] = self._open[place], None
        if found is not None:
            with suppress(_Failed), _watched(found[0]):  # what has failed may fail again in closing
                found[1].close()


@contextmanager
def _watched(variant: Variant) -> Iterator[None]:
    """Tell apart what happens to a machine and what a program does wrong.

    Raises:
        _Failed: the machine has failed.
        Exception: the program's own, with a note of the environment that it is in.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, FAULTS) and not isinstance(error, MISTAKES):
            raise _Failed(f"{type(error).__name__}: {error}") from error
        error.add_note(f"in the environment {variant.env_id!r}, made with {dict(variant.kwargs)!r:.200}")
        raise
