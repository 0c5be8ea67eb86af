"""Recording: the trajectories of a submission, of both kinds, read into the same form and with a digest.

An episode that was played step by step lies in a file of its own, as ``RecordTrajectory`` writes it, compressed
(``rolf-trajectory/1``). Episodes that were played in a batch lie in one file a block, a line each (``rolf-actions/1``):

    {"format": "rolf-actions/1", "env_id": …, "kwargs": …, "seed": …, "actions": […], "rewards": […],
     "info": {of the last step}, "terminated": …, "truncated": …, "state_digest": …}

and ``wrappers``, where the variant has any. Whoever reads a stranger's files gets a `TrajectoryError` for whatever is
wrong with them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolf.evaluation.atomic import write_compressed
from rolf.evaluation.episode import Ending, Run
from rolf.trajectory import ACTIONS, Line, Trajectory, TrajectoryError, jsonable, parsed, read_trajectory
from rolf.variant import Variant

PLAYED = ("env_id", "kwargs", "max_episode_steps", "wrappers", "volatile", "format")
"""What of a header counts: not the packages, which differ from machine to machine."""
TOLD = {
    "reset": ("seed", "options", "observation", "info"),
    "step": ("action", "observation", "reward", "terminated", "truncated", "info"),
    "final": ("steps", "episode_return", "state_digest", "diff", "unknown"),
}
"""What of a line counts: not where in the file beside its output lies."""
LINE: Mapping[str, type | tuple[type, ...]] = {
    "env_id": str,
    "kwargs": dict,
    "seed": int,
    "actions": list,
    "rewards": list,
    "info": dict,
    "terminated": bool,
    "truncated": bool,
    "state_digest": str,
}
"""What a line of actions has."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An episode, as a trajectory holds it."""

    kind: str
    """``steps``: every line of it is known; ``actions``: what was done and what it came to."""
    env_id: str
    kwargs: Mapping[str, Any]
    wrappers: Sequence[Mapping[str, Any]]
    seed: int | None
    """What ``reset`` was given."""
    actions: Sequence[Any]
    """One a step, each as ``action_space.from_jsonable`` takes it: a batch of one."""
    ending: Ending
    state_digest: str
    """Of what the episode left behind; empty where the environment has none."""
    digest: str
    """SHA-256 of all that two equal runs have in common."""
    steps: Sequence[Line] | None = None
    """Its reset, steps and final, of the kind ``steps``."""
    header: Mapping[str, Any] | None = None
    """Of the kind ``steps``."""

    @property
    def variant(self) -> Variant:
        """What was played, less the seed that its attempts are derived from."""
        return Variant(self.env_id, self.kwargs, 0, tuple(self.wrappers))


def read(path: str | Path, line: int | None = None) -> Recorded:
    """Return one episode of a trajectory file, compressed or not.

    Args:
        path: The file; ``block.jsonl.gz#3`` names a line as well.
        line: Which, from 1, of a file that holds several episodes.

    Raises:
        TrajectoryError: the file holds no such episode, or not only that one, or is not as it was written.
        OSError: the file cannot be read.
    """
    where, named = located(path)
    number = named if line is None else line
    if number is None:
        with _shallow(where):
            return of_steps(read_trajectory(where), where)
    for found in _lines(where):
        if found.number == number:
            return of_actions(found, where)
    raise TrajectoryError(f"{str(where)!r} has no line {number}")


def located(trajectory: str | Path) -> tuple[Path, int | None]:
    """Return the file and the line, if any, that a row's ``trajectory`` names: ``block.jsonl.gz#3``."""
    found = re.fullmatch(r"(?s)(.+)#([1-9][0-9]{0,8})", str(trajectory))
    return (Path(found[1]), int(found[2])) if found else (Path(trajectory), None)


def read_block(path: str | Path) -> Iterator[tuple[int, Recorded]]:
    """Yield every episode of a file of actions with its line, from 1.

    Raises:
        TrajectoryError: the file is none, or is not whole.
        OSError: the file cannot be read.
    """
    for line in _lines(Path(path)):
        yield line.number, of_actions(line, path)


def _lines(path: Path) -> Iterator[Line]:
    for line, cut in parsed(path):
        if line is None:
            raise TrajectoryError(f"{str(path)!r} is not whole: {cut}")
        yield line


@contextmanager
def _shallow(path: str | Path) -> Iterator[None]:
    """Refuse what json reads but nothing else that is written in Python gets to the bottom of."""
    try:
        yield
    except RecursionError as error:
        raise TrajectoryError(f"{str(path)!r} is nested deeper than can be looked into") from error


def write_block(path: Path, runs: Iterable[tuple[Variant, int, Run]]) -> None:
    """Write a file of actions.

    Args:
        path: The file.
        runs: Variant, seed of the attempt, and how it went.
    """
    write_compressed(path, (_canonical(_actions_line(*each)) + b"\n" for each in runs))


def _actions_line(variant: Variant, seed: int, run: Run) -> dict[str, Any]:
    plain = variant.as_json()
    return {
        "format": ACTIONS,
        "env_id": plain["env_id"],
        "kwargs": plain["kwargs"],
        **({"wrappers": plain["wrappers"]} if "wrappers" in plain else {}),
        "seed": seed,
        "actions": jsonable(run.actions),
        "rewards": [float(reward) for reward in run.ending.rewards],
        "info": jsonable(run.ending.info),
        "terminated": bool(run.ending.terminated),
        "truncated": bool(run.ending.truncated),
        "state_digest": run.state_digest,
    }


