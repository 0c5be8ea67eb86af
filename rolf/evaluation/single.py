"""Single: one episode in one environment, step by step, recorded as it happens."""

from __future__ import annotations

import errno
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium

from rolf.evaluation.atomic import compress
from rolf.evaluation.blame import blamed
from rolf.evaluation.errors import EvaluationError, PolicyError
from rolf.evaluation.loading import told
from rolf.evaluation.origin import hidden
from rolf.evaluation.policy import Policy, Start
from rolf.evaluation.recording import Recorded, read
from rolf.output import SUFFIX
from rolf.trajectory import TrajectoryError
from rolf.variant import Variant, policy_seed

RECORDER = "rolf_wrappers.record_trajectory:RecordTrajectory"
"""By name, as wrappers stand above this package."""
OUTPUT_BUDGET = 4 << 20
"""What an episode may keep of output that no observation holds [bytes]; submissions travel."""
FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Played:
    """What one episode came to."""

    recorded: Recorded | None
    """None: the machine failed before it had begun, or with what was written of it."""
    fault: str
    """How the machine failed with an error; empty: it did not, or the episode itself says so."""
    seconds: float
    """Time that it took [s]."""


def play(variant: Variant, attempt: int, player: Policy, *, privileged: bool, path: Path, where: str = "") -> Played:
    """Play an episode and write its trajectory.

    Args:
        variant: What is played.
        attempt: Which attempt at it.
        player: Who plays.
        privileged: Whether it is shown all of ``info``.
        path: The trajectory, compressed; what is there is replaced.
        where: What errors call the episode.

    Raises:
        PolicyError: the policy raised an error, or acted outside of the action space.
        EvaluationError: the environment raised an error that no machine is to blame for, or the disk is full.
    """
    plain, began, fault = path.with_suffix(""), time.monotonic(), ""
    where = where or f"variant {variant.name or variant.digest[:12]!r}, attempt {attempt}"
    try:
        with closing(_recorded(variant, plain).make()) as env:
            _play(env, variant, attempt, player, privileged, where)
    except EvaluationError:
        _remove(plain)
        raise
    except (RuntimeError, OSError) as error:
        stop_if_full(error, where)
        fault = f"{type(error).__name__}: {error}"
    except Exception as error:
        _remove(plain)
        raise EvaluationError(f"{variant.env_id} raised an error in {where}: {told(error)}") from error
    try:
        recorded = _kept(plain, path, lost=bool(fault))
    except OSError as error:
        stop_if_full(error, where)
        raise EvaluationError(f"{str(path)!r} cannot be written: {error}") from error
    return Played(recorded, fault, time.monotonic() - began)


def _recorded(variant: Variant, path: Path) -> Variant:
    """Return a variant that writes down what happens in it."""
    settings = {"path": str(path), "overwrite": True, "output_budget": OUTPUT_BUDGET}
    recorder = {"name": "RecordTrajectory", "entry_point": RECORDER, "kwargs": settings}
    return replace(variant, wrappers=(*variant.wrappers, recorder))


def _play(
    env: gymnasium.Env[Any, Any], variant: Variant, attempt: int, player: Policy, privileged: bool, where: str
) -> None:
    unseen = frozenset[str]() if privileged else hidden(variant.env_id)

    def shown(info: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in info.items() if key not in unseen}

    seed = variant.attempt_seed(attempt)
    observation, info = env.reset(seed=seed)
    with blamed(f"the policy failed in {where}, at its start"):
        player.begin(Start(variant, attempt, policy_seed(seed), observation, shown(info), env))
    step, over = 0, False
    while not over:
        with blamed(f"the policy failed in {where}, step {step}"):
            action = player.act(observation, shown(info))
            if not env.action_space.contains(action):
                raise PolicyError(_outside(action, env.action_space))
        observation, _, terminated, truncated, info = env.step(action)
        step, over = step + 1, terminated or truncated


def _outside(action: Any, space: gymnasium.Space[Any]) -> str:
    """Return what is wrong with an action, in words for who writes the policy."""
    answered = f"it answered {action!r:.100} ({type(action).__name__}); expected"
    if isinstance(space, gymnasium.spaces.Discrete):
        hint = "; give action.item(), what the array holds" if getattr(action, "shape", None) == (1,) else ""
        return f"{answered} a whole number from {space.start} to {space.start + space.n - 1}{hint}"
    if isinstance(space, gymnasium.spaces.Text) and not isinstance(action, str):
        return f"{answered} a text, at most {space.max_length} characters long; json.dumps makes one of an object"
    return f"{answered} one of {space!s:.200}"


def _kept(plain: Path, path: Path, *, lost: bool) -> Recorded | None:
    """Put what was recorded into its place, if it is an episode, and return it."""
    try:
        recorded = read(plain)
    except (FileNotFoundError, TrajectoryError):
        if not lost:
            raise
        _remove(plain)
        return None
    output = Path(f"{plain}{SUFFIX}")
    if output.exists():
        output.replace(f"{path}{SUFFIX}")
    compress(plain, path)
    return recorded


def _remove(plain: Path) -> None:
    plain.unlink(missing_ok=True)
    Path(f"{plain}{SUFFIX}").unlink(missing_ok=True)


def stop_if_full(error: BaseException, where: str) -> None:
    """Raise an error where going on would only make more faults of the same cause."""
    if isinstance(error, OSError) and error.errno in FULL:
        raise EvaluationError(f"the disk is full: {error} in {where}; make room and give the same command") from error
