"""Folders played for real: the solution succeeds, doing nothing does not, twice the same."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import gymnasium as gym
import pytest

import termgym
from rolf.environments import Verdict
from termgym.folders import debuggym, intercode, write_folder
from termgym.tasks import Task, families, make_task
from termgym.tasks.validation import validator

Where = Callable[[str], Path]
Validate = Callable[[Task | Path], Verdict]
FIXTURES = Path(__file__).parent / "fixtures"
WITHOUT_SOLUTION = frozenset({"harbor-no-solution", "bench-no-tests"})
CORNERS = ("harbor-graded", "harbor-steps-shared", "harbor-users", "harbor-compose-build", "bench-usual", "bench-keys")
OTHERS = sorted({path.name for path in FIXTURES.iterdir()} - WITHOUT_SOLUTION - set(CORNERS))


@pytest.fixture(scope="module")
def validate() -> Iterator[Validate]:
    with validator() as one:
        yield one


@pytest.mark.parametrize("name", [*CORNERS, *(pytest.param(name, marks=pytest.mark.nightly) for name in OTHERS)])
def test_a_fixture_is_fit_to_be_counted(name: str, folder: Where, validate: Validate) -> None:
    verdict = validate(folder(name))
    assert (verdict.problems, verdict.fault) == ((), "")


@pytest.mark.parametrize("name", sorted(WITHOUT_SOLUTION))
def test_without_a_solution_nothing_shows_that_it_can_be_solved(name: str, folder: Where, validate: Validate) -> None:
    verdict = validate(folder(name))
    assert verdict.problems == ("the task has no solution; nothing shows that it can be solved",)


def play(commands: list[str], **settings: Any) -> tuple[list[Any], float, dict[str, Any]]:
    """Return what the commands print, the reward of the submission, and what it tells."""
    env = gym.make("TermEnv-v1", disable_env_checker=True, **settings)
    try:
        env.reset(seed=0)
        said = [env.step(termgym.plan(command))[0]["stdout"] for command in commands]
        _, reward, _, _, info = env.step(termgym.submit())
        return said, float(reward), info
    finally:
        env.close()


def test_variables_user_and_directory_reach_the_agent(folder: Where) -> None:
    said, _, _ = play(["id -un; pwd; touch x && stat -c %U x"], task=folder("harbor-users"))
    assert said == ["worker\n/srv/work\nworker\n"]
    said, _, _ = play(['echo "$MODE $REGION"'], task=folder("harbor-variables"))
    assert said == ["test eu\n"]
    said, _, _ = play(['echo "$A, $B"; pwd'], task=str(folder("harbor-compose-main")))
    assert said == ["from compose, from toml\n/srv\n"]


def test_a_graded_reward_comes_through(folder: Where) -> None:
    _, reward, info = play(["echo other > /app/hello.txt"], task=folder("harbor-graded"), reward="success")
    assert (reward, info["success"]) == (0.5, False)
    assert info["verifier"]["rewards"] == {"reward": 0.5, "content": 0, "exists": 1}
    _, reward, info = play(["echo hello > /app/hello.txt"], task=folder("harbor-graded"), reward="success")
    assert (reward, info["success"]) == (1.0, True)


def test_neither_tests_nor_solution_can_be_seen_while_the_agent_works(folder: Where) -> None:
    said, _, _ = play(["ls -d /tests /solution /logs/verifier /oracle 2> /dev/null"], task=folder("harbor-minimal"))
    assert said == [""]


def test_a_directory_of_folders_is_played_by_seed(tmp_path: Path) -> None:
    for name in ("harbor-minimal", "harbor-limits"):
        copytree(FIXTURES / name, tmp_path / name)
    env = gym.make("TermEnv-v1", tasks=tmp_path, disable_env_checker=True)
    try:
        tasks = [env.reset(seed=0, options={"world_seed": seed})[1]["task"] for seed in (0, 1, 2)]
    finally:
        env.close()
    assert tasks == ["harbor-limits", "harbor-minimal", "harbor-limits"]


NEED_PROGRAMS = {"disk-full", "nohup-job", "port-in-use", "runaway-process", "service-does-not-start", "sqlite-repair"}
"""Families whose goal asks something of programs that still run: they end before the tests, so only as data."""


@pytest.mark.parametrize("family", [name for name in families() if name not in NEED_PROGRAMS])
@pytest.mark.nightly
def test_an_exported_task_is_fit_as_the_folder_that_it_is(family: str, validate: Validate, tmp_path: Path) -> None:
    check_exported(family, validate, tmp_path)


def test_an_exported_task_is_fit_as_a_folder_too(validate: Validate, tmp_path: Path) -> None:
    check_exported("config-edit", validate, tmp_path)


def check_exported(family: str, validate: Validate, tmp_path: Path) -> None:
    write_folder(make_task(family, 0), tmp_path / family)
    assert validate(tmp_path / family).valid  # as data
    with (tmp_path / family / "instruction.md").open("a") as file:
        file.write("\n")
    verdict = validate(tmp_path / family)  # edited: its Dockerfile, its tests, its solution
    assert (verdict.problems, verdict.fault) == ((), "")


LISTING = (
    "cd ~ && find . /srv -mindepth 1 ! -name '.bash*' ! -name .profile ! -type s -printf '%p %y %m %U %l %T@\\n' | sort"
)


def test_the_exported_image_begins_where_the_task_begins(tmp_path: Path) -> None:
    for family in ("git-dirty-pull", "link-structure", "key-modes"):
        here, _, _ = play([LISTING], task=family + "@5")
        write_folder(make_task(family, 5), tmp_path / family)
        with (tmp_path / family / "instruction.md").open("a") as file:
            file.write("\n")
        there, _, _ = play([LISTING], task=tmp_path / family)
        assert there == here, family
        assert here[0].count("\n") > 5


def fetch(requirement: str, *options: str, into: Path) -> Path:
    """Return a package from the registry, unpacked."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--ignore-requires-python", *options]
    subprocess.run([*command, "-d", str(into), requirement], check=True)
    (file,) = (path for path in into.iterdir() if path.is_file())
    with zipfile.ZipFile(file) if file.suffix == ".whl" else tarfile.open(file) as archive:
        archive.extractall(into / "unpacked")
    tops = list((into / "unpacked").iterdir())
    return tops[0] if len(tops) == 1 else into / "unpacked"


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_intercodes_queries_are_fit_to_be_counted(validate: Validate, tmp_path: Path) -> None:
    package = fetch("intercode-bench==0.1.22", into=tmp_path)
    verdicts = [validate(folder) for folder in intercode.bring(package, tmp_path / "made")]
    assert [verdict.task for verdict in verdicts if not verdict.valid] == []
    assert len(verdicts) == 24


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_debug_gyms_bugs_are_fit_to_be_counted(tmp_path: Path) -> None:
    package = fetch("debug-gym==1.3.0", "--no-binary=:all:", into=tmp_path)
    with validator(build_network=True) as validate:
        verdicts = [validate(folder) for folder in debuggym.bring(package, tmp_path / "made")]
    assert [verdict.task for verdict in verdicts if not verdict.valid] == []
    assert len(verdicts) == 10
