"""Segments: which part of its job a step belongs to, each with a clip range and a scale of advantages of its own.

A step's segment is told by the environment's phase (`of_phases`), by what the action does (`of_call`, `of_actions`), or
in a terminal by the programs that a command runs (`of_command`).

With ``by="segment"`` advantages are compared within a segment only: a segment that does badly as a whole does not see
it. With ``by="global"`` all steps are compared with each other, and only the clip ranges differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolf.interface import Call
from rolf_adapters.ppo.command_segments import of_command
from rolf_adapters.ppo.segment import CLIPS, Segment

__all__ = [
    "CLIPS",
    "Scaling",
    "Segment",
    "clip_ranges",
    "normalised",
    "of_actions",
    "of_call",
    "of_command",
    "of_phases",
    "sums",
]

Scaling = Literal["segment", "global", "none"]
"""Among which steps advantages are compared."""
CALLS = {
    "wait": Segment.IDENTIFY,
    "diagnose": Segment.IDENTIFY,
    "inspect": Segment.ASSESS,
    "order": Segment.ASSESS,
    "dispatch": Segment.DISPATCH,
    "close": Segment.EXECUTE,
    "throttle": Segment.EXECUTE,
    "resume": Segment.EXECUTE,
    "keys": Segment.EXECUTE,
    "submit": Segment.EXECUTE,
}
"""Segment of each tool but ``run``, whose command tells it."""
EPSILON = 1e-8
"""Added to a deviation, so that differences too small to matter stay small."""
ROUNDING = 1e-7
"""Share of the mean below which a deviation is what rounding has left: more than the root of the precision."""


# ---- which segment a step is of


def of_phases(phases: ArrayLike) -> NDArray[np.int64]:
    """Return the segments of steps by the phase of the furthest work order, as ``LineEnv`` tells it.

    Args:
        phases: ``info["phase"]`` that came with the observation acted on: 0 nothing to do, 1 identify … 4 execute.

    Returns:
        An array of the same shape; a line with nothing to do is watched, which is `Segment.IDENTIFY`.

    Raises:
        ValueError: a phase is not in 0 to 4.
    """
    told = np.asarray(phases)
    if told.dtype.kind not in "iu" or (told < 0).any() or (told > len(Segment)).any():
        raise ValueError(f"phases {told.tolist()!r:.80} are not all whole numbers from 0 to {len(Segment)}")
    return np.maximum(told.astype(np.int64), 1) - 1


def of_call(call: Call) -> Segment:
    """Return the segment of a step by the tool that is called, of a terminal or a line.

    A command with checks of its own (``validation_steps``) is at least `Segment.ASSESS`.

    Raises:
        ValueError: there is no rule for such a tool.
    """
    if call.tool == "run":
        checked = Segment.ASSESS if call.arguments.get("validation_steps") else Segment.IDENTIFY
        return max(of_command(str(call.arguments["command"])), checked)
    if call.tool not in CALLS:
        raise ValueError(f"no rule says which segment a call of {call.tool!r} is of; known are run, {', '.join(CALLS)}")
    return CALLS[call.tool]


def of_actions(env: gym.Env[Any, Any]) -> NDArray[np.int64]:  # (A,)
    """Return the segment of each action of an environment whose actions are numbered and are calls of tools too.

    Args:
        env: Such as ``gym.make("linegym:LineEnv-v1")``; see `rolf.interface.Tooled`.

    Raises:
        TypeError: its actions are not numbered from 0, or are no calls.
    """
    space, world = env.action_space, env.unwrapped
    if not isinstance(space, gym.spaces.Discrete) or space.start != 0 or not hasattr(world, "call_of"):
        raise TypeError(f"{env} has actions {space}; give an environment with Discrete actions and a method call_of")
    return np.array([of_call(world.call_of(action)) for action in range(int(space.n))], np.int64)


def clip_ranges(segments: ArrayLike, clips: Sequence[float] = CLIPS) -> NDArray[np.float64]:
    """Return the clip range of each step.

    Args:
        segments: Of any shape.
        clips: One range a segment, each above 0.

    Raises:
        ValueError: there is not one range a segment, one is not above 0, or a segment is unknown.
    """
    ranges = np.asarray(clips, np.float64)
    if ranges.shape != (len(Segment),) or not (ranges > 0).all():
        raise ValueError(f"clips={clips!r}: give {len(Segment)} numbers above 0, one a segment")
    return ranges.take(_checked(segments))


# ---- the scale of advantages


def sums(
    advantages: ArrayLike, segments: ArrayLike, mask: ArrayLike, by: Scaling = "segment"
) -> NDArray[np.float64]:  # (4, 3)
    """Return count, sum and sum of squares of the advantages of each segment, which add up over processes.

    Args:
        advantages: Of any shape.
        segments: Of the same shape; not read where the mask is False.
        mask: Which steps count, of the same shape.
        by: Among which steps they will be compared; by ``"global"`` every segment is given the sums of all.

    Raises:
        ValueError: shapes disagree, ``by`` is unknown, or a segment is.
    """
    found, counts = np.asarray(advantages, np.float64), _mask(advantages, segments, mask)
    if by not in get_args(Scaling):
        raise ValueError(f"by={by!r} is not known; allowed are {', '.join(map(repr, get_args(Scaling)))}")
    values, places = found[counts], _checked(np.asarray(segments)[counts])
    added = np.zeros((len(Segment), 3))
    for column, weights in enumerate((np.ones_like(values), values, values * values)):
        added[:, column] = np.bincount(places, weights, minlength=len(Segment))
    if by != "segment":
        added[:] = added.sum(axis=0)
    return added


def normalised(
    advantages: ArrayLike,
    segments: ArrayLike,
    mask: ArrayLike,
    by: Scaling = "segment",
    least: int = 2,
    summed: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return advantages less their mean, over their standard deviation (that of a population).

    Where there are fewer than ``least`` steps to compare, or all are alike, there is nothing to be told from them:
    their advantage is 0. Never not a number, unless an advantage is.

    Args:
        advantages: Of whole episodes, any shape.
        segments: Of the same shape; not read where the mask is False.
        mask: Which steps count, of the same shape; the others are 0 in the result.
        by: Among which steps they are compared; ``"none"``: they stay as they are.
        least: Steps of a segment that there must be.
        summed: What `sums` returned, added up over all processes; None: there is one process.

    Raises:
        ValueError: shapes disagree, ``by`` is unknown, or a segment is.
    """
    found, counts = np.asarray(advantages, np.float64), _mask(advantages, segments, mask)
    own = sums(advantages, segments, mask, by)
    if by == "none":
        return np.where(counts, found, 0.0)
    number, total, squares = (own if summed is None else np.asarray(summed, np.float64)).T
    mean = total / np.maximum(number, 1)
    deviation = np.sqrt(np.maximum(squares / np.maximum(number, 1) - mean * mean, 0.0))
    alike = (number < least) | (deviation <= ROUNDING * np.abs(mean))
    scale = np.where(alike, 0.0, 1.0 / (deviation + EPSILON))
    result = np.zeros(found.shape)
    places = np.asarray(segments)[counts]
    result[counts] = (found[counts] - mean[places]) * scale[places]
    return result


def _mask(advantages: ArrayLike, segments: ArrayLike, mask: ArrayLike) -> NDArray[np.bool_]:
    counts = np.asarray(mask, np.bool_)
    shapes = {np.shape(advantages), np.shape(segments), counts.shape}
    if len(shapes) > 1:
        raise ValueError(
            f"advantages {np.shape(advantages)}, segments {np.shape(segments)} and mask {counts.shape} must be alike"
        )
    return counts


def _checked(segments: ArrayLike) -> NDArray[np.int64]:
    told = np.asarray(segments)
    if told.size and (told.dtype.kind not in "iu" or (told < 0).any() or (told >= len(Segment)).any()):
        raise ValueError(f"segments {told.tolist()!r:.80} are not all whole numbers from 0 to {len(Segment) - 1}")
    return told.astype(np.int64)
