"""check_seeding: a seed, 0 too, fixes everything that follows, and different seeds give different episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rolf.checks.acting import Actions
from rolf.checks.player import Player
from rolf.checks.reproduction import COMPARES, Reproduction
from rolf.checks.subject import EnvLike
from rolf.checks.tape import parting
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored

MORE_SEEDS = range(10)
"""Tried too before it is said that seeds make no difference: two may give the same by chance."""
UNSEEDED = 3
"""Resets without a seed that are tried before it is said that nothing is random."""


def check_seeding(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    volatile: Sequence[str] = (),
) -> None:
    """Check that a seed fixes what follows, whatever was played before, and that seeds make a difference.

    In one environment ``reset(seed=s)`` begins the same episode the first time and after others; 0 is a seed. If
    episodes differ at all, they differ by seed. An environment in which nothing is random passes.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with; 0 is always among them.
        steps: Most steps of an episode.
        volatile: Fields that may differ, beside those of ``metadata["volatile"]``.

    Raises:
        CheckFailed: the same seed gave another episode, or different seeds always the same.
    """
    trial = Trial.of("check_seeding", env, actions, seeds, steps, volatile)
    asked = tuple(dict.fromkeys((0, *trial.seeds)))
    with generators_restored(), trial.player() as player:
        first = {seed: (len(player.tape), player.play(seed)) for seed in asked}
        for seed, (begin, taken) in first.items():
            again = len(player.tape)
            player.replay(seed, taken)
            if seed == 0:
                problem = "reset(seed=0) began another episode than before; write `if seed is not None`, not `if seed`"
            else:
                problem = f"reset(seed={seed}) began another episode than before; it must start everything anew"
            trial.compare(problem, player, player, ("the first time", "again"), (begin, again))
        _differ(trial, player, first[0][1])


def _differ(trial: Trial, player: Player, actions: Sequence[Any]) -> None:
    """Refuse an environment whose episodes differ, but not by seed."""
    tried = sorted({*trial.seeds, *MORE_SEEDS} - {0})
    if any(_unlike(player, seed, actions) for seed in tried):
        return
    if not any(_unlike(player, None, actions) for _ in range(UNSEEDED)):
        return  # nothing here is random
    code = trial.subject.code
    lines = (
        f"env = {code.expression}",
        f"begun = [env.reset(seed=seed)[0] for seed in {[0, *tried]}]",
        "differs = [difference('observation', begun[0], each) is not None for each in begun]",
        "assert any(differs), 'all seeds begin alike, and a reset without a seed does not'",
    )
    problem = f"the seeds 0 to {max(tried)} all give the same episode, but a reset without a seed gives another; "
    problem += "draw from self.np_random after super().reset(seed=seed)"
    raise trial.failed(problem, None, None, Reproduction((*code.imports, COMPARES), lines))


def _unlike(player: Player, seed: int | None, actions: Sequence[Any]) -> bool:
    """Return whether an episode differs from the first one; ``info`` may tell the seed itself."""
    begin = len(player.tape)
    player.replay(seed, actions)
    return parting(player.tape, player.tape[begin:], (*player.volatile, "info")) is not None
