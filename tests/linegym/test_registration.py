"""Registration: importing linegym makes the environment known and loads nothing else."""

from __future__ import annotations

import subprocess
import sys

import gymnasium as gym
import pytest

import linegym


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_import_only_registers() -> None:
    """Every process of a trainer imports linegym, most never make an environment; numba alone takes a second."""
    heavy = ["numba", "PIL", "pettingzoo", "linegym.env", "linegym.batch", "linegym.templates", "linegym.actions"]
    code = f"import sys, linegym, gymnasium; print([m for m in {heavy} if m in sys.modules], *gymnasium.registry)"
    loaded, _, known = run(code).partition("]")
    assert loaded == "["
    assert "LineEnv-v1" in known


def test_pictures_load_only_where_they_are_wanted() -> None:
    code = "import sys, linegym; linegym.LineEnv().reset(seed=0); print('PIL' in sys.modules)"
    assert run(code) == "False"


def test_made_by_module_prefix_without_an_import() -> None:
    code = "import gymnasium; print(gymnasium.make('linegym:LineEnv-v1').spec.id)"
    assert run(code) == "LineEnv-v1"


def test_every_public_name_is_there() -> None:
    for name in linegym.__all__:
        assert getattr(linegym, name).__module__.startswith("linegym."), name
    assert set(linegym.__all__) <= set(dir(linegym))


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Line'; it has Batch"):
        linegym.Line  # noqa: B018


def test_gymnasium_knows_both_entry_points() -> None:
    spec = gym.spec("LineEnv-v1")
    assert spec.entry_point == "linegym.env:LineEnv"
    assert spec.vector_entry_point == "linegym.vector:LineVectorEnv"
    assert not spec.nondeterministic
