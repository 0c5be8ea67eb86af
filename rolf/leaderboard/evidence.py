"""Evidence: the trajectories of a submission, read within bounds and held against its rows, one episode at a time."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rolf.evaluation.episode import Ending, Measured
from rolf.evaluation.malformed import malformed_steps
from rolf.evaluation.recording import Recorded, of_actions, of_steps
from rolf.leaderboard import intake
from rolf.leaderboard.contest import Contest
from rolf.leaderboard.history import Histories
from rolf.leaderboard.problem import Problems
from rolf.leaderboard.rows import FILE, TRAJECTORY
from rolf.leaderboard.submission import Row
from rolf.leaderboard.world import World, made_out, world
from rolf.output import SUFFIX
from rolf.trajectory import FORMAT, Line, Trajectory, TrajectoryError
from rolf.variant import Variant


class Evident(Protocol):
    """What says where its trajectory is: a row, or a sample."""

    @property
    def trajectory(self) -> str:
        """File in `trajectories`, with `#N` its line where it holds several."""


Found = TypeVar("Found", bound=Evident)
Numbered = tuple[int, Row]
"""A row with its line in results.jsonl."""
STEPS = 1_000_000
"""Most steps that are read of an episode."""
UNMEASURABLE = ArithmeticError, AttributeError, LookupError, TypeError, ValueError
"""What measuring an ending raises that no environment has told."""


class Evidence:
    """Looks at one episode after the other.

    Args:
        found: What was to be played, and what makes numbers of an ending.
        packages: Versions that lock.json names.
        deterministic: Whether the policy is said to go the same way in the same world.
        problems: Gets what is wrong.
    """

    def __init__(self, found: Contest, packages: Mapping[str, str], deterministic: bool, problems: Problems) -> None:
        self._found = found
        self._packages = packages
        self._histories = Histories() if deterministic else None
        self._problems = problems
        self.good: list[Numbered] = []
        """Rows with nothing wrong in them."""
        self.twins: dict[bytes, list[Numbered]] = {}
        """Good rows by what was done and what came of it, whatever the world and its seed."""

    def examine(self, numbered: Numbered, recorded: Recorded) -> None:
        """Hold an episode against its row."""
        before = len(self._problems)
        variant = self._found.split.variants[numbered[1].index]
        self._origin(numbered, recorded, variant)
        self._whole(numbered[1], recorded)
        self._numbers(numbered, recorded, variant)
        if self._histories is not None and recorded.steps is not None:
            self._histories.follow(numbered[1].trajectory, recorded, self._problems)
        if len(self._problems) == before and not numbered[1].fault:
            self.good.append(numbered)
            self.twins.setdefault(_essence(recorded), []).append(numbered)

    def _origin(self, numbered: Numbered, recorded: Recorded, variant: Variant) -> None:
        """Compare what was played with what was to be played."""
        row, asked = numbered[1], world(variant)
        stepped = recorded.kind == "steps"
        kwargs = asked.settings if stepped else asked.kwargs
        wrappers = made_out(variant) if stepped else asked.wrappers
        pairs: list[tuple[str, Any, Any]] = [
            ("env_id", recorded.env_id, asked.env_id),
            ("kwargs", recorded.kwargs, kwargs),
            ("wrappers", list(recorded.wrappers), wrappers),
            ("seed", recorded.seed, variant.attempt_seed(row.attempt)),
        ]
        if recorded.header is not None and recorded.steps is not None:
            pairs += _header_pairs(recorded.header, asked)
            pairs += [("options", recorded.steps[0].content.get("options"), None)]
            self._same_packages(row, recorded.header)
        for field, got, expected in pairs:
            if not _same(got, expected):
                self._wrong(
                    row,
                    f"{field!r} is not what the split says for variant {row.index}, attempt {row.attempt}",
                    got=got,
                    expected=repr(expected),
                    advice="evaluate with `rolf eval`, and hand in what it wrote",
                )

    def _same_packages(self, row: Row, header: Mapping[str, Any]) -> None:
        told = header.get("packages")
        if not isinstance(told, dict):
            self._wrong(row, "'packages' is no object", got=told)
            return
        for name in sorted(told.keys() & self._packages.keys()):
            if told[name] != self._packages[name]:
                self._wrong(
                    row,
                    f"it was recorded with another {name!r} than lock.json says",
                    got=told[name],
                    expected=repr(self._packages[name]),
                    advice="play all episodes with the same packages; `rolf eval` wrote the lock",
                )

    def _whole(self, row: Row, recorded: Recorded) -> None:
        """Check that it is one episode, from its beginning to its end."""
        if not (recorded.ending.terminated or recorded.ending.truncated or row.fault):
            self._wrong(row, "the episode has not ended", advice="play it to its end")
        for line in recorded.steps or ():
            wrong = _misshapen(line, last=recorded.steps is not None and line is recorded.steps[-2], fault=row.fault)
            if wrong:
                self._wrong(row, wrong, line=line.number, advice="hand in what `rolf eval` recorded")

    def _numbers(self, numbered: Numbered, recorded: Recorded, variant: Variant) -> None:
        """Compute every number of a row from its trajectory."""
        line, row = numbered
        rewards = recorded.ending.rewards
        if not all(map(math.isfinite, rewards)):
            self._wrong(row, "a reward is no finite number", expected="finite rewards")
            return
        measured = self._measured(row, recorded.ending, variant)
        if measured is None:
            return
        told: dict[str, tuple[Any, Any]] = {
            "steps": (row.steps, len(rewards)),
            "episode_return": (row.episode_return, math.fsum(rewards)),
            "state_digest": (row.state_digest, recorded.state_digest),
            "trajectory_digest": (row.trajectory_digest, recorded.digest),
            "malformed": (row.malformed, malformed_steps(recorded)),
        }
        broken_off = not (recorded.ending.terminated or recorded.ending.truncated)
        if row.fault and not measured.fault and broken_off:
            measured = replace(measured, fault=row.fault)  # the machine failed with an error, in place of an answer
        told["fault"] = row.fault, measured.fault
        if not row.fault:
            told |= {
                "success": (row.success, measured.success),
                "score": (row.score, measured.score),
                "measures": (row.measures, dict(measured.measures)),
            }
        for field, (got, expected) in told.items():
            if got != expected:
                self._problems.add(
                    FILE,
                    f"{field!r} is not what {row.trajectory} gives",
                    line=line,
                    got=got,
                    expected=repr(expected),
                    advice="numbers come from trajectories; hand in both as `rolf eval` wrote them",
                )

    def _measured(self, row: Row, ending: Ending, variant: Variant) -> Measured | None:
        """Return what an ending is worth; None: its last info tells none, or one that cannot be."""
        try:
            measured = self._found.measure(variant, ending)
        except UNMEASURABLE as error:
            self._wrong(row, f"its last info cannot be measured: {type(error).__name__}: {error!s:.200}")
            return None
        least, most = self._found.bounds or (-math.inf, math.inf)
        if least <= measured.score <= most:
            return measured
        possible = f"one from {least:g} to {most:g}"
        self._wrong(row, "its last info tells a score that cannot be", got=measured.score, expected=possible)
        return None

    def _wrong(self, row: Row, what: str, **more: Any) -> None:
        _, line = _located(row.trajectory)
        self._problems.add(f"{intake.FOLDER}/{row.trajectory.partition('#')[0]}", what, **{"line": line, **more})


def episodes(
    folder: Path, rows: Sequence[tuple[int, Found]], problems: Problems, *, whole: bool = False
) -> Iterator[tuple[tuple[int, Found], Recorded]]:
    """Yield rows with their episodes, file by file.

    Args:
        folder: The submission.
        rows: Those that are wanted.
        problems: Gets what cannot be read.
        whole: Whether these are all rows, so that lines which none of them names are problems.
    """
    files: dict[str, dict[int | None, tuple[int, Found]]] = {}
    for numbered in rows:
        name, line = _located(numbered[1].trajectory)
        files.setdefault(name, {}).setdefault(line, numbered)
    for name in sorted(files):
        lines, path = files[name], f"{intake.FOLDER}/{name}"
        try:
            if None in lines and len(lines) == 1:
                yield lines[None], _single(folder, path)
            elif None in lines:
                raise intake.Refused("some rows take it for one episode, others for many")
            else:
                yield from _block(folder, path, {line: each for line, each in lines.items() if line is not None}, whole)
        except (intake.Refused, TrajectoryError, OSError) as error:
            problems.add(path, str(error).removeprefix(f"{path!r}").strip(), advice="hand in what `rolf eval` wrote")


def _single(folder: Path, path: str) -> Recorded:
    """Return the episode that a file holds."""
    read = [
        Line(number, _typed(raw, number))
        for number, raw in intake.lines(folder, path, most=STEPS, unpacked=intake.WHOLE)
    ]
    if not read or read[0].kind != "header" or read[0].content.get("format") != FORMAT:
        raise intake.Refused(f"it does not begin with a header of the format {FORMAT!r}")
    return of_steps(Trajectory(read[0].content, read[1:], None), Path(path))


def _block(
    folder: Path, path: str, rows: Mapping[int, tuple[int, Found]], whole: bool
) -> Iterator[tuple[tuple[int, Found], Recorded]]:
    """Yield the episodes of a file of many."""
    number, last = 0, max(rows)
    for number, raw in intake.lines(folder, path, most=last + 1):
        if number in rows:
            content = intake.strict(raw, nan=True)
            if not isinstance(content, dict):
                raise intake.Refused(f"line {number} is no object")
            yield rows[number], of_actions(Line(number, content), path)
        elif whole:
            raise intake.Refused(f"no row names line {number}")
        if number == last and not whole:
            return
    if number < last:
        raise intake.Refused(f"it has {number} lines, and rows name line {last}")


def unused(rows: Sequence[Numbered], files: Mapping[str, int], problems: Problems) -> None:
    """Note files in `trajectories` that no row names."""
    named = {f"{intake.FOLDER}/{_located(row.trajectory)[0]}" for _, row in rows}
    for name in sorted(files):
        if name.startswith(f"{intake.FOLDER}/") and name.removesuffix(SUFFIX) not in named:
            problems.add(name, "no row names it", advice="remove it, or hand in its row")
    for name in sorted(named - files.keys()):
        problems.add(name, "it is missing", advice="hand in every trajectory that `rolf eval` wrote")


def _located(trajectory: str) -> tuple[str, int | None]:
    found = TRAJECTORY.fullmatch(trajectory)
    assert found is not None, "rows.check has refused it"
    return found[1], int(found[2]) if found[2] else None


def _typed(raw: bytes, number: int) -> dict[str, Any]:
    content = intake.strict(raw, nan=True)
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        raise intake.Refused(f"line {number} is no trajectory's line: it has no 'type'")
    return content


def _header_pairs(header: Mapping[str, Any], asked: World) -> Iterator[tuple[str, Any, Any]]:
    yield "volatile", header.get("volatile"), asked.volatile
    yield "max_episode_steps", header.get("max_episode_steps"), asked.max_episode_steps


def _misshapen(line: Line, *, last: bool, fault: str) -> str:
    """Return what is wrong with the shape of a line; empty: nothing."""
    content = line.content
    if line.kind == "final":
        return "only a machine that failed leaves an unknown state" if "unknown" in content and not fault else ""
    shape: dict[str, type] = {"observation": object, "info": dict}
    if line.kind == "step":
        shape |= {"action": list, "terminated": bool, "truncated": bool}
    for key, kind in shape.items():
        if key not in content or not isinstance(content[key], kind):
            return f"a {line.kind} needs {key!r}, of the kind that the recorder writes"
    ended = line.kind == "step" and (content["terminated"] or content["truncated"])
    return "it goes on after its end" if ended and not last else ""


def _same(got: Any, expected: Any) -> bool:
    return json.dumps(got, sort_keys=True) == json.dumps(expected, sort_keys=True)


def _essence(recorded: Recorded) -> bytes:
    """Return a digest of what was done and what came of it."""
    whole = hashlib.sha256(repr(recorded.actions).encode())
    whole.update(array("d", recorded.ending.rewards).tobytes())
    whole.update(recorded.state_digest.encode())
    return whole.digest()
