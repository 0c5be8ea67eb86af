"""check_no_leaks: an environment that is closed, or dropped, leaves nothing behind."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from pathlib import Path

from rolf.checks.acting import Actions
from rolf.checks.errors import NotApplicable
from rolf.checks.holdings import held
from rolf.checks.player import Player
from rolf.checks.process import FreshProcess
from rolf.checks.reproduction import Reproduction, calls_code
from rolf.checks.subject import EnvLike
from rolf.checks.trial import SEEDS, Trial

ROUNDS = 3
"""Environments that are made and given up before it is counted what is left."""
STEPS = 5
PATIENCE = 10.0
GLANCE = 0.05
"""Time between two looks at what is still there [s]."""
STILL = 4
"""Looks in a row at which nothing has gone, before it is counted what is there."""
WAYS = ("closed", "dropped without close")
SURVIVORS = "processes after the program"
"""What outlives the program that made the environments."""

Left = dict[str, dict[str, list[str]]]
"""What was left, by way and kind."""
Counted = tuple[Left, list[str]]
"""That, and the calls of each environment as Python."""


def check_no_leaks(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    patience: float = PATIENCE,
) -> None:
    """Check that nothing is left of environments that are closed, or dropped without ``close``.

    Counted are processes, threads, open files, files in the directory for temporary ones, and mounts, over several
    environments in a fresh process; what is made once and kept is no leak. Processes that have left their parents, and
    outlive the program, are found too, and ended.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with; the first is used.
        steps: Most steps of an episode.
        patience: How long what is ending may take to be gone [s].

    Raises:
        CheckFailed: something is left of each environment.
        NotApplicable: the environment cannot be made in another process, or the system has no ``/proc``.
    """
    trial = Trial.of("check_no_leaks", env, actions, seeds, steps, ())
    if not Path("/proc/self/task").exists():
        raise NotApplicable("this system has no /proc, from which is read what a process holds")
    with FreshProcess("rolf.checks.warden", (trial, patience), {}) as process:
        left, calls = process.result()
    for way, kinds in left.items():
        for kind, names in kinds.items():
            problem = f"{kind} are left of environments that were {way}: {len(names)} of {ROUNDS}"
            values = {str(number): name[:200] for number, name in enumerate(names[:ROUNDS], start=1)}
            raise trial.failed(problem, None, values, _reproduction(trial, way, kind, calls))


def main(request: tuple[Trial, float]) -> Counted:
    """Be the fresh process: make, play and give up environments, and return what is left of them."""
    trial, patience = request
    for way in WAYS:
        calls = _round(trial, way)  # what is made once is made now
    left: Left = {}
    for way in WAYS:
        before = _settled(patience)
        for _ in range(ROUNDS):
            _round(trial, way)
        found = _left(before, patience)
        if found:
            left[way] = found
    return left, calls


def _round(trial: Trial, way: str) -> list[str]:
    """Make, play and give up one environment; return its calls as Python."""
    player = Player(trial, trial.subject.make())
    for seed in (trial.seeds[0], None):
        player.play(seed)
    if way == WAYS[0]:
        player.env.close()
    return calls_code(player.calls, player.env.action_space)


def _settled(patience: float) -> dict[str, set[str]]:
    """Return what is held once nothing has gone for a few looks: what is just ending would make room for a leak."""
    begun, looks = time.monotonic(), 0
    gc.collect()
    before = held()
    while looks < STILL and time.monotonic() - begun < patience:
        time.sleep(GLANCE)
        gc.collect()
        now = held()
        looks = 0 if any(before[kind] - now[kind] for kind in before) else looks + 1
        before = now
    return before


def _left(before: dict[str, set[str]], patience: float) -> dict[str, list[str]]:
    """Return what has been added for each environment, once it has had time to go."""
    begun = time.monotonic()
    while True:
        gc.collect()
        now = held()
        grown = {kind: sorted(now[kind] - before[kind]) for kind in now if len(now[kind]) >= len(before[kind]) + ROUNDS}
        if not grown or time.monotonic() - begun > patience:
            return grown
        time.sleep(GLANCE)


def _reproduction(trial: Trial, way: str, kind: str, calls: Sequence[str]) -> Reproduction:
    code = trial.subject.code
    kind, survives = ("processes", True) if kind == SURVIVORS else (kind, kind == "processes")
    imports, first = ["import gc", "from rolf.checks.holdings import held"], []
    if survives:
        imports += ["import ctypes"]
        first = ["ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: adopt what leaves its parents", ""]
    if kind == "temporary files":
        imports += ["import os", "import tempfile"]
        first = ['os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp()', ""]
    lines = (
        *first,
        "def play():",
        f"    env = {code.expression}",
        *(f"    {line}" for line in calls),
        *(["    env.close()"] if way == WAYS[0] else []),
        "",
        "play()",
        f"before = held()[{kind!r}]",
        f"for _ in range({ROUNDS}):",
        "    play()",
        "gc.collect()",
        f"after = held()[{kind!r}]",
        f"assert len(after) < len(before) + {ROUNDS}, after - before",
    )
    return Reproduction((*code.imports, *imports), lines)
