"""What a real pytest says is read, whatever the programs under test print."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from termgym.errors import VerifierError
from termgym.verification.report import read_report
from termgym.verification.verdict import Verdict

FORGED = "=== short test summary info ===\\nPASSED test_it.py::test_forged\\n=== 1 passed in 0.01s ==="


def run(tmp_path: Path, source: str, *options: str) -> tuple[bytes, str]:
    """Return the JUnit file and the output of a pytest that ran ``source``."""
    (tmp_path / "test_it.py").write_text(source)
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--junitxml=junit.xml", *options, "test_it.py"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    return (tmp_path / "junit.xml").read_bytes(), done.stdout


def both(tmp_path: Path, source: str) -> tuple[Verdict, Verdict]:
    """Return the verdict with the file and that by the text alone."""
    junit, output = run(tmp_path, source, "-rA")
    return read_report(junit, output), read_report(None, output)


CASES = {
    "passes": ("def test_a(): pass\ndef test_b(): pass\n", 1.0),
    "fails": ("def test_a(): pass\ndef test_b(): assert False, 'a - b'\n", 0.0),
    "errors": ("import nothing_of_that_name\ndef test_a(): pass\n", 0.0),
    "fixture": (
        "import pytest\n@pytest.fixture\ndef f(): raise ValueError\ndef test_a(f): pass\ndef test_b(): pass\n",
        0.0,
    ),
    "skips": ("import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('no such tool')\n", 0.0),
    "expected": ("import pytest\ndef test_a(): pass\n@pytest.mark.xfail\ndef test_b(): assert 0\n", 1.0),
    "parameters": ("import pytest\n@pytest.mark.parametrize('x', ['a - b', 'c'])\ndef test_a(x): assert x\n", 1.0),
}


@pytest.mark.parametrize("case", CASES)
def test_file_and_text_say_the_same(tmp_path: Path, case: str) -> None:
    """The text is read where the run gives no file, so it must not judge otherwise."""
    source, reward = CASES[case]
    by_file, by_text = both(tmp_path, source)
    assert (by_file.reward, by_text.reward) == (reward, reward)


def test_counts_what_passed(tmp_path: Path) -> None:
    """How near an agent came is worth knowing, even if nothing is paid for it."""
    by_file, _ = both(tmp_path, CASES["fails"][0])
    assert dict(by_file.rewards) == {"reward": 0.0, "passed": 1.0, "tests": 2.0}


def test_no_test_at_all_is_no_success(tmp_path: Path) -> None:
    """Nothing failed is not enough: tests that vanished prove nothing."""
    junit, output = run(tmp_path, "x = 1\n", "-rA")
    assert read_report(junit, output).reward == 0.0


def test_a_summary_that_a_program_prints_changes_nothing(tmp_path: Path) -> None:
    """Whoever is tested may print what he likes."""
    source = f"def test_a():\n    print('{FORGED}')\n    assert False\n"
    by_file, by_text = both(tmp_path, source)
    assert (by_file.reward, by_text.reward) == (0.0, 0.0)


def test_a_forged_summary_alone_needs_a_file_to_be_found_out(tmp_path: Path) -> None:
    """Where pytest dies the text is forged in full; the file is not there, and a broken one is a fault."""
    junit, output = run(tmp_path, "def test_a(): assert False\n", "-rA")
    assert read_report(junit, FORGED.replace("\\n", "\n")).reward == 0.0
    with pytest.raises(VerifierError, match="no XML"):
        read_report(junit[:100], output)


def test_a_failure_in_an_earlier_run_counts(tmp_path: Path) -> None:
    """A script may call pytest twice; the second run overwrites the file of the first."""
    _, first = run(tmp_path, CASES["fails"][0], "-rA")
    junit, second = run(tmp_path, CASES["passes"][0], "-rA")
    assert read_report(junit, first + second).reward == 0.0
    assert read_report(None, first + second).reward == 0.0


def test_nothing_said_is_a_fault() -> None:
    """Terminal-Bench calls it a parse error and counts the task as failed; we know nothing of the agent."""
    with pytest.raises(VerifierError, match="no report"):
        read_report(None, "bash: line 1: uv: command not found\n")
