"""check_returns: reset and step return what Gymnasium's interface asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rolf.checks.acting import Actions
from rolf.checks.player import Player
from rolf.checks.reproduction import Reproduction
from rolf.checks.subject import EnvLike
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored


def is_finite_number(value: Any) -> bool:
    """Return whether a value can be the reward of a step."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return number and math.isfinite(value)


class _Asked(NamedTuple):
    """What is asked of a value."""

    allowed: str
    holds: Callable[[Any], bool]
    code: str
    """The same as Python."""


_INFO = _Asked(
    "a dict with strings as keys",
    lambda info: isinstance(info, dict) and all(isinstance(key, str) for key in info),
    "isinstance(info, dict) and all(isinstance(key, str) for key in info)",
)
_SINGLE = {
    "reward": _Asked(
        "a finite number",
        is_finite_number,
        "isinstance(reward, (int, float, numpy.integer, numpy.floating)) and numpy.isfinite(reward)",
    ),
    **{
        name: _Asked(
            "True or False",
            lambda end: isinstance(end, (bool, np.bool_)),
            f"isinstance({name}, (bool, numpy.bool_))",
        )
        for name in ("terminated", "truncated")
    },
    "info": _INFO,
}


def check_returns(env: EnvLike, *, actions: Actions = None, seeds: Sequence[int] = SEEDS, steps: int = STEPS) -> None:
    """Check that ``reset`` and ``step`` return what Gymnasium's interface asks for.

    ``reset`` returns an observation and a dictionary; ``step`` an observation, a finite reward, two truth values and a
    dictionary, whose keys are strings. Of a vector environment rewards and ends are arrays of one a row.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act.
        seeds: What to begin episodes with.
        steps: Most steps of an episode.

    Raises:
        CheckFailed: something else was returned.
    """
    trial = Trial.of("check_returns", env, actions, seeds, steps, ())
    with generators_restored(), trial.player() as player:
        for seed in trial.seeds:
            player.reset(seed)
            _look(trial, player)
            for _ in range(trial.steps):
                if player.over:
                    break
                player.step(player.choose())
                _look(trial, player)


def _look(trial: Trial, player: Player) -> None:
    rows = getattr(player.env, "num_envs", None)
    asked: Mapping[str, _Asked] = _SINGLE if rows is None else _of_rows(rows)
    for name, value in player.returned.items():
        if name in asked and not asked[name].holds(value):
            values = {"allowed": asked[name].allowed, "got": f"{value!r:.200} of type {type(value).__name__}"}
            end = f"assert {asked[name].code}, {name}"
            shown = Reproduction.of_one(trial.subject.code, player, end, imports=("import numpy",))
            problem = f"{name} is not what Gymnasium's interface asks for"
            raise trial.failed(problem, player.place._replace(field=name), values, shown)


def _of_rows(rows: int) -> dict[str, _Asked]:
    """Return what is asked of the values that a vector environment returns."""

    def array(name: str, kinds: str, allowed: str) -> _Asked:
        return _Asked(
            f"an array of {rows} {allowed}",
            lambda got: (
                isinstance(got, np.ndarray)
                and got.shape == (rows,)
                and got.dtype.kind in kinds
                and bool(np.isfinite(got).all())
            ),
            f"{name}.shape == ({rows},) and {name}.dtype.kind in {kinds!r} and numpy.isfinite({name}).all()",
        )

    ends = {name: array(name, "b", "truth values") for name in ("terminated", "truncated")}
    return {"reward": array("reward", "iuf", "finite numbers"), **ends, "info": _INFO}
