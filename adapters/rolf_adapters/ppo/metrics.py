"""Metrics: what a training measures, one line of JSON an iteration, and the same for TensorBoard.

A name is ``group/name``. The groups are fixed:

========== ===========================================================================================================
rollout    what was played, with what was drawn. Both kinds: return, success, length, episodes, steps. vector: entropy;
           score (where environment.score is given); family/… (where variants are known: success and score or return of
           each group). language: score, tool_calls, tokens, chosen (of these, by the policy; both of an answer),
           malformed and cut (shares of answers), timeouts (share of answers whose command ran past its time-out),
           faults, fault_share (of episodes), too_long (episodes that begin with more than the window holds), family/…;
           with rollout.staleness: staleness (updates between the two policies, mean over answers), dropped (episodes
           of one that was too old); with rollout.actors: replayed (episodes that were played again)
policy     the actor. Both: loss, entropy, kl, first_kl (before the first step: 0), gradient, steps (of the optimiser),
           learning_rate, clipped_identify, clipped_assess, clipped_dispatch, clipped_execute (share of samples that
           were clipped, of all that an update learns from, also again; kl and first_kl are of what was just played: how
           far from the policy that played it, before each step, kl their mean).
           language: reference_kl (divergence from what it began as, before the update), kl_weight (of it in the loss)
           with training.kl; stale_weight (mean of what samples of an older policy count: 1 but for chance) and
           stale_truncated (share cut) with rollout.staleness
value      the critic: loss, explained (share of the variance of returns)
reward     what rewards are made of, as they are learned from. vector: mean of a step; curiosity, the part for what is
           new, with reward.curiosity
evaluation what is tested on, greedily. Both: return, success, success_low, success_high, score (vector: where
           environment.score is given). vector: return_low, return_high, score_low, score_high, length, entropy,
           episodes, steps. language: lost (episodes that could not be played, and count nowhere)
family     success of each family of tasks that is tested on; of more than 30 the last ones by name are told as others.
           vector: also …_score or …_return, each with _low and _high
variants   vector: the share of each group of variants in what was chosen
replay     vector, what was learned from again: steps, age [iterations], weight, truncated (share of the weights that
           were cut), covered (share of the 10 stored steps of highest causal priority that were drawn)
own        what else a learner measures. vector: imitation (loss while it imitates); hard_variants, hard_score,
           hard_imitated, hard_gain, hard_loss, hard_held with training.distillation. language: first_gap (largest
           difference of log-probabilities before the first step); warm_demonstrations, warm_loss, warm_epochs,
           warm_success with training.warm_start
time       [s] of an iteration: collect and in it environment and (language) generation; update; iteration, all of it,
           and sync, what of it was spent on what several processes add up or gather, waiting included; evaluation
========== ===========================================================================================================

``metrics.jsonl`` holds all but ``time``, and nothing in it depends on the clock: a training that was killed and resumed
writes the same bytes as an undisturbed one. What was not measured (NaN) is null. ``times.jsonl`` holds the times.
"""

from __future__ import annotations

import contextlib
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
        """Close the files, all of them, whatever goes wrong with one; may be called again.

        Raises:
            OSError: what was still to be written cannot be.
        """
        with contextlib.ExitStack() as stack:
            if self._writer is not None:
                stack.callback(self._writer.close)
            for file in reversed(self._files):
                stack.callback(file.close)


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
