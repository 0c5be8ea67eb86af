"""debug-gym: the ten small bugs of its source distribution (microsoft/debug-gym, MIT), as Harbor folders.

Nothing of theirs is kept here. The folders are made from the unpacked distribution: the program and its tests as they
are, the instruction that debug-gym gives, and a verifier that runs the tests as they were before the agent came. The
reward is the share of tests that pass, as there. They come without solutions; ours are below, as edits.

Two of the ten need what the distribution lacks: ``patcher`` reads a text that its tests quote in full, and
``pandas_dataframe`` a table from the network; a made-up one with the column and the median that its test asks for
stands in, and the program reads it from a file.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import tomlkit

from termgym.errors import FolderError
from termgym.folders.source import read_source
from termgym.folders.trees import put

Edit = tuple[str, str]
"""Text of the program, and what takes its place."""

PLACES = ("", "data/mini_nightmare", "mini_nightmare")
"""Where below a given directory the ten may lie."""
INSTRUCTION = """\
The program in /app doesn't behave as intended. Investigate it, figure out the root cause, then edit the code to fix the
issue. Beware that the bug may not be in the code you initially see.

`python3 -m pytest test.py`, run in /app, shows what is wrong; test.py itself is right and will be put back.
"""
SOLUTIONS: Mapping[str, tuple[Edit, ...]] = {
    "config": (
        (
            "        self._config = config_dict or {}\n",
            "        self._config = config_dict or {}\n        self._cache = {}\n",
        ),
        (
            "        self._config[name] = value",
            "        self._config[name] = value\n        self._cache.pop(name, None)",
        ),
    ),
    "counter": (
        (
            "            if self._count == local_value:\n",
            "            local_value, new_value = self._count, self._count + 1\n"
            "            if self._count == local_value:\n",
        ),
    ),
    "grader": (
        (
            "if all(grade >= threshold for grade in grades)",
            "if len(grades) == len(self.class_data) and all(grade >= threshold for grade in grades)",
        ),
    ),
    "pandas_dataframe": (("df['Price']", "df['Fare']"),),
    "patcher": (
        (
            '        return "", head, tail\n',
            "        if not 0 <= head <= tail:\n"
            '            return "SyntaxError: invalid syntax.", None, None\n'
            '        return "", head, tail\n',
        ),
    ),
    "purr": (("if self.hunger > 10:", "if 10 < self.hunger <= 20:"),),
    "scientific_calculator": (
        ("    action_str = ", "    action = "),
        (
            "        number_1, number_2 = numbers.split()\n",
            "        if len(numbers.split()) != 2:\n"
            '            return "SyntaxError: invalid syntax."\n'
            "        number_1, number_2 = numbers.split()\n",
        ),
    ),
    "shopping_cart": (
        (
            "        self.total += price * quantity\n",
            "        self.total += price * quantity * (100 - self.discounts.get(item, 0)) / 100\n",
        ),
        ("return round(self.total, 2)", "return round(self.total + 1e-9, 2)"),
    ),
    "sum_tree": (
        (
            "def build_sum_tree(root):\n    if not root:\n",
            "def build_sum_tree(root, seen=None):\n"
            "    seen = set() if seen is None else seen\n"
            "    if not root or root in seen:\n",
        ),
        (
            "    left_sum = build_sum_tree(root.left)",
            "    seen.add(root)\n    left_sum = build_sum_tree(root.left, seen)",
        ),
        ("build_sum_tree(root.right)", "build_sum_tree(root.right, seen)"),
        (
            "def print_tree(node, level=0):\n",
            "def print_tree(node, level=0, seen=None):\n    seen = set() if seen is None else seen\n",
        ),
        ("    if node:\n", "    if node and node not in seen:\n        seen.add(node)\n"),
        ("print_tree(node.left, level + 1)", "print_tree(node.left, level + 1, seen)"),
        ("print_tree(node.right, level + 1)", "print_tree(node.right, level + 1, seen)"),
    ),
    "tomorrow_date": (
        ("from datetime import datetime\n", "from datetime import datetime, timedelta\n"),
        ("self.date_plus_one(today)", "today + timedelta(days=1)"),
    ),
}
TEST = """\
#!/bin/bash
# Run the tests as they were before the agent came; the reward is the share that passes.
python3 -m pytest --version > /dev/null 2>&1 || pip install pytest
cp /tests/test.py /app/test.py
cd /app || exit 1
alone="--noconftest -c /dev/null --rootdir=/app -p no:cacheprovider"
python3 -m pytest $alone --junitxml=/logs/verifier/junit.xml test.py
python3 -I /tests/count.py /logs/verifier/junit.xml {total} > /logs/verifier/reward.json
"""
COUNT = '''\
"""Print the reward: how many of all tests passed, by pytest's report; without one none did."""

import json
import sys
import xml.etree.ElementTree as tree

