"""EnvStateMachine sees each fault that it is there for, and shows how to see it again."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import InvalidArgument
from hypothesis.stateful import run_state_machine_as_test

from rolf.strategies import EnvStateMachine

LIMITS = settings(
    phases=[Phase.generate],
    max_examples=500,  # it stops at the first failure; what is drawn depends on the modules that are loaded
    stateful_step_count=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
FAULTLESS = settings(LIMITS, max_examples=100)
"""Where nothing is to be found, all of them are run."""


class Walk(gymnasium.Env[Any, Any]):
    """A walk with a drawn stumble, from 0 until 6 or 12 steps: an environment without a fault, to put one into each."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self) -> None:
        self.action_space = spaces.Discrete(3)
        self.observation_space = spaces.Box(-20, 20, (1,), np.float32)
        self.place = self.steps = 0
        self.over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place, self.steps, self.over = int(self.np_random.integers(-2, 3)), 0, False
        return self.seen(), {"steps": 0}

    def step(self, action: int) -> Any:
        if self.over:
            raise gymnasium.error.ResetNeeded("the walk is over; call reset()")
        self.place += int(action) - 1 + self.stumble()
        self.steps += 1
        terminated, truncated = self.place >= 6, self.steps >= 12
        self.over = terminated or truncated
        terms = {"goal": float(terminated), "time": -0.1}
        return self.seen(), self.paid(terms), terminated, truncated, {"steps": self.steps, "reward_terms": terms}

    def stumble(self) -> int:
        return int(self.np_random.integers(0, 2))

    def paid(self, terms: dict[str, float]) -> float:
        return sum(terms.values())

    def seen(self) -> Any:
        return np.array([self.place], np.float32)

    def save(self) -> Any:
        return self.place, self.steps, self.over, self.np_random.bit_generator.state

    def restore(self, saved: Any) -> Any:
        self.place, self.steps, self.over, self.np_random.bit_generator.state = saved
        return self.seen(), {"steps": self.steps}

    def state_digest(self) -> str:
        return f"{self.place}/{self.steps}"


class OutOfSpace(Walk):
    def seen(self) -> Any:
        return np.array([self.place * (30 if self.steps == 3 else 1)], np.float32)


class OtherType(Walk):
    def seen(self) -> Any:
        return np.array([self.place], np.float64)


class NotANumber(Walk):
    def paid(self, terms: dict[str, float]) -> float:
        return float("nan") if self.place == 2 else super().paid(terms)


class HiddenTerm(Walk):
    def paid(self, terms: dict[str, float]) -> float:
        return super().paid(terms) - (0.01 if self.place < 0 else 0)


class NumbersForFlags(Walk):
    def step(self, action: int) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, int(terminated), truncated, info


class LostKey(Walk):
    def step(self, action: int) -> Any:
        *told, info = super().step(action)
        return *told, {key: value for key, value in info.items() if key != "steps" or self.place != 1}


class LostKeyAtTheEnd(Walk):
    def step(self, action: int) -> Any:
        *told, info = super().step(action)
        return *told, {} if self.over else info


class GlobalGenerator(Walk):
    def stumble(self) -> int:
        return random.randrange(2)


class Memory(Walk):
    """What was done before the seed matters."""

    episodes = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        _, info = super().reset(seed=seed)
        self.episodes += 1
        self.place = min(self.place + (self.episodes > 1), 3)
        return self.seen(), info


class HalfRestored(Walk):
    def restore(self, saved: Any) -> Any:
        self.place, _, self.over, self.np_random.bit_generator.state = saved
        return self.seen(), {"steps": self.steps}


class ForgottenGenerator(Walk):
    """All that can be seen comes back, and what will be drawn does not."""

    def restore(self, saved: Any) -> Any:
        self.place, self.steps, self.over, _ = saved
        return self.seen(), {"steps": self.steps}


class GoesOn(Walk):
    def step(self, action: int) -> Any:
        if self.over:
            return self.seen(), 0.0, False, False, {"steps": self.steps}
        return super().step(action)


class DigestOfTheObject(Walk):
    _numbers = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.number = next(self._numbers)

    def state_digest(self) -> str:
        return f"{super().state_digest()}/{self.number}"


class ClosedOnce(Walk):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class OneAnswer(Walk):
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return super().reset(seed=seed)[0]


FAULTS: dict[type[Walk], str] = {
    OutOfSpace: r"observation\S* is .*, observation_space allows",
    OtherType: r"float64.*observation_space allows",
    NotANumber: r"reward is nan of type float; return a finite number",
    HiddenTerm: r'info\["reward_terms"\] do not sum to the reward: ',
    NumbersForFlags: r"terminated is 0 of type int; return True or False",
    LostKey: r"info of a step (lacks|has now) steps",
    LostKeyAtTheEnd: r"info of a last step lacks reward_terms, steps",
    GlobalGenerator: r"(observation|state_digest).* here and .* there, in a fresh environment",
    Memory: r"observation\[0\] is .* here and .* there, in a fresh environment",
    HalfRestored: r"state_digest\(\) was .* when moment \d was kept, restored it is",
    ForgottenGenerator: r"observation\[0\] is .* here and .* there, in a fresh environment",
    GoesOn: r"a step after the end went on as if nothing had ended",
    DigestOfTheObject: r"state_digest\(\) is .* here and .* there",
    ClosedOnce: r"closed already",
    OneAnswer: r"reset returned .*; return \(observation, info\)",
}


