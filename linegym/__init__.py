"""A production line as a Gymnasium environment.

Importing this package registers ``LineEnv-v1`` and nothing else; every name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gymnasium.envs.registration import register

if TYPE_CHECKING:
    from linegym.actions import close, describe, diagnose, dispatch, inspect, order, resume, throttle
    from linegym.batch import Batch
    from linegym.compilation import warmup
    from linegym.env import LineEnv
    from linegym.perturbations import LoadPerturbation, NetworkPerturbation, SensorPerturbation
    from linegym.plant import Crew, Fault, Order, Panel, Quantity, Verb
    from linegym.spaces import obs_spec
    from linegym.templates import Template, template
    from linegym.variants import Variant, run_seeds, split, variant
    from linegym.vector import LineVectorEnv

__all__ = [
    "Batch",
    "Crew",
    "Fault",
    "LineEnv",
    "LineVectorEnv",
    "LoadPerturbation",
    "NetworkPerturbation",
    "Order",
    "Panel",
    "Quantity",
    "SensorPerturbation",
    "Template",
    "Variant",
    "Verb",
    "close",
    "describe",
    "diagnose",
    "dispatch",
    "inspect",
    "obs_spec",
    "order",
    "resume",
    "run_seeds",
    "split",
    "template",
    "throttle",
    "variant",
    "warmup",
]

_HOMES = {
    **dict.fromkeys(("close", "describe", "diagnose", "dispatch", "inspect", "order", "resume", "throttle"), "actions"),
    **dict.fromkeys(("Crew", "Fault", "Order", "Panel", "Quantity", "Verb"), "plant"),
    **dict.fromkeys(("LoadPerturbation", "NetworkPerturbation", "SensorPerturbation"), "perturbations"),
    **dict.fromkeys(("Template", "template"), "templates"),
    **dict.fromkeys(("Variant", "run_seeds", "split", "variant"), "variants"),
    "Batch": "batch",
    "LineEnv": "env",
    "LineVectorEnv": "vector",
    "obs_spec": "spaces",
    "warmup": "compilation",
}
"""Where each public name lives, relative to this package."""

_ENVIRONMENTS = (("LineEnv-v1", "linegym.env:LineEnv", "linegym.vector:LineVectorEnv"),)
"""(id, entry point, vector entry point)"""


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
