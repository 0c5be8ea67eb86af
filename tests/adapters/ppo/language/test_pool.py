"""What happens to a machine loses an episode; what its author got wrong ends the training and is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest

from rolf.variant import Variant
from rolf_adapters.ppo.language.pool import Lost, Pool, Seen
from rolf_adapters.ppo.language.problems import Problem

WRONG: dict[str, Exception] = {}
"""What is raised, by the method that raises it."""


class Wrong(gymnasium.Env[int, int]):
    """Does what it is told to do wrong."""

    observation_space = action_space = gymnasium.spaces.Discrete(2)
    closed = 0

    def __init__(self, size: int = 1) -> None:
        self.size = size
        self._do("make")

    def reset(self, **_: Any) -> tuple[int, dict[str, Any]]:
        self._do("reset")
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self._do("step")
        return action, 1.0, False, False, {}

    def close(self) -> None:
        Wrong.closed += 1
        self._do("close")

    def _do(self, name: str) -> None:
        if name in WRONG:
            raise WRONG[name]


gymnasium.register("WrongInAPool-v0", entry_point=Wrong)
PROBLEM = Problem(Variant("WrongInAPool-v0", {"size": 3}), 0)


@pytest.fixture(name="pool", params=[1, 2])
def a_pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    WRONG.clear()
    pool = Pool(2, threads=request.param)
    yield pool
    WRONG.clear()
    pool.close()


def played(pool: Pool) -> list[Seen | Lost]:
    began = pool.resets({0: PROBLEM})
    return [*began.values(), *(pool.steps({0: 1}).values() if isinstance(began[0], Seen) else ())]


@pytest.mark.parametrize("error", [NotImplementedError("later"), RecursionError("too deep"), KeyError("nme")], ids=str)
@pytest.mark.parametrize("method", ["make", "reset", "step"])
def test_an_authors_mistake_is_raised_with_its_environment(pool: Pool, method: str, error: Exception) -> None:
    """It would fail in every episode, and be told as machines that fail."""
    WRONG[method] = error
    with pytest.raises(type(error)) as caught:
        played(pool)
    assert caught.value.__notes__[-1] == "in the environment 'WrongInAPool-v0', made with {'size': 3}"


@pytest.mark.parametrize("error", [OSError("no machine"), RuntimeError("gone"), EOFError("no answer")], ids=str)
@pytest.mark.parametrize("method", ["make", "reset", "step"])
def test_a_machine_that_fails_loses_the_episode(pool: Pool, method: str, error: Exception) -> None:
    """Its environment is made anew, and says nothing more of it in closing."""
    WRONG[method] = WRONG["close"] = error
    assert played(pool)[-1] == Lost(f"{type(error).__name__}: {error}")
    WRONG.clear()
    assert played(pool) == [Seen(0, {}), Seen(1, {}, 1.0)]


def test_a_mistake_in_closing_keeps_no_other_open(pool: Pool) -> None:
    """All are closed, and then it is told."""
    pool.resets({0: PROBLEM, 1: PROBLEM})
    before, WRONG["close"] = Wrong.closed, NotImplementedError("later")
    with pytest.raises(NotImplementedError, match="later"):
        pool.close()
    assert Wrong.closed == before + 2
    pool.close()  # nothing is left to be closed
