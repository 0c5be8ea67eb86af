"""Hand: how a policy writes its actions down, and reads what came of them, whatever the interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rolf.evaluation.policy import Start
from rolf.interface import in_style
from termgym.plan import ActionPlan, Keys, Submit


class Hand:
    """One policy's pen in one episode.

    Without a wrapper that rotates the interface an action is its JSON. With one it is a call in the wrapper's style.
    """

    def __init__(self, start: Start) -> None:
        self._env = start.env

    def written(self, action: ActionPlan | Keys | Submit) -> str:
        """Return an action as the environment wants to read it."""
        return str(in_style(self._env, action.model_dump_json()))


def asked(observation: Any) -> str:
    """Return what an episode's first observation says is to be done."""
    if isinstance(observation, Mapping) and "instruction" in observation:
        return str(observation["instruction"])
    return seen(observation)


def seen(observation: Any) -> str:
    """Return all that an observation says of the last command, as one text."""
    if isinstance(observation, str):
        return observation
    if isinstance(observation, Mapping):
        told = ("stdout", "stderr") if "stdout" in observation else tuple(observation)
        return "\n".join(str(observation[name]) for name in told if isinstance(observation[name], str))
    raise TypeError(f"an observation of type {type(observation).__name__} is no text; give TermEnv's own")
