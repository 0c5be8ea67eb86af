"""Report: what a run of pytest found, for Terminal-Bench 1, whose verifiers write no reward.

Terminal-Bench 0.2.18 reads the summary that pytest printed (terminal_bench/parsers/pytest_parser.py), and so the output
of a program under test too. We ask pytest for a JUnit file beside it, at a place that nobody knows before, and
read the text only where there is none. Where both speak, both must be content.

One difference is meant: a skipped test is no pass. The agent decides whether what a test needs is there.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

from termgym.errors import VerifierError
from termgym.verification.verdict import REWARD, Verdict

_HEADING = re.compile(r"=+\s*short test summary info\s*=+", re.IGNORECASE)
_CLOSING = re.compile(r"=+ .*\b(passed|failed|error|errors|skipped|xfailed|xpassed|no tests ran)\b.* =+\s*$")
_LINE = re.compile(r"(PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR):?\s+(\S.*)$")
_PASSES = ("PASSED", "XFAIL")
_FAILURES = ("FAILED", "ERROR")


def read_report(junit: bytes | None, output: str) -> Verdict:
    """Return 1 if there are tests and every one of them passed, else 0, and how many passed.

    Raises:
        VerifierError: neither pytest nor its output says what came of the tests.
    """
    told = _summary(output)
    if junit is not None:
        counted = _counted(junit)
        failed_in_text = any(status in _FAILURES for status in told.values())
        return _verdict(counted, spoilt=failed_in_text)
    if not told:
        raise VerifierError(
            "the tests left no report and no 'short test summary info': pytest did not run to its end; "
            "look at info['verifier']['output']"
        )
    return _verdict({name: status in _PASSES for name, status in told.items()})


def _verdict(passed: Mapping[str, bool], *, spoilt: bool = False) -> Verdict:
    every = bool(passed) and all(passed.values()) and not spoilt
    return Verdict({REWARD: float(every), "passed": float(sum(passed.values())), "tests": float(len(passed))})


def _counted(junit: bytes) -> dict[str, bool]:
    """Return each test of a JUnit file and whether it passed."""
    if b"<!DOCTYPE" in junit:  # pytest writes none; it could be made to grow without end
        raise VerifierError("the report of pytest declares a document type, which pytest never does")
    try:
        root = ElementTree.fromstring(junit)
    except ElementTree.ParseError as error:
        raise VerifierError(f"the report of pytest is no XML ({error}); it was ended while it wrote") from None
    passed: dict[str, bool] = {}
    for case in root.iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        passed[name] = passed.get(name, True) and not any(_spoils(each) for each in case)
    return passed


def _spoils(entry: ElementTree.Element) -> bool:
    if entry.tag == "skipped":
        return entry.get("type") != "pytest.xfail"  # expected to fail, and did
    return entry.tag in ("failure", "error")


def _summary(output: str) -> dict[str, str]:
    """Return the lines of pytest's summaries: test -> status.

    Every summary is read and each up to its closing line, for a run may call pytest several times.
    """
    told: dict[str, str] = {}
    inside = False
    for line in output.splitlines():
        if _HEADING.search(line):
            inside = True
        elif inside and _CLOSING.match(line.strip()):
            inside = False
        elif inside and (found := _LINE.match(line)):
            status, rest = found.groups()
            name = rest.split(" - ", 1)[0].strip()
            if told.get(name) not in _FAILURES:  # an earlier run may have called it by the same name
                told[name] = status
    return told
