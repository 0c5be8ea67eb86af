"""Roles: who may order what, and who sees what, when three agents share a line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from linegym.plant import ACTIONS, FIRST_DISPATCH, FIRST_INSPECT, FIRST_ORDER
from linegym.spaces import obs_spec

_LINE = ("time", "output", "scrap", "alarms", "idle_technicians", "stations", "open_orders")
"""What every role sees of the line; who asked for something impossible is told to that role alone."""
_FLOW = ("cycle", "upstream", "downstream", "panel")
_WORK_ORDER = ("order", "claim", "order_age", "alarm")


@dataclass(frozen=True, slots=True)
class Role:
    """One of the agents."""

    name: str
    actions: NDArray[np.int64]
    """(actions,) The flat action of ``LineEnv`` that each of the role's own stands for; the first does nothing."""
    places: NDArray[np.int64]
    """(numbers,) Places of what the role sees in the observation of ``LineEnv``."""
    observation_space: spaces.Dict
    action_space: spaces.Discrete

    def view(self, seen: NDArray[np.float32], mask: NDArray[np.bool_]) -> dict[str, NDArray[np.generic]]:
        """Return the role's observation.

        Args:
            seen: (632,) The whole observation.
            mask: (545,) Which flat actions are possible.
        """
        return {"action_mask": mask[self.actions].astype(np.int8), "observation": seen[self.places]}


def _role(name: str, first: int, after: int, **fields: tuple[str, ...]) -> Role:
    """Return the role that has the flat actions from ``first`` and sees these fields of each group."""
    actions = np.concatenate([[0], np.arange(first, after)])
    seen = [entry for entry in obs_spec() if _base(entry.name) in _wanted(fields)]
    box = spaces.Box(
        np.array([entry.min for entry in seen], np.float32), np.array([entry.max for entry in seen], np.float32)
    )
    return Role(
        name,
        actions,
        np.array([entry.index for entry in seen]),
        spaces.Dict({"action_mask": spaces.MultiBinary(len(actions)), "observation": box}),
        spaces.Discrete(len(actions)),
    )


def _base(name: str) -> str:
    """Return ``station.value`` for ``station[3].value[0]``."""
    group, _, field = name.partition(".")
    return f"{group.partition('[')[0]}.{field.partition('[')[0]}"


def _wanted(fields: dict[str, tuple[str, ...]]) -> set[str]:
    return {f"{group}.{field}" for group, names in {**fields, "line": _LINE}.items() for field in names}


def roles() -> tuple[Role, ...]:
    """Return the three roles in the order in which their commands are done; spaces are new ones, to be seeded apart."""
    sensing = ("value", "spread", "age", "gaps", "scan", "done", "clean", "inspection_age", "throttled")
    return (
        _role("diagnosis", FIRST_INSPECT, FIRST_ORDER, station=(*sensing, *_FLOW, *_WORK_ORDER)),
        _role("logistics", FIRST_ORDER, FIRST_DISPATCH, station=_WORK_ORDER, part=("stock", "coming", "arrival")),
        _role(
            "dispatch",
            FIRST_DISPATCH,
            ACTIONS,
            station=(*_FLOW, *_WORK_ORDER, "technician", "throttled"),
            technician=("state", "at", "to", "timer"),
            part=("stock",),
        ),
    )
