"""Packages that are at hand for verifiers, and which of them meet what was asked for.

This runs in the image, by whatever Python that has (3.8 or newer), with the standard library alone. What cannot be
served is written down where the verdict is read from: then the verdict is a fault of the machinery, whatever it says.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, NamedTuple, NoReturn

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOGS = os.environ.get("ROLF_TOOLS_LOG", "/logs/verifier")
UNSERVED, VERSIONS = "unserved.txt", "versions.txt"
LENIENT = ("pytest", "pytest-json-ctrf")
"""Whose version may be another than asked for: verifiers pin these out of habit. The version that ran is told."""


class Requirement(NamedTuple):
    """A package that is asked for."""

    name: str
    condition: str
    """On its version; empty: none."""


def unserved(what: str) -> NoReturn:
    """Write down what cannot be served, and end."""
    with open(os.path.join(LOGS, UNSERVED), "a") as file:
        file.write(what + "\n")
    print(f"rolf: there is no network here, and this cannot be served without: {what}", file=sys.stderr)
    sys.exit(97)


def _note(lines: list[str]) -> None:
    with open(os.path.join(LOGS, VERSIONS), "a") as file:
        file.writelines(line + "\n" for line in lines)


def shelf() -> dict[str, dict[str, Any]]:
    """Return the packages by name: version, directory, what they need, their scripts."""
    with open(os.path.join(HERE, "packages.json")) as file:
        packages: dict[str, dict[str, Any]] = json.load(file)
    return packages


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(text: str) -> Requirement:
    """Return the name and the version condition of ``pytest==8.4.1``, ``pytest[x]>=8``, ``pytest@8``."""
    found = re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*\])?\s*@?\s*([^;#]*)", text)
    if found is None or "/" in text:
        unserved(f"package {text!r}")
    return Requirement(_normal(found.group(1).rstrip("-.")), found.group(2).strip())


def wanted(requirements: list[Requirement]) -> list[str]:
    """Return the directories of packages that meet the requirements, with all that they need themselves."""
    stock = shelf()
    chosen: list[str] = []
    told: list[str] = []
    todo = list(requirements)
    while todo:
        name, condition = todo.pop(0)
        if name in chosen or name in ("pip", "setuptools", "wheel", "uv"):
            continue
        entry = stock.get(name)
        if entry is None or not (name in LENIENT or meets(entry["version"], condition)):
            unserved(f"package {name}{condition}" + (f" (here is {entry['version']})" if entry else ""))
        if sys.version_info < tuple(entry["python"]):
            asked = ".".join(map(str, entry["python"]))
            have = f"{sys.version_info[0]}.{sys.version_info[1]}"
            unserved(f"package {name} {entry['version']} needs Python {asked}, the image has {have}")
        chosen.append(name)
        told.append(f"{name} {entry['version']}" + (f" (asked for {condition})" if condition else ""))
        todo += [Requirement(each, "") for each in entry["requires"]]
    _note(told)
    return chosen


def meets(version: str, condition: str) -> bool:
    """Return whether a version meets ``>=1,<2`` and the like."""
    for each in condition.split(","):
        found = re.match(r"\s*(===|==|~=|>=|<=|!=|>|<)?\s*([\w.*+!-]+)\s*$", each) if each.strip() else None
        if each.strip() and (found is None or not _compare(version, found.group(1) or "==", found.group(2))):
            return False
    return True


def _compare(version: str, operator: str, bound: str) -> bool:
    have, want = _numbers(version), _numbers(bound)
    if bound.endswith(".*") or operator == "~=":
        prefix = want if bound.endswith(".*") else want[:-1]
        inside = have[: len(prefix)] == prefix
        return not inside if operator == "!=" else inside and (operator != "~=" or have >= want)
    length = max(len(have), len(want))
    have, want = have + [0] * (length - len(have)), want + [0] * (length - len(want))
    results = {"==": have == want, "===": have == want, "!=": have != want, ">=": have >= want, "<=": have <= want}
    return results.get(operator, have > want if operator == ">" else have < want)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version.split("+")[0])]
