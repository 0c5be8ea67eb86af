"""Registration: importing termgym makes the environment known and loads nothing else."""

from __future__ import annotations

import subprocess
import sys

import gymnasium as gym
import pytest

import termgym


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_import_only_registers() -> None:
    """Every process of a trainer imports termgym, most of them never make an environment."""
    heavy = ["pydantic", "pyte", "PIL", "termgym.env", "termgym.session", "termgym.plan"]
    code = f"import sys, termgym, gymnasium; print([m for m in {heavy} if m in sys.modules], *gymnasium.registry)"
    loaded, _, known = run(code).partition("]")
    assert loaded == "["
    assert "TermEnv-v1" in known


def test_made_by_module_prefix_without_an_import() -> None:
    code = "import gymnasium; print(gymnasium.make('termgym:TermEnv-v1').spec.id)"
    assert run(code) == "TermEnv-v1"


def test_functions_stay_functions_when_modules_of_their_names_are_imported() -> None:
    """`from termgym.plan import ...` binds the module on the package; `termgym.plan(...)` must go on working."""
    code = (
        "import termgym.plan, termgym.session.keys; from termgym.plan import ActionPlan; import termgym; "
        "print(termgym.plan('ls'), termgym.keys('q'), termgym.ActionPlan is ActionPlan)"
    )
    assert run(code) == '{"command": "ls"} {"keys": "q"} True'


def test_every_public_name_is_there() -> None:
    for name in termgym.__all__:
        assert getattr(termgym, name).__module__.startswith("termgym."), name
    assert set(termgym.__all__) <= set(dir(termgym))


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Plan'; it has ActionPlan"):
        termgym.Plan  # noqa: B018


def test_spaces_are_known_without_a_shell() -> None:
    """Trainers make an environment to look at its spaces; that must not start a machine."""
    code = (
        "import gymnasium, os; env = gymnasium.make('termgym:TermEnv-v1'); "
        "print(env.observation_space['event'].n, open(f'/proc/self/task/{os.getpid()}/children').read().split())"
    )
    assert run(code) == "11 []"


def test_gymnasium_knows_both_entry_points() -> None:
    spec = gym.spec("TermEnv-v1")
    assert spec.entry_point == "termgym.env:TermEnv"
    assert spec.vector_entry_point == "termgym.vector:TermVectorEnv"
    assert not spec.nondeterministic
