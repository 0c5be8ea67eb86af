"""Change what is seen, done or paid, for any environment; one effect a file."""

import importlib
from typing import TYPE_CHECKING

from rolf_wrappers.distort_observation import Distortion, DistortObservation
from rolf_wrappers.drift_observation import Drift, DriftObservation
from rolf_wrappers.encoded_observation import EncodedObservation
from rolf_wrappers.flat_float import FlatFloat
from rolf_wrappers.impulse_observation import ImpulseObservation, Impulses
from rolf_wrappers.jitter_frames import Jitter, JitterFrames
from rolf_wrappers.metrics_info import MetricsInfo
from rolf_wrappers.network import Network
from rolf_wrappers.network_action import NetworkAction
from rolf_wrappers.network_observation import NetworkObservation
from rolf_wrappers.noisy_observation import Noise, NoisyObservation
from rolf_wrappers.record_cast import RecordCast
from rolf_wrappers.record_trajectory import RecordTrajectory
from rolf_wrappers.stick_observation import Sticking, StickObservation
from rolf_wrappers.token_observation import TokenObservation

if TYPE_CHECKING:
    from rolf_wrappers.command_action import CommandAction
    from rolf_wrappers.menu_action import MenuAction
    from rolf_wrappers.param_action import ParamAction
    from rolf_wrappers.rotate_interface import RotateInterface
    from rolf_wrappers.tool_call_action import ToolCallAction

__all__ = [
    "CommandAction",
    "DistortObservation",
    "Distortion",
    "Drift",
    "DriftObservation",
    "EncodedObservation",
    "FlatFloat",
    "ImpulseObservation",
    "Impulses",
    "Jitter",
    "JitterFrames",
    "MenuAction",
    "MetricsInfo",
    "Network",
    "NetworkAction",
    "NetworkObservation",
    "Noise",
    "NoisyObservation",
    "ParamAction",
    "RecordCast",
    "RecordTrajectory",
    "RotateInterface",
    "StickObservation",
    "Sticking",
    "TokenObservation",
    "ToolCallAction",
]


_LATER = {
    "CommandAction": "command_action",
    "MenuAction": "menu_action",
    "ParamAction": "param_action",
    "RotateInterface": "rotate_interface",
    "ToolCallAction": "tool_call_action",
}
"""Wrappers that need pydantic, whose import takes as long as that of all the others, and their modules."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    globals()[name] = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    return globals()[name]
