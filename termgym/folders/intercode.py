"""InterCode: its 24 bash queries (princeton-nlp/intercode, MIT), as Harbor folders.

Nothing of theirs is kept here. The folders are made from the package: its script that makes /testbed, its queries, and
its reference commands but for those that `queries` replaces and says why. A few files are added to /testbed, so that
no query about links, errors or dates has an empty answer; and the verifier makes /testbed anew, runs the reference and
compares: what it prints with /answer.txt, the files that it leaves with the agent's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tomlkit

from termgym.errors import FolderError
from termgym.folders import judgement
from termgym.folders.queries import QUERIES, Query
from termgym.folders.source import Source, read_source
from termgym.folders.trees import put

DATA = "assets/datasets/bash_queries.json"
SETUP = "assets/docker/setup_fs.sh"
PLACES = ("", "intercode", "site-packages/intercode")
"""Where below a given directory the package may lie."""
MORE = """\
# What InterCode's testbed lacks: links, a word that a query asks for, and dates that no clock changes.
ln -s /testbed/dir2/subdir1/textfile2.txt /testbed/dir1/second.txt
ln -s /testbed/dir1/textfile1.txt /testbed/dir3/first.txt
printf 'started\\nerror: no space left\\nstopped\\n' > /testbed/dir2/app.log
printf 'error\\n' > /testbed/dir3/subdir2/last.log
find /testbed -depth -exec touch -h -d 2024-01-01T00:00:00Z {} +
find /testbed/dir2 -type f -exec touch -d 2025-09-01T00:00:00Z {} +
"""
DOCKERFILE = """\
FROM debian:bookworm-slim
RUN { command -v jq && command -v python3; } > /dev/null || { apt-get update && apt-get install -y jq python3; }
COPY setup_fs.sh more.sh /opt/
RUN bash /opt/setup_fs.sh && bash /opt/more.sh && rm /opt/setup_fs.sh /opt/more.sh
WORKDIR /
"""
INSTRUCTION = """\
{query}.

{form}

You start in /. Save what your final command prints to /answer.txt; where it prints nothing, leave that file empty.
Change nothing below /testbed but what is asked for.
"""
TEST = "#!/bin/bash\nexec python3 -I /tests/judge.py /tests /logs/verifier/reward.json\n"
SOLVE = "#!/bin/bash\ncd /\n{{\n{reference}\n}} > /answer.txt\n"


def bring(source: Path, target: Path) -> Iterator[Path]:
    """Write a folder for each of the 24 queries and yield where.

    Args:
        source: The unpacked or installed package of InterCode.
        target: Where the folders go.

    Raises:
        FolderError: the package does not lie there, or is another version.
    """
    top = next((source / place for place in PLACES if (source / place / DATA).is_file()), None)
    if top is None:
        raise FolderError(
            f"{source}: holds no {DATA}; give the unpacked package "
            "(pip download --no-deps intercode-bench==0.1.22, then unzip)"
        )
    data, setup = read_source(top / DATA), read_source(top / SETUP, script=True)
    for number, (told, query) in enumerate(zip(_queries(data), QUERIES, strict=True), start=1):
        folder = target / f"intercode-bash-{number:02d}"
        if folder.exists():
            raise FolderError(f"{folder}: is there already; give another directory")
        _write(told, query, setup.text, folder)
        yield folder


def _queries(data: Source) -> list[dict[str, str]]:
    try:
        told = json.loads(data.text)
    except ValueError as error:
        raise data.fault(f"is no JSON: {error}") from None
    if not isinstance(told, list) or len(told) != len(QUERIES):
        raise data.fault(f"does not hold {len(QUERIES)} queries; they are made for intercode-bench 0.1.22")
    for each, query in zip(told, QUERIES, strict=True):
        if query.said[0] not in each["query"]:
            raise data.fault(f"{each['query']!r} does not say {query.said[0]!r}: is it intercode-bench 0.1.22?")
    return told


def _write(told: dict[str, str], query: Query, setup: str, folder: Path) -> None:
    reference = query.reference or told["gold"]
    text = told["query"].rstrip(".").replace(*query.said) if query.said[0] else told["query"].rstrip(".")
    put(folder / "task.toml", tomlkit.dumps(_table(told, query)))
    put(folder / "instruction.md", INSTRUCTION.format(query=text, form=query.form))
    put(folder / "environment" / "Dockerfile", DOCKERFILE)
    for directory in ("environment", "tests"):
        put(folder / directory / "setup_fs.sh", setup)
        put(folder / directory / "more.sh", MORE)
    put(folder / "tests" / "test.sh", TEST, runs=True)
    put(folder / "tests" / "judge.py", Path(judgement.__file__).read_text())
    put(folder / "tests" / "query.json", json.dumps({**asdict(query), "reference": reference}, indent=1) + "\n")
    put(folder / "solution" / "solve.sh", SOLVE.format(reference=reference), runs=True)


def _table(told: dict[str, str], query: Query) -> dict[str, Any]:
    metadata = {"tags": ["bash", "one-liner"], "origin": "intercode-bench 0.1.22 (MIT)", "query": told["query"]}
    if query.reference:
        metadata |= {"gold": told["gold"], "amended": query.why}
    return {"schema_version": "1.4", "metadata": metadata, "verifier": {"timeout_sec": 60.0}}
