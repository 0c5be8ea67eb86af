"""check_close: an environment can be closed at any time, more than once, and takes nothing from another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rolf.checks.acting import Actions
from rolf.checks.player import Player
from rolf.checks.reproduction import COMPARES, Call, Reproduction, calls_code, compare_code
from rolf.checks.subject import EnvLike
from rolf.checks.tape import parting
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored

CLOSE = Call("close", "env.close()")
OTHER = "closing an environment changes what another one does: they share something that close() ends"


def check_close(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    volatile: Sequence[str] = (),
) -> None:
    """Check that ``close`` may be called before the first reset, in an episode and again, and that others go on.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with; the first is used.
        steps: Most steps of an episode; half of them are before another environment is closed.
        volatile: Fields that may differ, beside those of ``metadata["volatile"]``.

    Raises:
        CheckFailed: ``close`` raised, or disturbed another environment.
    """
    trial = Trial.of("check_close", env, actions, seeds, steps, volatile)
    seed = trial.seeds[0]
    with generators_restored():
        _close_twice(Player(trial, trial.subject.make()))
        with trial.player() as alone:
            taken = alone.play(seed)
        with trial.player() as going_on:
            other = Player(trial, trial.subject.make())
            other.reset(seed)
            half = taken[: len(taken) // 2]
            going_on.replay(seed, half)
            _close_twice(other)
            going_on.go_on(taken[len(half) :])
            _same(trial, alone, going_on, half)


def _close_twice(player: Player) -> None:
    for _ in range(2):
        player.asked(CLOSE, player.env.close)


def _same(trial: Trial, alone: Player, going_on: Player, half: Sequence[Any]) -> None:
    """Compare an undisturbed episode with one in whose middle another environment was closed."""
    parted = parting(alone.tape, going_on.tape, alone.volatile)
    if parted is None:
        return
    code, space, name = trial.subject.code, alone.env.action_space, parted.name
    begin = 1 + len(half)
    calls = alone.calls[: parted.left.calls]
    lines = (
        "def play(closes):",
        f"    env, other = {code.expression}, {code.expression}",
        f"    other.reset(seed={alone.calls[0].argument})",
        *(f"    {line}" for line in calls_code(calls[:begin], space)),
        "    if closes:",
        "        other.close()",
        *(f"    {line}" for line in calls_code(calls[begin:], space)),
        f"    return {name}",
        "",
        *compare_code(name, "play(False), play(True)", alone.volatile),
    )
    values = {"undisturbed": parted.found.left, "another was closed": parted.found.right}
    raise trial.failed(OTHER, parted.place, values, Reproduction((*code.imports, COMPARES), lines))
