"""Everything that may be done with the environments that are here, in any order."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from rolf.splitting import find_split
from rolf.strategies import EnvStateMachine, line_actions, plans, shell_commands

QUICK = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
# Only exported variables are restored, so what a plan sets must not outlive it.
HARMLESS = plans(shell_commands(persistent=False), valid=False)

CartPole = EnvStateMachine.of("CartPole-v1")
Line = EnvStateMachine.of(("linegym:LineEnv-v1", {"horizon": 40}), actions=line_actions)
LineInCommands = EnvStateMachine.of(
    ("linegym:LineEnv-v1", {"horizon": 40, "action": "multi", "observation": "dict"}), actions=line_actions
)
Terminal = EnvStateMachine.of("termgym:TermEnv-v1", actions=HARMLESS, repeats=2)
Task = EnvStateMachine.of(
    ("termgym:TermEnv-v1", {"task": "git-dirty-pull", "reward": "shaped"}), actions=HARMLESS, repeats=2
)

TestCartPole = CartPole.TestCase
TestCartPole.settings = settings(QUICK, max_examples=15, stateful_step_count=25)
TestLine = Line.TestCase
TestLine.settings = settings(QUICK, max_examples=6, stateful_step_count=15)
TestLineInCommands = LineInCommands.TestCase
TestLineInCommands.settings = settings(QUICK, max_examples=6, stateful_step_count=15)
TestTerminal = pytest.mark.slow(Terminal.TestCase)
TestTerminal.settings = settings(QUICK, max_examples=3, stateful_step_count=10)
TestTask = pytest.mark.slow(Task.TestCase)
TestTask.settings = settings(QUICK, max_examples=2, stateful_step_count=8)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("machine", "examples"),
    [(CartPole, 500), (Line, 300), (LineInCommands, 200), (Terminal, 60), (Task, 30)],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_for_long(machine: type[EnvStateMachine], examples: int) -> None:
    run_state_machine_as_test(machine, settings=settings(QUICK, max_examples=examples, stateful_step_count=40))


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("split", ["line-v1/sweep[:20]", "term-v1/validation[:10]"])
def test_for_the_variants_of_a_split(split: str) -> None:
    """Each problem in its own environment, wrappers included."""
    for variant in find_split(split).variants:
        terminal = "TermEnv" in variant.env_id
        machine = EnvStateMachine.of(variant, actions=HARMLESS if terminal else line_actions, repeats=3)
        limits = settings(QUICK, max_examples=3, stateful_step_count=12)
        run_state_machine_as_test(machine, settings=limits)