def of_actions(line: Line, path: str | Path) -> Recorded:
    """Return the episode that a line of actions holds.

    Raises:
        TrajectoryError: it holds none.
    """
    content, at = line.content, f"{str(path)!r}, line {line.number}"
    if content.get("format") != ACTIONS:
        raise TrajectoryError(f"{at} is of the format {content.get('format')!r:.60}; expected {ACTIONS!r}")
    for key, kind in LINE.items():
        if not isinstance(content.get(key), kind) or (kind is int and isinstance(content[key], bool)):
            raise TrajectoryError(f"{at}: {key!r} is {content.get(key, 'missing')!r:.60}, expected {_named(kind)}")
    wrappers = content.get("wrappers", [])
    _check_wrappers(wrappers, at)
    rewards = _numbers(content["rewards"], at)
    with _shallow(path):
        told = hashlib.sha256(_canonical(content)).hexdigest()
    if len(rewards) != len(content["actions"]):
        raise TrajectoryError(f"{at}: {len(content['actions'])} actions and {len(rewards)} rewards; one of each a step")
    return Recorded(
        "actions",
        content["env_id"],
        content["kwargs"],
        wrappers,
        content["seed"],
        [[action] for action in content["actions"]],
        Ending(rewards, content["info"], content["terminated"], content["truncated"]),
        content["state_digest"],
        told,
    )


def of_steps(trajectory: Trajectory, path: Path) -> Recorded:
    """Return the one episode that a trajectory holds.

    Raises:
        TrajectoryError: it holds none, more than one, or a part of one.
    """
    header, lines, at = trajectory.header, trajectory.lines, repr(str(path))
    if trajectory.cut is not None:
        raise TrajectoryError(f"{at} is not whole: {trajectory.cut}")
    kinds = [line.content["type"] for line in lines]
    if kinds != ["reset", *["step"] * (len(kinds) - 2), "final"]:
        expected = "one whole episode: a reset, its steps and a final"
        raise TrajectoryError(f"{at} is not {expected}; it has {_counted(kinds)}")
    _check_header(header, at)
    reset, steps, final = lines[0].content, lines[1:-1], lines[-1].content
    last = steps[-1].content if steps else reset
    info = last.get("info")
    ending = Ending(
        _numbers([line.content.get("reward") for line in steps], at),
        info if isinstance(info, dict) else {},
        last.get("terminated") is True,
        last.get("truncated") is True,
    )
    return Recorded(
        "steps",
        header["env_id"],
        header["kwargs"],
        header.get("wrappers", ()),
        reset.get("seed"),
        [line.content.get("action") for line in steps],
        ending,
        str(final.get("state_digest", "")),
        _digest(header, lines),
        lines,
        header,
    )


def _check_header(header: Mapping[str, Any], at: str) -> None:
    for key, kind, absent in (
        ("env_id", str, None),
        ("kwargs", dict, None),
        ("wrappers", list, []),
        ("volatile", list, []),
    ):
        if not isinstance(header.get(key, absent), kind):
            raise TrajectoryError(f"{at}: {key!r} is {header.get(key, 'missing')!r:.60}, expected {_named(kind)}")
    _check_wrappers(header.get("wrappers", []), at)


def _check_wrappers(wrappers: Any, at: str) -> None:
    if not isinstance(wrappers, list) or not all(isinstance(each, dict) for each in wrappers):
        raise TrajectoryError(f"{at}: 'wrappers' is {wrappers!r:.60}, expected a list of objects")


def _numbers(values: Sequence[Any], at: str) -> list[float]:
    if not {*map(type, values)} <= {int, float}:
        step, value = next(each for each in enumerate(values) if type(each[1]) not in (int, float))
        raise TrajectoryError(f"{at}: the reward of step {step} is {value!r:.60}, expected a number")
    try:
        return [float(value) for value in values]
    except OverflowError as error:
        raise TrajectoryError(f"{at}: a reward is larger than any number of 64 bits") from error


def _counted(kinds: Sequence[Any]) -> str:
    return ", ".join(f"{kinds.count(kind)} {kind!r:.20}" for kind in dict.fromkeys(map(str, kinds))) or "nothing"


def _named(kind: Any) -> str:
    return {str: "text", dict: "an object", int: "a whole number", list: "a list", bool: "true or false"}[kind]


def _canonical(value: Any) -> bytes:
    """Return plain data as one sequence of bytes; NaN is a number that an environment may well tell."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _digest(header: Mapping[str, Any], lines: Sequence[Line]) -> str:
    """Return the digest of a trajectory: of what a replay looks at, less what its header calls volatile."""
    volatile = frozenset(map(str, header.get("volatile", ())))
    whole = hashlib.sha256(_canonical({key: header[key] for key in PLAYED if key in header}))
    for line in lines:
        content = line.content
        kept = {key: steady(key, content[key], volatile) for key in TOLD[line.kind] if key in content}
        whole.update(b"\n" + _canonical({"type": line.kind} | {k: v for k, v in kept.items() if k not in volatile}))
    return whole.hexdigest()


def steady(name: str, value: Any, volatile: frozenset[str]) -> Any:
    """Return a value without its volatile parts."""
    if isinstance(value, dict):
        inside = {key: f"{name}.{key}" for key in value}
        return {key: steady(inside[key], each, volatile) for key, each in value.items() if inside[key] not in volatile}
    if isinstance(value, list):
        return [steady(f"{name}[{index}]", each, volatile) for index, each in enumerate(value)]
    return value
