"""check_no_aliasing: what an environment has returned is the caller's, and stays what it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rolf.checks.acting import Actions
from rolf.checks.player import Player
from rolf.checks.reproduction import COMPARES, Reproduction, calls_code, compare_code, play_code
from rolf.checks.subject import EnvLike
from rolf.checks.tape import parting
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored
from rolf.plain import plain

CHANGED = "what an earlier call returned was changed by a later one: a buffer is returned; return a copy"
SHARED = "writing into what was returned changes what happens next: the state itself is returned; return a copy"
SCRIBBLES = "from rolf.checks.aliasing import scribble"


def check_no_aliasing(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    volatile: Sequence[str] = (),
) -> None:
    """Check that observations and infos are the caller's own.

    They are not changed by later steps, and writing into their arrays changes nothing of what happens next.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with.
        steps: Most steps of an episode.
        volatile: Fields that may differ, beside those of ``metadata["volatile"]``.

    Raises:
        CheckFailed: they are not.
    """
    trial = Trial.of("check_no_aliasing", env, actions, seeds, steps, volatile)
    for seed in trial.seeds:
        with generators_restored(), trial.player() as kept, trial.player() as scribbled:
            taken = _kept(trial, kept, seed)
            scribbled.reset(seed)
            scribble(scribbled.returned)
            for action in taken:
                scribbled.step(action)
                scribble(scribbled.returned)
            _compare(trial, kept, scribbled)


def _kept(trial: Trial, player: Player, seed: int) -> list[Any]:
    """Play an episode, keep all that was returned, and look at it after each step; return the actions."""
    player.reset(seed)
    kept = [player.returned]
    taken: list[Any] = []
    while not player.over and len(taken) < trial.steps:
        taken.append(player.choose())
        player.step(taken[-1])
        kept.append(player.returned)
        for returned, answer in zip(kept[:-1], player.tape, strict=False):
            now = answer._replace(values=plain(returned))
            parted = parting([answer], [now], player.volatile)
            if parted is not None:
                values = {"returned": parted.found.left, f"after step {player.place.step}": parted.found.right}
                raise trial.failed(CHANGED, parted.place, values, _changed(player, answer.calls, parted.name))
    return taken


def _changed(player: Player, count: int, name: str) -> Reproduction:
    """Return what shows that a later call changes what the one of that number returned."""
    code, space = player.trial.subject.code, player.env.action_space
    lines = (
        f"env = {code.expression}",
        *calls_code(player.calls[:count], space),
        f"kept, copied = {name}, copy.deepcopy({name})",
        *calls_code(player.calls[count:], space),
        *compare_code(name, "copied, kept", player.volatile),
    )
    return Reproduction((*code.imports, "import copy", COMPARES), lines)


def scribble(value: Any) -> None:
    """Write into every array of a value that can be written into."""
    if isinstance(value, np.ndarray) and value.dtype != object and value.flags.writeable:
        value[...] = np.zeros((), value.dtype) if value.any() else np.ones((), value.dtype)
    elif isinstance(value, dict):
        for each in value.values():
            scribble(each)
    elif isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        for each in value:
            scribble(each)


def _compare(trial: Trial, left: Player, right: Player) -> None:
    """Compare an undisturbed episode with one whose answers were written into."""
    parted = parting(left.tape, right.tape, left.volatile)
    if parted is None:
        return
    code, space, name = trial.subject.code, left.env.action_space, parted.name
    calls = left.calls[: parted.left.calls]
    scribbled = calls_code(calls[:-1], space, after=("scribble((observation, info))",))
    lines = (
        *play_code("play", code, calls_code(calls, space), name),
        *play_code("play_and_scribble", code, [*scribbled, *calls_code(calls[-1:], space)], name),
        *compare_code(name, "play(), play_and_scribble()", left.volatile),
    )
    values = {"left alone": parted.found.left, "written into": parted.found.right}
    raise trial.failed(SHARED, parted.place, values, Reproduction((*code.imports, COMPARES, SCRIBBLES), lines))
