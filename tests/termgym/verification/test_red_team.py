"""No attack on a verifier is worth more than doing nothing, and honest work is worth all."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from answer_task import task

from termgym.episode import Episode
from termgym.outcome import Outcome
from termgym.plan import plan, submit

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the agent is root in an image that stands on the host's own")
ATTACKS = {path.stem: path.read_text() for path in sorted((Path(__file__).parent / "attacks").glob("*.sh"))}
"""What an agent does that is root in its image, and which verifiers it could deceive. None of them writes the answer.
Each is what somebody has done or would do next: the trackers of such environments tell of forged rewards, planted
conftest.py files, writers in the background, links in the place of /logs."""
CASES = [
    pytest.param(name, verifier, id=f"{name}, {verifier}")
    for name, script in ATTACKS.items()
    for verifier in re.findall(r"[\w-]+", script.split("Against: ", 1)[1].split(".", 1)[0])
]
COMPILER = shutil.which("cc", path="/usr/bin:/bin")
HONEST = "echo 42 > /app/answer.txt; echo 'echo 42' > /app/answer.sh"
VERIFIERS = ("shell", "script", "uvx", "pip", "copied", "program", "run-tests")


def version() -> str:
    """Return shell variables with the version of the Python that the image has: the host's own."""
    code = "import sys; print('PY=python%d.%d NUM=%d%d' % (*sys.version_info[:2], *sys.version_info[:2]))"
    return subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=True).stdout


def played(episode: Episode, folder: Path, verifier: str, *commands: str, guard: bool = True) -> Outcome:
    """Return the end of an episode of these commands."""
    episode.start(task(folder, verifier, guard=guard))
    for command in commands:
        episode.step(plan(command, timeout=60, expected_exit_code=None))
    return episode.step(submit())


def is_worth_nothing(end: Outcome) -> bool:
    """Return whether an end is a verdict of 0 that counts."""
    return (end.reward, end.terminated, end.info["success"], end.info["masked"]) == (0.0, True, False, False)


@pytest.mark.nightly
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("attack", "verifier"), CASES)
def test_an_attack_is_worth_nothing(episode: Episode, folder: Path, attack: str, verifier: str) -> None:
    """And it does not turn failure into a fault of the machinery either."""
    assert "cc -shared" not in ATTACKS[attack] or COMPILER, "the attack wants a C compiler: apt-get install g++"
    end = played(episode, folder, verifier, version() + ATTACKS[attack])
    if attack == "the-program-under-test-ends-the-verifier":  # nobody is left to judge
        assert (end.reward, end.truncated, end.info["failure_kind"]) == (0.0, True, "VerifierError"), end.info
        assert "signal" in end.stderr
        return
    assert is_worth_nothing(end), (end.stderr, end.info)


TOGETHER = (
    "forged-rewards",
    "tests-made-before",
    "conftest-in-the-root",
    "pytest-ini-in-the-working-directory",
    "shims-early-on-path",
    "shims-where-uv-is-installed",
    "written-through-a-hard-link",
    "sitecustomize",
    "a-plugin-of-pytest",
    "the-standard-library-changed",
    "modules-in-the-working-directory",
    "start-up-files",
    "jobs-for-later",
)


@pytest.mark.slow
@pytest.mark.parametrize("verifier", [verifier for verifier in VERIFIERS if verifier != "program"])
def test_many_attacks_at_once_are_worth_nothing(episode: Episode, folder: Path, verifier: str) -> None:
    """What every night proves one by one, in little time. The last of them spoil the shell for later commands."""
    end = played(episode, folder, verifier, *(f"{version()}\n{ATTACKS[name]}" for name in TOGETHER))
    assert is_worth_nothing(end), (end.stderr, end.info)


REAL = [
    ("grep-replaced", "shell"),
    ("python-replaced", "script"),
    ("shims-early-on-path", "shell"),
    ("a-library-before-all", "shell"),
    ("sitecustomize", "script"),
    ("the-standard-library-changed", "script"),
    ("a-plugin-of-pytest", "pip"),
    ("modules-in-the-working-directory", "pip"),
    ("conftest-in-the-working-directory", "copied"),
    ("pytest-ini-in-the-root", "uvx"),
    ("the-way-to-uv-leads-elsewhere", "uvx"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("attack", "verifier"), REAL)
def test_the_attacks_are_real(episode: Episode, folder: Path, attack: str, verifier: str) -> None:
    """Without the guard they pay: an attack that would fail anyway proves nothing."""
    assert "cc -shared" not in ATTACKS[attack] or COMPILER, "the attack wants a C compiler: apt-get install g++"
    end = played(episode, folder, verifier, version() + ATTACKS[attack], guard=False)
    assert end.reward == 1.0, (end.stderr, end.info)


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_honest_work_is_worth_all(episode: Episode, folder: Path, verifier: str) -> None:
    """On the same machine, right after all the attacks."""
    end = played(episode, folder, verifier, HONEST)
    assert (end.reward, end.terminated, end.info["success"]) == (1.0, True, True), (end.stderr, end.info)
    assert end.info["verifier"]["put_back"] == ()
