"""Replay: do again what a trajectory file says was done, and name the first thing that came out differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

from rolf.difference import ABSENT, differences, shortened
from rolf.evaluation.recording import Recorded, located, read
from rolf.registration import registered
from rolf.trajectory import ACTIONS, Line, Trajectory, TrajectoryError, jsonable, read_trajectory
from rolf.variant import Variant

NEEDED = {"header": ("env_id", "kwargs"), "reset": ("seed", "options"), "step": ("action",)}
"""What a replay cannot do without, by kind of line."""
COMPARED = {
    "reset": ("observation", "info"),
    "step": ("observation", "reward", "terminated", "truncated", "info"),
    "final": ("state_digest", "diff"),
}
"""What is compared of each kind of line, in the order in which a difference is named."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first thing that differs."""

    line: int
    """Line of the trajectory file."""
    episode: int
    """From 0."""
    step: int
    """Steps taken in the episode before; 0 at its reset."""
    field: str
    """What differs, e.g. ``observation.stdout`` or ``info.checks[0].passed``."""
    recorded: str
    """The value in the file, shortened around the first difference."""
    got: str
    """The value now, shortened in the same way."""

    def __str__(self) -> str:
        where = f"episode {self.episode}, step {self.step}: {self.field} differs (line {self.line} of the file)"
        return f"{where}\n  recorded {self.recorded}\n  got      {self.got}"


@dataclass(frozen=True, slots=True)
class Report:
    """What a replay came to."""

    path: str
    env_id: str
    episodes: int
    """Episodes begun."""
    steps: int
    """Steps whose outcomes were equal."""
    divergence: Divergence | None
    cut: str | None
    """Why the file's end could not be read, if it was cut off."""

    @property
    def equal(self) -> bool:
        """Whether everything that the file holds came out the same."""
        return self.divergence is None

    @property
    def exit_code(self) -> int:
        """0: equal, 1: diverged."""
        return 0 if self.equal else 1

    def __str__(self) -> str:
        counted = f"{self.steps} step{_s(self.steps)} in {self.episodes} episode{_s(self.episodes)} of {self.env_id}"
        said = f"equal: {counted}" if self.equal else f"diverged after {counted}\n{self.divergence}"
        return f"{said}\nthe file is not whole: {self.cut}; all before it was compared" if self.cut else said


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def replay(path: str | Path) -> Report:
    """Make the environment of a trajectory file again, take the same actions, and compare.

    What the environment declares volatile (``metadata["volatile"]``) is not compared. ``block.jsonl.gz#3`` is the third
    episode of a file of actions, which holds no observations: what it holds is compared.

    Raises:
        TrajectoryError: the file is no trajectory, holds no episode, or needs a package or a task that is not here.
        gymnasium.error.Error: its environment is not known here.
    """
    where, row = located(path)
    trajectory = read_trajectory(where) if row is None else as_trajectory(read(where, row), row)
    if not trajectory.lines:
        reason = trajectory.cut or "it ends after its header"
        raise TrajectoryError(f"{str(path)!r} holds no episode: {reason}; call reset and step while recording")
    for line in (Line(1, trajectory.header), *trajectory.lines):
        for name in NEEDED.get(line.kind, ()):
            if name not in line.content:
                raise TrajectoryError(
                    f"{str(path)!r}, line {line.number}: a {line.kind} needs {name!r}; record it anew"
                )
    env = _make(trajectory.header)
    try:
        return compare(env, trajectory, str(path))
    finally:
        env.close()


def as_trajectory(recorded: Recorded, row: int = 1) -> Trajectory:
    """Return an episode in the form of a trajectory; one of actions knows less of each step.

    Args:
        recorded: The episode.
        row: Line of its file, where that holds many.
    """
    if recorded.steps is not None and recorded.header is not None:
        return Trajectory(dict(recorded.header), list(recorded.steps), None)
    ending = recorded.ending
    told: list[dict[str, Any]] = [{"type": "reset", "seed": recorded.seed, "options": None}]
    for action, reward in zip(recorded.actions, ending.rewards, strict=True):
        told.append({"type": "step", "action": action, "reward": reward, "terminated": False, "truncated": False})
    if ending.rewards:
        told[-1] |= {"terminated": ending.terminated, "truncated": ending.truncated, "info": dict(ending.info)}
    told.append({"type": "final"} | ({"state_digest": recorded.state_digest} if recorded.state_digest else {}))
    header = {
        "type": "header",
        "format": ACTIONS,
        "env_id": recorded.env_id,
        "kwargs": recorded.kwargs,
        "wrappers": recorded.wrappers,
    }
    return Trajectory(header, [Line(row, content) for content in told], None)


