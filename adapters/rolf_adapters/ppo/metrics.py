"""Metrics: what a training measures, one line of JSON an iteration, and the same for TensorBoard.

A name is ``group/name``. The groups are fixed:

========== ===========================================================================================================
rollout    what was played: return, success, length, episodes, steps, tool_calls, faults, fault_share (of episodes),
           timeouts (share of answers whose command ran past its time-out), too_long (episodes that begin with more
           than the window holds), family/… (success of each family of tasks, with what was drawn); by an older
           policy: staleness (updates between the two, mean over answers), dropped (episodes of one that was too old);
           by actors: replayed (episodes that were played again, because an actor had died over them)
policy     the actor: loss, entropy, kl, first_kl (before the first step: 0), gradient, learning_rate,
           clipped_identify, clipped_assess, clipped_dispatch, clipped_execute (share of samples that were clipped, of
           all that an update learns from, also again; kl and first_kl are of what was just played);
           reference_kl (divergence from what it began as, before the update), kl_weight (of it in the loss);
           stale_weight (mean of what samples of an older policy count: 1 but for chance), stale_truncated (share cut)
value      the critic: loss, explained (share of the variance of returns)
reward     what rewards are made of, as they are learned from: mean of a step, curiosity (the part for what is new)
evaluation what is tested on, greedily: return, success, score, with _low and _high where there is an interval; lost
           (episodes that could not be played, and count nowhere)
family     success of each family of tasks that is tested on; of more than 30 the last ones by name are told as others;
           of networks also …_score or …_return, each with _low and _high, and the same without them in rollout/family
variants   how variants were chosen
replay     what was learned from again: steps, age [iterations], weight, truncated (share of the weights that were cut),
           covered (share of the 10 stored steps of highest causal priority that were drawn)
own        anything that a learner of your own measures
time       [s]: collect, environment and generation (parts of it), update, sync; iteration, evaluation
========== ===========================================================================================================

``metrics.jsonl`` holds all but ``time``, and nothing in it depends on the clock: a training that was killed and resumed
writes the same bytes as an undisturbed one. What was not measured (NaN) is null. ``times.jsonl`` holds the times.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Any, Self

GROUPS = ("rollout", "policy", "value", "reward", "evaluation", "family", "variants", "replay", "own", "time")
"""What the name of a metric begins with."""
OF_THE_LOOP = ("time/iteration", "time/sync", "time/evaluation")
"""What the loop measures besides, whatever learns."""
METRICS, TIMES, TENSORBOARD = "metrics.jsonl", "times.jsonl", "tensorboard"


class Metrics:
    """The files of what a training measures, open for one run.

    Args:
        folder: The training's.
        lines: How many of earlier runs count; what follows them is cut off.
        step: The iteration that comes next.
        tensorboard: Whether TensorBoard's files are written.

    Raises:
        ValueError: there are fewer lines.
    """

    def __init__(self, folder: Path, *, lines: int = 0, step: int = 0, tensorboard: bool = True) -> None:
        self.lines = lines
        self._paths = (folder / METRICS, folder / TIMES)
        for path in self._paths:
            _cut(path, lines)
        self._files = [path.open("ab") for path in self._paths]
        self._folder = folder / TENSORBOARD
        self._writer = _writer(self._folder, step) if tensorboard else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def add(self, head: Mapping[str, Any], values: Mapping[str, float]) -> None:
        """Write down one iteration.

        Args:
            head: What a line begins with: ``iteration``, ``rollbacks``, and maybe what happened.
            values: By name.

        Raises:
            ValueError: a name is not one of the groups'.
        """
        check(values)
        times = {name: value for name, value in values.items() if name.startswith("time/")}
        rest = {name: value for name, value in values.items() if name not in times}
        for file, told in zip(self._files, (rest, times), strict=True):
            file.write(_line(dict(head) | {name: told[name] for name in sorted(told)}))
            file.flush()
        self.lines += 1
        if self._writer is not None:
            for name, value in values.items():
                if math.isfinite(value):
                    self._writer.add_scalar(name, value, head["iteration"])

    def back(self, step: int) -> None:
        """Tell TensorBoard that the training goes on from an earlier iteration."""
        if self._writer is not None:
            self._writer.close()
            self._writer = _writer(self._folder, step)

    def sync(self) -> int:
        """Wait until the disk has all lines, and return how many there are."""
        for file in self._files:
            os.fsync(file.fileno())
        _sync(self._folder.parent)
        if self._writer is not None:
            self._writer.flush()
        return self.lines

    def close(self) -> None:
        """Close the files; may be called again."""
        for file in self._files:
            file.close()
        if self._writer is not None:
            self._writer.close()


def check(values: Mapping[str, float]) -> None:
    """See that metrics have names that readers know.

    Raises:
        ValueError: one has not.
        TypeError: one is no number.
    """
    for name, value in values.items():
        group, slash, rest = name.partition("/")
        if group not in GROUPS or not slash or not rest:
            near = get_close_matches(group, GROUPS, n=1)
            hint = f"; did you mean {f'{near[0]}/{rest}'!r}?" if near else ""
            raise ValueError(f"metric {name!r} has none of the groups {', '.join(GROUPS)}{hint} (own/ is for your own)")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"metric {name!r} is {value!r:.60}, a {type(value).__name__}; expected an int or a float")


def read(path: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a metrics file, as objects."""
    *lines, _ = path.read_bytes().split(b"\n")
    return [json.loads(line) for line in lines]


def _sync(folder: Path) -> None:
    """See that the names of files in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _line(told: Mapping[str, Any]) -> bytes:
    plain = {key: None if isinstance(each, float) and not math.isfinite(each) else each for key, each in told.items()}
    return json.dumps(plain, allow_nan=False).encode() + b"\n"


def _cut(path: Path, lines: int) -> None:
    """Leave the first lines of a file, and no more."""
    path.touch()
    with path.open("r+b") as file:
        for number in range(lines):
            if not file.readline().endswith(b"\n"):
                wrong = f"{str(path)!r} has {number} whole lines of {lines} that the checkpoint tells of"
                raise ValueError(f"{wrong}; put the file back, or begin anew in another folder")
        file.truncate()


def _writer(folder: Path, step: int) -> Any:
    """Return what writes TensorBoard's files; what was written for later steps counts no more."""
    from torch.utils.tensorboard import SummaryWriter  # takes a second to import

    return SummaryWriter(str(folder), purge_step=step)