def test_an_environment_without_a_fault_passes() -> None:
    run_state_machine_as_test(EnvStateMachine.of(Walk), settings=FAULTLESS)


@pytest.mark.parametrize("faulty", FAULTS, ids=lambda faulty: faulty.__name__)
def test_each_fault_is_seen(faulty: type[Walk]) -> None:
    """A machine that could not fail would promise nothing; and the program that it shows fails by itself."""
    machine = EnvStateMachine.of(faulty)
    with pytest.raises(Exception, match=FAULTS[faulty]) as caught:
        run_state_machine_as_test(machine, settings=LIMITS)
    assert isinstance(caught.value, RuntimeError if faulty is ClosedOnce else AssertionError), caught.value
    program = shown_program(caught.value)
    random.seed(0)  # as Hypothesis does before each example
    with pytest.raises(type(caught.value), match=FAULTS[faulty]):
        exec("\n".join(program), {machine.__name__: machine})


def test_the_program_that_is_shown_is_short() -> None:
    """Of all that was done only what it takes: two seeds for a memory between episodes, and not one step."""
    with pytest.raises(AssertionError) as caught:
        run_state_machine_as_test(EnvStateMachine.of(Memory), settings=settings(LIMITS, phases=tuple(Phase)))
    assert shown_program(caught.value) == [
        "state = Memory()",
        "state.begin(seed=0)",
        "state.reset(seed=0)",
        "state.teardown()",
    ]


def shown_program(error: BaseException) -> list[str]:
    """Return the lines of the program that Hypothesis shows with an error."""
    return [line.strip() for note in error.__notes__ for line in note.splitlines() if re.match(r"\s*state[. ]", line)]


def test_a_warning_after_the_end_is_enough() -> None:
    """CartPole's way: it goes on, maybe back into its bounds, and has warned."""

    class Warns(Walk):
        def step(self, action: int) -> Any:
            if self.over:
                gymnasium.logger.warn("the walk is over")
                return self.seen(), 0.0, False, False, {"steps": self.steps, "reward_terms": {}}
            return super().step(action)

    run_state_machine_as_test(EnvStateMachine.of(Warns), settings=FAULTLESS)


def test_a_message_names_what_was_done() -> None:
    with pytest.raises(AssertionError) as caught:
        run_state_machine_as_test(EnvStateMachine.of(GoesOn), settings=LIMITS)
    assert re.search(r"\n  after .*step\(2\)", str(caught.value)), caught.value


def test_what_may_differ_is_declared() -> None:
    """Neither a clock in info nor a key that comes and goes is a fault where somebody said so."""

    class Clock(Walk):
        ticks = itertools.count()

        def step(self, action: int) -> Any:
            *told, info = super().step(action)
            late = {"late": True} if self.place == 3 else {}
            return *told, {**info, "clock": next(self.ticks), **late}

    named = EnvStateMachine.of(Clock, volatile=["info.clock"], optional_info=["late"])
    run_state_machine_as_test(named, settings=FAULTLESS)
    with pytest.raises(AssertionError, match=r"info\.clock"):
        run_state_machine_as_test(EnvStateMachine.of(Clock, optional_info=["late"]), settings=LIMITS)
    with pytest.raises(AssertionError, match=r"info of a step (has now|lacks) late"):
        run_state_machine_as_test(EnvStateMachine.of(Clock, volatile=["info.clock"]), settings=LIMITS)


@pytest.mark.parametrize("where", ["info", "observation"])
def test_only_what_the_mask_allows_is_done(where: str) -> None:
    """Actions are drawn when it is known what is possible."""

    class Masked(Walk):
        def __init__(self) -> None:
            super().__init__()
            if where == "observation":
                mask = spaces.MultiBinary(3)
                self.observation_space = spaces.Dict({"action_mask": mask, "place": self.observation_space})  # type: ignore[assignment]

        def mask(self) -> Any:
            allowed = np.zeros(3, np.int8)
            allowed[self.place % 3] = 1
            return allowed

        def seen(self) -> Any:
            seen = super().seen()
            return {"action_mask": self.mask(), "place": seen} if where == "observation" else seen

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
            observation, info = super().reset(seed=seed)
            return observation, info | ({"action_mask": self.mask()} if where == "info" else {})

        def step(self, action: int) -> Any:
            if not self.over:
                assert self.mask()[action] or self.repeated, f"{action} is not possible at {self.place}"
            self.repeated = True
            *told, info = super().step(action)
            return *told, info | ({"action_mask": self.mask()} if where == "info" else {})

        repeated = False

    run_state_machine_as_test(EnvStateMachine.of(Masked, repeats=1), settings=FAULTLESS)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"repeats": 0}, ValueError), ({"env": 5}, TypeError), ({"env": "Nope-v0"}, gymnasium.error.NameNotFound)],
)
def test_what_makes_no_machine_is_refused_at_once(arguments: dict[str, Any], error: type[Exception]) -> None:
    """Not in the middle of a run."""
    of: Callable[..., Any] = EnvStateMachine.of
    with pytest.raises(error):
        of(**{"env": Walk, **arguments})


def test_a_machine_of_nothing_cannot_run() -> None:
    """`EnvStateMachine` itself has no environment."""
    with pytest.raises((AttributeError, InvalidArgument)):
        EnvStateMachine()
