"""What importing the packages costs and shows."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

PACKAGES = ("rolf", "termgym", "linegym", "rolf_wrappers", "rolf_adapters")
HEAVY = frozenset(
    {"torch", "docker", "numba", "pettingzoo", "ray", "stable_baselines3", "torchrl", "tensorflow", "jax"}
)
LATER = frozenset({"pydantic", "PIL", "pyte", "rich", "jinja2", "pexpect", "hypothesis", "moviepy"})
"""What is installed with the core but loaded only when it is used."""
ALLOWED_OWN = {"rolf": {"rolf"}, "linegym": {"linegym", "rolf"}, "termgym": {"termgym", "rolf"}}
LINES, MEDIAN = 400, 150
"""Longest module and longest median of modules [lines]: see CONTRIBUTING.md."""


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter holds after ``statement``."""
    code = f"import sys\n{statement}\nimport json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def roots(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_loads_nothing_heavy(package: str) -> None:
    """A user who wants a terminal does not wait for a deep-learning framework, nor need one."""
    assert roots(loaded_by(f"import {package}")) & HEAVY == set()


@pytest.mark.parametrize("package", sorted(ALLOWED_OWN))
def test_importing_a_package_loads_no_stranger(package: str) -> None:
    """Layers hold at run time too: an environment must not pull in its sibling, nor wrappers or adapters."""
    own = roots(loaded_by(f"import {package}")) & set(PACKAGES)
    assert own <= ALLOWED_OWN[package]


@pytest.mark.parametrize("package", ["rolf", "termgym", "linegym"])
def test_importing_a_package_leaves_the_rest_for_later(package: str) -> None:
    """`import termgym` registers an id and costs milliseconds; pydantic alone would cost a tenth of a second."""
    assert roots(loaded_by(f"import {package}")) & LATER == set()


def test_help_of_the_command_line_loads_no_environment() -> None:
    """`rolf --help` answers at once."""
    assert roots(loaded_by("import rolf.cli")) & {"gymnasium", "numpy", "termgym", "linegym"} == set()


def test_importing_termgym_registers_the_environment() -> None:
    """`import termgym` and `gymnasium.make("TermEnv-v1")` is the promise of the first page."""
    code = "import gymnasium, termgym; print(gymnasium.spec('TermEnv-v1').id)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "TermEnv-v1"


@pytest.mark.parametrize("package", PACKAGES)
def test_all_names_exist_and_are_what_is_public(package: str) -> None:
    """`__all__` is the public face: nothing in it is missing, nothing public is left out of it."""
    module = import_module(package)
    exported = list(getattr(module, "__all__", []))
    assert exported == sorted(exported), "__all__ is sorted"
    for name in exported:
        getattr(module, name)
    assert public_names(module) <= set(exported)


def public_names(module: ModuleType) -> set[str]:
    """Return the names that a module defines or re-exports for its users."""
    own = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return {
        name
        for name, value in own.items()
        if not isinstance(value, ModuleType)
        and getattr(value, "__module__", "").partition(".")[0] == module.__name__.partition(".")[0]
    }


def sources() -> list[Path]:
    return [path for name in PACKAGES for path in sorted(Path(import_module(name).__path__[0]).rglob("*.py"))]


def test_modules_stay_readable() -> None:
    """Every project grows one god module unless somebody counts."""
    lengths = {path: len(path.read_text().splitlines()) for path in sources()}
    long = {str(path): length for path, length in lengths.items() if length > LINES}
    assert not long, f"over {LINES} lines: split them"
    written = sorted(length for length in lengths.values() if length > 5)
    assert written[len(written) // 2] <= MEDIAN


def test_module_names_say_what_is_inside() -> None:
    """An attic has no name that anybody would look under."""
    attics = {"utils", "helpers", "manager", "base", "common", "core", "misc"}
    assert [path for path in sources() if path.stem in attics] == []