def _make(header: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
    """Return the recorded environment, with the wrappers that were inside the recorder and have a part in it."""
    variant = Variant(str(header["env_id"]), header["kwargs"], wrappers=tuple(header.get("wrappers", ())))
    try:
        registered(variant.env_id)
    except ImportError as error:
        module, _, name = variant.env_id.rpartition(":")
        known = f"{module!r}, which the recorded environment {name!r} comes from, cannot be imported here"
        raise TrajectoryError(f"{known}: {error}; install it to replay this file") from error
    limit = header.get("max_episode_steps")
    try:
        return variant.make(**({} if limit is None else {"max_episode_steps": limit}))
    except LookupError as error:
        raise TrajectoryError(f"what was recorded is not here: {error}") from error


def compare(env: gymnasium.Env[Any, Any], trajectory: Trajectory, path: str) -> Report:
    """Take a trajectory's actions in an environment, and compare.

    Args:
        env: Made like the recorded one; what the trajectory's header says of that is not looked at.
        trajectory: What was recorded; every line has what `NEEDED` names.
        path: What the report calls it.
    """
    env_id, volatile = str(trajectory.header["env_id"]), trajectory.header.get("volatile", ())
    sparse = trajectory.header.get("format") == ACTIONS
    episodes = steps = in_episode = 0
    latest: dict[str, Any] = {}
    for line in trajectory.lines:
        if line.kind == "reset":
            episodes, in_episode = episodes + 1, 0
        elif line.kind == "step":
            in_episode += 1
        latest = again(env, line, latest)
        for field, recorded, got in line_differences(line, latest, volatile, sparse=sparse):
            at = Divergence(line.number, episodes - 1, max(0, in_episode - 1), field, *shortened(recorded, got))
            return Report(path, env_id, episodes, steps, at, trajectory.cut)
        steps += line.kind == "step"
    return Report(path, env_id, episodes, steps, None, trajectory.cut)


def again(env: gymnasium.Env[Any, Any], line: Line, before: dict[str, Any]) -> dict[str, Any]:
    """Do what a line says was done and return what came of it, in the line's own terms."""
    content = line.content
    if line.kind == "reset":
        observation, info = env.reset(seed=content["seed"], options=content["options"])
        return {"observation": jsonable(observation), "info": jsonable(info)}
    if line.kind == "step":
        action = env.action_space.from_jsonable(content["action"])[0]
        observation, reward, terminated, truncated, info = env.step(action)
        # In the recorder's types: Gymnasium takes whole numbers and NumPy's for rewards too.
        numbers = {"reward": float(reward), "terminated": bool(terminated), "truncated": bool(truncated)}
        return {"observation": jsonable(observation), **numbers, "info": jsonable(info)}
    if line.kind == "final":
        if "unknown" in content:
            return {}
        return final_state(env, before.get("info", {}))
    raise TrajectoryError(f"line {line.number} is of the unknown kind {line.kind!r}; known are {', '.join(COMPARED)}")


def final_state(env: gymnasium.Env[Any, Any], info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state an episode left behind, where the environment can tell: its digest and what changed.

    Args:
        env: The environment, or any wrapper of it.
        info: The last step's; a finished episode has told its state there.
    """
    world: Any = env.unwrapped
    told: dict[str, Any] = {}
    for name in ("state_digest", "diff"):
        if name in info:
            told[name] = jsonable(info[name])
        elif callable(getattr(world, name, None)):
            told[name] = jsonable(getattr(world, name)())
    return told


def line_differences(
    line: Line, got: Mapping[str, Any], volatile: Sequence[str], *, sparse: bool
) -> Iterator[tuple[str, Any, Any]]:
    """Yield (field, recorded, got) for each thing that differs.

    Args:
        line: What was recorded.
        got: What came now.
        volatile: What may differ.
        sparse: Whether what was not recorded is not compared.
    """
    for field in COMPARED[line.kind]:
        if field in line.content or (field in got and not sparse):
            yield from differences(field, line.content.get(field, ABSENT), got.get(field, ABSENT), volatile)
