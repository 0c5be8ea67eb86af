"""check_spaces: observations and actions are what the spaces say."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium import spaces

from rolf.checks.acting import Actions
from rolf.checks.errors import Place
from rolf.checks.player import Player
from rolf.checks.reproduction import Reproduction
from rolf.checks.stray import stray
from rolf.checks.subject import EnvLike
from rolf.checks.trial import SEEDS, STEPS, Trial, generators_restored
from rolf.difference import difference

SAMPLES = 10
"""Sampled actions that are written as JSON and read back."""


def check_spaces(env: EnvLike, *, actions: Actions = None, seeds: Sequence[int] = SEEDS, steps: int = STEPS) -> None:
    """Check that observations and actions are what the spaces say.

    Every observation lies in the observation space, with its dtype, shape and bounds; samples of the action space are
    accepted by ``step``; neither space changes; and actions come through JSON as they were, as trajectory files need.

    Args:
        env: The environment; see `rolf.checks`.
        actions: How to act, beside samples.
        seeds: What to begin episodes with.
        steps: Most steps of an episode.

    Raises:
        CheckFailed: something is not what the spaces say.
    """
    trial = Trial.of("check_spaces", env, actions, seeds, steps, ())
    ways = (None,) if actions is None else (None, actions)
    for way in ways:
        with generators_restored(), replace(trial, actions=way).player() as player:
            _Spaces(trial, player).check()


class _Spaces:
    def __init__(self, trial: Trial, player: Player) -> None:
        self._trial, self._player = trial, player
        for name in ("observation_space", "action_space"):
            if not isinstance(getattr(player.env, name, None), spaces.Space):
                raise trial.failed(f"env.{name} is no Gymnasium space; set it in __init__")
        self._observations = copy.deepcopy(player.env.observation_space)
        self._actions = copy.deepcopy(player.env.action_space)

    def check(self) -> None:
        """Play episodes and look at each answer."""
        self._round_trip()
        for seed in self._trial.seeds:
            self._player.reset(seed)
            self._seen()
            for _ in range(self._trial.steps):
                if self._player.over:
                    break
                self._player.step(self._player.choose())
                self._seen()

    def _seen(self) -> None:
        """Look at the latest answer."""
        found = stray("observation", self._observations, self._player.observation)
        if found is not None:
            problem = "an observation is not in observation_space; mend the space, or what is returned"
            self._fail(problem, found.field, "observation", {"allowed": found.allowed, "got": found.got})
        for name, before in (("observation_space", self._observations), ("action_space", self._actions)):
            if getattr(self._player.env, name) != before:
                values = {"before": repr(before)[:300], "now": repr(getattr(self._player.env, name))[:300]}
                self._fail(f"{name} has changed; whoever read it before acts on what it was", "", name, values)

    def _fail(self, problem: str, field: str, about: str, values: dict[str, str]) -> None:
        at: Place = self._player.place._replace(field=field)
        code = self._trial.subject.code
        if about == "observation":
            imports = ("from rolf.checks.stray import stray",)
            end = 'found = stray("observation", env.observation_space, observation)\nassert found is None, found'
            raise self._trial.failed(problem, at, values, Reproduction.of_one(code, self._player, end, imports=imports))
        end = f"assert env.{about} == {code.expression}.{about}, env.{about}"
        raise self._trial.failed(problem, at, values, Reproduction.of_one(code, self._player, end))

    def _round_trip(self) -> None:
        """Write samples of the action space as JSON and read them back."""
        self._actions.seed(self._trial.seeds[0])
        for _ in range(SAMPLES):
            action = self._actions.sample()
            written = json.dumps(self._actions.to_jsonable([action]))
            back = self._actions.from_jsonable(json.loads(written))[0]
            found = difference("action", _exact(action), _exact(back))
            if found is not None or not self._actions.contains(back):
                values = {"written": written[:300], "read back": repr(back)[:300]}
                code = self._trial.subject.code
                lines = (
                    "import json",
                    f"env = {code.expression}",
                    f"env.action_space.seed({self._trial.seeds[0]})",
                    f"for _ in range({SAMPLES}):",
                    "    action = env.action_space.sample()",
                    "    written = json.dumps(env.action_space.to_jsonable([action]))",
                    "    back = env.action_space.from_jsonable(json.loads(written))[0]",
                    '    found = difference("action", action, back)',
                    "    assert found is None and env.action_space.contains(back), (action, back)",
                )
                problem = "an action does not come through JSON as it was: to_jsonable and from_jsonable of its space"
                shown = Reproduction((*code.imports, "from rolf.difference import difference"), lines)
                raise self._trial.failed(problem, None, {"action": repr(action)[:300], **values}, shown)


def _exact(action: Any) -> Any:
    return action.item() if isinstance(action, np.generic) else action
