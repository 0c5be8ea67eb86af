"""check_reward_terms: the terms that a reward is told to consist of sum to it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rolf.checks.acting import Actions
from rolf.checks.errors import NotApplicable
from rolf.checks.player import Player
from rolf.checks.reproduction import Reproduction
from rolf.checks.subject import EnvLike
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored

TOLERANCE = 1e-9
"""By how much sum and reward may differ, for each unit of the largest: terms may be added up in another order."""
NO_NUMBERS = 'info["reward_terms"] must be finite numbers by name'
NO_SUM = 'info["reward_terms"] do not sum to the reward'


def check_reward_terms(
    env: EnvLike, *, actions: Actions = None, seeds: Sequence[int] = SEEDS, steps: int = STEPS
) -> None:
    """Check that ``info["reward_terms"]``, numbers by name, sum to the reward of each step.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with.
        steps: Most steps of an episode.

    Raises:
        CheckFailed: they do not.
        NotApplicable: no step tells any; or it is a vector environment.
    """
    trial = Trial.of("check_reward_terms", env, actions, seeds, steps, ())
    told = False
    with generators_restored(), trial.player() as player:
        trial.single(player)
        for seed in trial.seeds:
            player.reset(seed)
            for _ in range(trial.steps):
                if player.over:
                    break
                player.step(player.choose())
                if "reward_terms" in player.info:
                    told = True
                    _look(trial, player)
    if not told:
        raise NotApplicable('info of no step has "reward_terms"')


def _look(trial: Trial, player: Player) -> None:
    terms, reward = player.info["reward_terms"], player.returned["reward"]
    problem = terms_fault(terms, reward)
    if problem is not None:
        values = {"reward": repr(reward), "terms": f"{terms!r:.300}"}
        if problem == NO_SUM:
            values["their sum"] = repr(math.fsum(terms.values()))
        end = "assert terms_fault(info['reward_terms'], reward) is None, (info['reward_terms'], reward)"
        imports = ("from rolf.checks.rewards import terms_fault",)
        shown = Reproduction.of_one(trial.subject.code, player, end, imports=imports)
        raise trial.failed(problem, player.place._replace(field="info.reward_terms"), values, shown)


def terms_fault(terms: Any, reward: Any) -> str | None:
    """Return what is wrong with the terms that a reward is told to consist of, or None.

    Nothing sums to a reward that is no finite number; that fault is ``check_returns``'s to name, not one of the terms.
    """
    if not isinstance(terms, Mapping) or not all(map(_is_finite, terms.values())):
        return NO_NUMBERS
    if not _is_finite(reward):
        return None
    allowed = TOLERANCE * max(1.0, abs(reward), *map(abs, terms.values()))
    return None if abs(math.fsum(terms.values()) - reward) <= allowed else NO_SUM


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:  # it is no number
        return False
