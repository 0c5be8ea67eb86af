"""What travels in the wheel and in the source distribution; about the checkout, so run there."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent
SHELVES = {"rolf": ".", "termgym": ".", "linegym": ".", "rolf_wrappers": "wrappers", "rolf_adapters": "adapters"}
"""Package -> the folder that it lies in."""


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(out), str(CHECKOUT)], check=True, capture_output=True
    )
    return out


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    return next(distributions.glob("*.whl"))


def tracked(package: str) -> set[str]:
    """Return the files of a package in git, new ones included, as the wheel should name them."""
    shelf = SHELVES[package]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", f"{shelf}/{package}"]
    listed = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout.splitlines()
    return {str(Path(name).relative_to(shelf)) for name in listed if (CHECKOUT / name).exists()}


@pytest.mark.parametrize("package", SHELVES)
def test_the_wheel_holds_every_file_of_a_package(package: str, wheel: Path) -> None:
    """A new subpackage or data file must not be dropped without a word, as explicit lists do."""
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith(f"{package}/")}
    assert inside == tracked(package)
    assert f"{package}/py.typed" in inside


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    """Tests, docs and shelves stay at home: a top-level `tests` or `wrappers` would clash with other distributions."""
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(SHELVES)


def test_the_source_distribution_can_build_the_wheel_again(distributions: Path) -> None:
    """Distributions that repackage start from it."""
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {f"{SHELVES[package]}/{name}".removeprefix("./") for package in SHELVES for name in tracked(package)}
    assert needed | {"pyproject.toml", "setup.cfg", "LICENSE", "README.md"} <= names


def test_the_wheel_installs_into_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    """`pip install rolf` gives the command, the entry points and the licence."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    # Dependencies are looked at by the run on the wheel; here the distribution itself is.
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", str(wheel)], check=True)
    code = (
        "from importlib.metadata import distribution\n"
        "found = distribution('rolf')\n"
        "print(sorted(e.name for e in found.entry_points), found.metadata['License-Expression'])"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    told = subprocess.run(
        [python, "-c", code], check=True, capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert told.stdout.strip() == "['LineEnv-v1', 'TermEnv-v1', 'rolf', 'train'] Apache-2.0"


def test_every_import_is_a_requirement() -> None:
    """What happens to be installed here may be missing where a user is."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    required = {normal(requirement_name(one)) for one in project["dependencies"]}
    required |= {normal(requirement_name(one)) for name in ("pettingzoo", "audit") for one in extras[name]}
    providers = packages_distributions()
    undeclared = {
        root
        for package in ("rolf", "termgym", "linegym", "rolf_wrappers")  # an adapter imports its framework
        for root in imported(package)
        if root not in sys.stdlib_module_names and root not in SHELVES
        if not {normal(name) for name in providers.get(root, [])} & required
    }
    # A part of pydantic, released with it; what makes a data file that is shipped; what `rolf.strategies` names.
    assert undeclared - {"pydantic_core", "mpmath", "hypothesis"} == set()


def imported(package: str) -> set[str]:
    """Return the top-level modules that a package's files import, anywhere in them."""
    roots = set()
    for path in (CHECKOUT / SHELVES[package] / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                roots |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                roots.add(node.module.partition(".")[0])
    return roots


def test_the_lock_names_every_requirement() -> None:
    """A requirement without a tested version would float: CI could go red without a change."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    locked = {normal(line.partition("==")[0]) for line in (CHECKOUT / "constraints.txt").read_text().splitlines()}
    names = {normal(requirement_name(one)) for one in wanted} - {"rolf"}
    assert names - locked == set()


def requirement_name(requirement: str) -> str:
    end = next((i for i, c in enumerate(requirement) if not (c.isalnum() or c in "-_.")), len(requirement))
    return requirement[:end]


def normal(name: str) -> str:
    return name.strip().lower().replace("_", "-")
