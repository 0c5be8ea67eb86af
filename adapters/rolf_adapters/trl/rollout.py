"""Rollout: an episode that is played by calls of tools, from a row of a data set to its reward."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium as gym

from rolf.interface import Call, CallError, Tooled
from rolf.interface.call import checked
from rolf.interface.layouts import layout
from rolf.variant import SEEDS, Variant

FAULTS = 3
"""How many episodes in a row the machine may fail in, until that ends the training."""
FINISH = "submit"
"""The tool, without parameters, that says that all is done."""

_log = logging.getLogger(__name__)


class OverError(RuntimeError):
    """The episode is over, so that nothing can be called; TRL tells the model so."""


class Rollout:
    """One episode after another.

    An episode that the machine failed in has the reward NaN: TRL then leaves it out of its group's mean and of the
    gradient. Only after `FAULTS` of them in a row is the error raised, for it will not go away.

    Args:
        env_id: Gymnasium id with its module; what a row with a variant does not say.
        arguments: For ``gymnasium.make``.
        told: Layout of what the model is told: ``json``, ``tags``, ``transcript``.

    Raises:
        LookupError: there is no such layout.
    """

    def __init__(self, env_id: str, arguments: Mapping[str, Any] | None = None, *, told: str = "tags") -> None:
        self._usual = Variant(env_id, dict(arguments or {}))
        self._layout = layout(told)
        self._env: gym.Env[Any, Any] | None = None
        self._made = ""
        self._over = True
        self._paid = 0.0
        self._failed = 0
        self.fault = ""
        """How the machine failed in this episode; empty: it did not."""
        self.steps = 0
        """Steps of this episode."""

    def reset(self, row: Mapping[str, Any]) -> str:
        """Begin the episode of a row, and return what the model is told.

        Args:
            row: Has ``variant``, the JSON of a `rolf.variant.Variant`, and maybe ``attempt``; or ``seed``. All
                generations of one row meet the same world, which is what their rewards are compared for.

        Raises:
            ValueError: the row has neither, or its variant is none.
        """
        variant, seed = self._asked(row)
        self._paid, self.steps, self.fault, self._over = 0.0, 0, "", False
        try:
            env = self._environment(variant)
            observation, info = env.reset(seed=seed)
        except (RuntimeError, OSError) as error:  # what environments raise where their machine is to blame
            return self._broken(error)
        return "\n\n" + self._layout(_world(env).told(observation, info), "")

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Take the step that a call does, and return what the model is told.

        What is no call of a tool takes the step that the environment has for that.

        Raises:
            OverError: the episode is over.
        """
        if self._over or self._env is None:
            raise OverError(self.fault or "the episode is over; say that you are done and call nothing more")
        world = _world(self._env)
        try:
            action = world.action_of(checked(tool, dict(arguments), world.tools))
        except CallError as error:
            action = world.malformed(str(error))
        return self._step(action)

    def reward(self) -> float:
        """Return the sum of the episode's rewards; NaN where the machine failed.

        An episode that is not over is submitted first, where there is a tool for that: a model that calls nothing more
        says that it is done.
        """
        if not self._over and self._env is not None:
            world = _world(self._env)
            if any(tool.name == FINISH and not tool.required for tool in world.tools):
                self._step(world.action_of(Call(FINISH)))
            self._over = True
        if self.fault:
            return float("nan")
        self._failed = 0
        return self._paid

    def close(self) -> None:
        """Close the environment."""
        env, self._env = self._env, None
        if env is not None:
            env.close()

    def _step(self, action: Any) -> str:
        env = self._env
        assert env is not None
        try:
            observation, reward, terminated, truncated, info = env.step(action)
        except (RuntimeError, OSError) as error:
            return self._broken(error)
        self._paid += float(reward)
        self.steps += 1
        self._over = terminated or truncated
        if info.get("failure_kind") is not None:
            return self._broken(RuntimeError(f"{info['failure_kind']} in step {self.steps}"))
        did = self._layout(_world(env).told(observation, info), "")
        return f"{did}\nThe episode is over." if self._over else did

    def _broken(self, error: Exception) -> str:
        """Take in that the machine failed; raise the error where it keeps failing."""
        self.fault, self._over = f"the machine failed: {error}", True
        self._failed += 1
        _log.warning("an episode is left out, %s", self.fault)
        self.close()
        if self._failed >= FAULTS:
            raise error
        return f"\n\n{self.fault}"

    def _asked(self, row: Mapping[str, Any]) -> tuple[Variant, int]:
        """Return what is to be played, and the seed for ``reset``."""
        if row.get("variant") is not None:
            try:
                variant = Variant.from_json(json.loads(row["variant"]))
            except (TypeError, ValueError) as error:
                raise ValueError(f"the row's variant is {row['variant']!r:.100}: {error}") from error
            return variant, variant.attempt_seed(int(row.get("attempt") or 0))
        seed = row.get("seed")
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < SEEDS:
            given = f"seed={seed!r:.60}" if "seed" in row else f"only {', '.join(sorted(row)) or 'nothing'}"
            raise ValueError(
                f"the row has {given}; give it variant (JSON; rows() writes it) or seed (a whole number from 0), or "
                "the generations of one prompt would be compared in different worlds"
            )
        return self._usual, seed

    def _environment(self, variant: Variant) -> gym.Env[Any, Any]:
        """Return the environment of a variant: the one that is there, where it differs in its seed at most."""
        # Arguments that are no plain data, and so have no digest, can only be one's own.
        own = variant is self._usual
        made = "own" if own else Variant(variant.env_id, variant.kwargs, wrappers=variant.wrappers).digest
        if self._env is None or made != self._made:
            self.close()
            self._env, self._made = variant.make(), made
            _world(self._env)
        return self._env


def rows(variants: Iterable[Variant], purpose: str, *, attempt: int = 0) -> list[dict[str, Any]]:
    """Return the rows of a data set for ``GRPOTrainer``: ``Dataset.from_list(rows(…))``.

    Args:
        variants: What is played.
        purpose: The user's message; what the environment tells at first is put under it.
        attempt: Which attempt at each; gives the seeds.
    """
    return [
        {
            "prompt": [{"role": "user", "content": purpose}],
            "variant": json.dumps(variant.as_json(), ensure_ascii=False),
            "attempt": attempt,
        }
        for variant in variants
    ]


def _world(env: gym.Env[Any, Any]) -> Tooled:
    world = env.unwrapped
    if not isinstance(world, Tooled):
        raise TypeError(f"{env} has no tools to be called; it must offer what rolf.interface.Tooled asks for")
    return world