path, total = sys.argv[1], int(sys.argv[2])
try:
    cases = list(tree.parse(path).getroot().iter("testcase"))
except (OSError, tree.ParseError):
    cases = []
passed = sum(not any(child.tag in ("failure", "error", "skipped") for child in case) for case in cases)
reward = min(passed, total) / total if len(cases) <= total else 0.0
print(json.dumps({"reward": reward, "passed": min(passed, total), "total": total}))
'''
FARES = "PassengerId,Fare\n1,7.25\n2,14.4542\n3,71.2833\n"
"""Made up; the median is the one that the test asks for."""


def bring(source: Path, target: Path) -> Iterator[Path]:
    """Write a folder for each of the ten bugs and yield where.

    Args:
        source: The unpacked source distribution, or the directory of the ten.
        target: Where the folders go.

    Raises:
        FolderError: the bugs do not lie there, or are not those that the solutions are for.
    """
    top = next((source / place for place in PLACES if (source / place / "config" / "config_code.py").is_file()), None)
    if top is None:
        raise FolderError(
            f"{source}: holds no data/mini_nightmare/config; give the unpacked sdist of debug-gym "
            "(pip download --no-deps --no-binary debug-gym debug-gym==1.3.0, then tar xf)"
        )
    for name in SOLUTIONS:
        folder = target / name.replace("_", "-")
        if folder.exists():
            raise FolderError(f"{folder}: is there already; give another directory")
        _write(name, top / name, folder)
        yield folder


def _write(name: str, source: Path, folder: Path) -> None:
    test = read_source(source / "test.py").text
    programs = {path.name: read_source(path).text for path in sorted(source.glob("*.py")) if path.name != "test.py"}
    files = {**programs, "test.py": test, **{path.name: read_source(path).text for path in source.glob("*.txt")}}
    packages = ""
    if name == "patcher":
        files.setdefault("source_code.txt", _quoted(test))
    if name == "pandas_dataframe":
        packages = "RUN python3 -c 'import pandas' 2> /dev/null || pip install pandas\n"
        files["titanic.csv"] = FARES
        files[f"{name}_code.py"] = _with_a_file(files[f"{name}_code.py"])
    for file, text in files.items():
        put(folder / "environment" / "app" / file, text)
    dockerfile = f"FROM python:3.12-slim\n{packages}COPY app/ /app/\nWORKDIR /app\n"
    put(folder / "environment" / "Dockerfile", dockerfile)
    put(folder / "instruction.md", INSTRUCTION)
    put(folder / "tests" / "test.sh", TEST.format(total=_count(test)), runs=True)
    put(folder / "tests" / "test.py", test)
    put(folder / "tests" / "count.py", COUNT)
    put(folder / "solution" / "solve.sh", "#!/bin/bash\nexec python3 /solution/edit.py\n", runs=True)
    put(folder / "solution" / "edit.py", _editor(name, files[f"{name}_code.py"], source))
    put(folder / "task.toml", tomlkit.dumps(_table(name)))


def _table(name: str) -> dict[str, object]:
    metadata = {"tags": ["debugging", "python"], "origin": "debug-gym 1.3.0 (MIT), mini_nightmare", "name": name}
    if name == "pandas_dataframe":
        metadata["amended"] = "the table from the network is replaced by a made-up one with the same column and median"
    return {"schema_version": "1.4", "metadata": metadata, "verifier": {"timeout_sec": 120.0}}


def _editor(name: str, program: str, source: Path) -> str:
    """Return the program that makes the edits of a solution.

    Raises:
        FolderError: the program is another one.
    """
    missing = [old for old, _ in SOLUTIONS[name] if old not in program]
    if missing:
        raise FolderError(f"{source}: {name}_code.py has no {missing[0]!r}; the solutions are for debug-gym 1.3.0")
    edits = json.dumps(SOLUTIONS[name], indent=1)
    return (
        f'"""Mend {name}."""\n\nfrom pathlib import Path\n\nprogram = Path("/app/{name}_code.py")\n'
        f"text = program.read_text()\nfor old, new in {edits}:\n    text = text.replace(old, new)\n"
        "program.write_text(text)\n"
    )


def _count(test: str) -> int:
    """Return how many tests a file holds."""
    nodes = ast.walk(ast.parse(test))
    return sum(isinstance(node, ast.FunctionDef) and node.name.startswith("test") for node in nodes)


def _quoted(test: str) -> str:
    """Return the text that the tests of ``patcher`` read, put together from what they expect of its parts."""
    expected = [
        node.value.value
        for node in ast.walk(ast.parse(test))
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "expected_output"
        and isinstance(node.value, ast.Constant)
    ]
    first, second = (str(text).split("\n") for text in expected[:2])
    return "\n".join([*first[:3], *second[3:]])


def _with_a_file(program: str) -> str:
    start, end = program.index('url = "'), program.index('"\n', program.index('url = "'))
    return f'{program[:start]}url = "titanic.csv{program[end:]}'
