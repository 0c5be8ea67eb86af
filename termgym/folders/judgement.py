"""Judge an InterCode query by its reference command: ``judge.py TESTS VERDICT``.

This file is copied into the folder of each query as tests/judge.py and runs with Python's own library alone. It takes
down what the agent left, makes /testbed anew, runs the reference there, and compares.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from typing import Any

TESTBED = "/testbed"
ANSWER = "/answer.txt"
LIMIT = 16 << 20
"""How much of a file is looked at [bytes]."""
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def read(path: str) -> bytes | None:
    """Return the content of a regular file, or None if it is none."""
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return file.read(LIMIT)


def lines(content: bytes, *, ordered: bool) -> list[list[str]]:
    """Return lines as words, without those that are empty; in order, or sorted where the order says nothing."""
    told = [line.split() for line in content.decode("utf-8", "replace").splitlines() if line.split()]
    return told if ordered else sorted(told)


def members(content: bytes) -> list[Any]:
    """Return the files of an archive with what they hold, whatever path leads up to the testbed."""
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            files = [each for each in archive.getmembers() if each.isfile()]
            return sorted((each.name.rpartition("testbed/")[2], _member(archive, each)) for each in files)
    except (tarfile.TarError, OSError, EOFError):
        return ["no archive"]


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    return "" if file is None else file.read(LIMIT).decode("latin-1")


def state(query: dict[str, Any]) -> dict[str, Any]:
    """Return what there is: names, kinds, contents and targets; times, modes and owners say nothing of a query."""
    found: dict[str, Any] = {}
    places = [os.path.join(top, name) for top, folders, files in os.walk(TESTBED) for name in (*folders, *files)]
    for path in [TESTBED, *places, *query["outside"]]:
        content = read(path)
        if os.path.islink(path):
            found[path] = ("link", os.readlink(path))
        elif os.path.isdir(path):
            found[path] = ("directory",)
        elif content is None:
            found[path] = ("other",) if os.path.lexists(path) else None
        elif path in query["archives"]:
            found[path] = ("archive", members(content))
        elif path in query["unordered_files"]:
            found[path] = ("lines", lines(content, ordered=False))
        else:
            found[path] = ("file", content.decode("latin-1"))
    return found


def expected(query: dict[str, Any], tests: str) -> bytes:
    """Make the testbed anew, run the reference, and return what it prints."""
    for path in (TESTBED, *query["outside"]):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
    for script in ("setup_fs.sh", "more.sh"):
        subprocess.run(["bash", os.path.join(tests, script)], check=True, env=ENV, cwd="/")
    ended = subprocess.run(["bash", "-c", query["reference"]], env=ENV, cwd="/", stdout=subprocess.PIPE, check=False)
    return ended.stdout


def main(tests: str, verdict: str) -> None:
    """Compare and write the verdict."""
    with open(os.path.join(tests, "query.json"), encoding="utf-8") as file:
        query = json.load(file)
    said, left = read(ANSWER), state(query)
    wanted = expected(query, tests)
    ordered = query["ordered"]
    answer = said is not None and lines(said, ordered=ordered) == lines(wanted, ordered=ordered)
    files = left == state(query)
    print(f"answer {'as wanted' if answer else 'differs'}, files {'as wanted' if files else 'differ'}")
    os.makedirs(os.path.dirname(verdict), exist_ok=True)
    with open(verdict, "w", encoding="utf-8") as file:
        json.dump({"reward": float(answer and files), "answer": float(answer), "files": float(files)}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
