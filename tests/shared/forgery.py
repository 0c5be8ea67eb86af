"""Forgery: change a submission as somebody would who wants a better place, and knows all of its digests."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rolf.evaluation import rows
from rolf.evaluation.origin import measure
from rolf.evaluation.recording import read
from rolf.variant import Variant

Change = Callable[[Any], Any]


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def edit(path: Path, **values: Any) -> None:
    """Set keys of a JSON file; ``a__b`` is key b of the object a."""
    plain = load(path)
    for name, value in values.items():
        *parents, key = name.split("__")
        inside = plain
        for parent in parents:
            inside = inside[parent]
        inside[key] = value
    path.write_text(json.dumps(plain))


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_bytes().splitlines()]


def write_rows(folder: Path, plain: list[Mapping[str, Any]] | list[dict[str, Any]]) -> None:
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in plain))


def edit_row(folder: Path, number: int, **values: Any) -> None:
    plain = read_rows(folder)
    plain[number] |= values
    write_rows(folder, plain)


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def edit_line(folder: Path, trajectory: str, number: int, **values: Any) -> None:
    """Set keys of a line of a trajectory, counted from 0 and from the end."""
    path = folder / "trajectories" / trajectory
    lines = read_lines(path)
    lines[number] |= values
    write_lines(path, lines)


def reseal(folder: Path) -> None:
    """Make every number and every digest follow from the trajectories as they are now, as a clever forger does."""
    plain = read_rows(folder)
    for row in plain:
        if not row["trajectory"]:
            continue
        recorded = read(folder / "trajectories" / row["trajectory"])
        measured = measure(Variant(recorded.env_id, recorded.kwargs), recorded.ending)
        row |= {
            "steps": len(recorded.actions),
            "episode_return": math.fsum(recorded.ending.rewards),
            "success": measured.success,
            "score": measured.score,
            "measures": dict(measured.measures),
            "state_digest": recorded.state_digest,
            "trajectory_digest": recorded.digest,
        }
    write_rows(folder, plain)
    reseal_rows(folder)


def reseal_rows(folder: Path) -> None:
    """Make submission.json follow from the rows and the lock as they are now."""
    episodes = [rows.from_json(row) for row in read_rows(folder)]
    edit(
        folder / "submission.json",
        summary=rows.summary(episodes),
        results_sha256=rows.results_digest(episodes),
        lock_sha256=hashlib.sha256((folder / "lock.json").read_bytes()).hexdigest(),
    )
