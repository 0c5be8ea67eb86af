"""What happens to a machine loses an episode; what its author got wrong ends the training and is named."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Timer
from typing import Any

import gymnasium
import pytest

from rolf.variant import Variant
from rolf_adapters.ppo.language.pool import Lost, Pool, Seen
from rolf_adapters.ppo.language.problems import Problem

WRONG: dict[str, Exception] = {}
"""What is raised, by the method that raises it."""
PATIENCE = 60.0
"""How long one thread may wait for another [s]."""


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


class Slow(gymnasium.Env[int, int]):
    """Counts those that are open; the reset at place 1 is under way until somebody closes it, or lets it go on."""

    observation_space = action_space = gymnasium.spaces.Discrete(2)
    open_ = 0
    resetting, go_on = Event(), Event()

    def __init__(self, place: int) -> None:
        self.place, self.closed = place, False
        Slow.open_ += 1

    def reset(self, **_: Any) -> tuple[int, dict[str, Any]]:
        if self.place == 0:
            assert self.resetting.wait(PATIENCE)
            raise TypeError("no such task")
        self.resetting.set()
        assert self.go_on.wait(PATIENCE)
        if self.closed:
            raise OSError("closed under it")
        return 0, {}

    def close(self) -> None:
        self.closed = True
        Slow.open_ -= 1
        self.go_on.set()


gymnasium.register("SlowInAPool-v0", entry_point=Slow)


def test_threads_end_before_environments_are_closed() -> None:
    """One that is closed under a thread would be taken for one that has failed, and made anew for nobody."""
    pool = Pool(2, threads=2)
    problems = {place: Problem(Variant("SlowInAPool-v0", {"place": place}), 0) for place in range(2)}
    with pytest.raises(TypeError, match="no such task"):
        pool.resets(problems)
    assert Slow.open_ == 2, "the other one is under way"
    later = Timer(0.5, Slow.go_on.set)
    later.start()
    pool.close()
    later.join()
    assert Slow.open_ == 0
