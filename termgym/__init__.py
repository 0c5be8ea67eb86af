"""A real Linux terminal as a Gymnasium environment.

Importing this package registers ``TermEnv-v1`` and nothing else; every name below is loaded when it is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from gymnasium.envs.registration import register

if TYPE_CHECKING:
    from termgym.env import TermEnv
    from termgym.event import Event
    from termgym.plan import ActionPlan, Keys, Submit, keys, parse_action, plan, plan_schema, submit
    from termgym.reward.terms import RewardWeights
    from termgym.tasks.task import Limits, Task
    from termgym.vector import TermVectorEnv

__all__ = [
    "ActionPlan",
    "Event",
    "Keys",
    "Limits",
    "RewardWeights",
    "Submit",
    "Task",
    "TermEnv",
    "TermVectorEnv",
    "keys",
    "parse_action",
    "plan",
    "plan_schema",
    "submit",
]

_HOMES = {
    "ActionPlan": "plan",
    "Event": "event",
    "Keys": "plan",
    "Limits": "tasks.task",
    "RewardWeights": "reward",
    "Submit": "plan",
    "Task": "tasks.task",
    "TermEnv": "env",
    "TermVectorEnv": "vector",
    "keys": "plan",
    "parse_action": "plan",
    "plan": "plan",
    "plan_schema": "plan",
    "submit": "plan",
}
"""Where each public name lives, relative to this package."""

_ENVIRONMENTS = (("TermEnv-v1", "termgym.env:TermEnv", "termgym.vector:TermVectorEnv"),)
"""(id, entry point, vector entry point)"""


class _Package(ModuleType):
    """A package whose functions ``plan`` and ``keys`` stay what they are when the modules of those names are imported.

    The import system binds every submodule in its package: ``from termgym.plan import ActionPlan`` anywhere would turn
    ``termgym.plan(...)`` into a call of a module.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


for _id, _entry_point, _vector_entry_point in _ENVIRONMENTS:
    register(id=_id, entry_point=_entry_point, vector_entry_point=_vector_entry_point)
