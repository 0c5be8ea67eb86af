"""check_restore: after going back to a kept moment everything goes as it did from there."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium

from rolf.checks.acting import Actions
from rolf.checks.errors import NotApplicable
from rolf.checks.order import ACCIDENTS
from rolf.checks.player import Player
from rolf.checks.reproduction import Call, Reproduction
from rolf.checks.subject import Code, EnvLike
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored

TIMES = 2
"""How often the moment is gone back to."""


def check_restore(
    env: EnvLike,
    *,
    actions: Actions = None,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    volatile: Sequence[str] = (),
) -> None:
    """Check that after ``restore(save())`` everything goes as it did from there, as often as wanted.

    Applies to environments with methods ``save()`` and ``restore(saved)``. In a stack of wrappers the outermost that
    has both is played; those around it cannot go back, and are left out. Where there is ``state_digest()``, it must
    come back too.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with.
        steps: Most steps of an episode; half of them are before the moment.
        volatile: Fields that may differ, beside those of ``metadata["volatile"]``.

    Raises:
        CheckFailed: something else came after the moment.
        NotApplicable: nothing in the stack can save and restore.
    """
    asked = Trial.of("check_restore", env, actions, seeds, steps, volatile)
    with generators_restored(), contextlib.closing(asked.subject.make()) as whole:
        inner, depth = _level(whole)
        code = Code(asked.subject.code.imports, f"{asked.subject.code.expression}{'.env' * depth}")
        trial = replace(asked, subject=replace(asked.subject, code=code))
        for seed in trial.seeds:
            _there_and_back(trial, Player(trial, inner), seed)


def _level(env: Any) -> tuple[gymnasium.Env[Any, Any], int]:
    """Return the outermost environment of a stack that can save and restore, and how many wrappers are around it."""
    depth = 0
    while True:
        if all(callable(getattr(type(env), name, None)) for name in ("save", "restore")) and hasattr(env, "step"):
            if hasattr(env, "num_envs"):
                break
            return env, depth
        if not isinstance(env, gymnasium.Wrapper):
            break
        env, depth = env.env, depth + 1
    raise NotApplicable("neither it nor what it wraps has save() and restore(saved)")


def _there_and_back(trial: Trial, player: Player, seed: int) -> None:
    env: Any = player.env
    half = player.play(seed, max(1, trial.steps // 2))
    if player.over:
        player.replay(seed, half[: len(half) // 2])
    saved = _saved(trial, player)
    digest = _digest(env)
    begin, place = len(player.tape), player.place
    taken: list[Any] = []
    while not player.over and len(taken) < trial.steps - trial.steps // 2:
        taken.append(player.choose())
        player.step(taken[-1])
    for time in range(TIMES):
        player.asked(Call("restore", "env.restore(saved)"), env.restore, saved)
        player.back_to(place)
        if digest is not None and _digest(env) != digest:
            problem = "state_digest() is not what it was when the moment was kept"
            lines = _digest_lines(player)
            shown = Reproduction((*trial.subject.code.imports,), lines)
            values = {"kept": digest, "restored": str(_digest(env))}
            raise trial.failed(problem, place, values, shown)
        again = len(player.tape)
        player.go_on(taken)
        times = "" if time == 0 else ", when it is gone back to again"
        problem = f"what comes after restore is not what came after save{times}; something is not kept, or not put back"
        trial.compare(problem, player, player, ("after save", "after restore"), (begin, again))


def _saved(trial: Trial, player: Player) -> Any:
    """Return a kept moment: this one, or where the environment refuses to keep it, saying so, one soon after."""
    env: Any = player.env
    reason = ""
    for _ in range(trial.steps):
        try:
            saved = env.save()
        except ACCIDENTS:
            return player.asked(Call("save", "saved = env.save()"), env.save)
        except Exception as error:  # noqa: BLE001 - in whichever way it says so
            reason = str(error)
            if player.over:
                break
            player.step(player.choose())
        else:
            player.calls.append(Call("save", "saved = env.save()"))
            return saved
    raise NotApplicable(f"save() keeps no moment of this episode: {reason}")


def _digest(env: Any) -> str | None:
    return str(env.state_digest()) if callable(getattr(env, "state_digest", None)) else None


def _digest_lines(player: Player) -> tuple[str, ...]:
    """Return what shows that the digest differs."""
    shown = Reproduction.of_one(player.trial.subject.code, player, "assert env.state_digest() == digest, digest").lines
    lines: list[str] = []
    for line in shown:
        lines.append(line)
        if line == "saved = env.save()":
            lines.append("digest = env.state_digest()")
    return tuple(lines)
