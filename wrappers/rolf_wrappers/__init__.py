"""Change what is seen, done or paid, for any environment; one effect a file."""

from rolf_wrappers.distort_observation import Distortion, DistortObservation
from rolf_wrappers.drift_observation import Drift, DriftObservation
from rolf_wrappers.impulse_observation import ImpulseObservation, Impulses
from rolf_wrappers.jitter_frames import Jitter, JitterFrames
from rolf_wrappers.metrics_info import MetricsInfo
from rolf_wrappers.network import Network
from rolf_wrappers.network_action import NetworkAction
from rolf_wrappers.network_observation import NetworkObservation
from rolf_wrappers.noisy_observation import Noise, NoisyObservation
from rolf_wrappers.record_cast import RecordCast
from rolf_wrappers.record_trajectory import RecordTrajectory
from rolf_wrappers.rotate_interface import RotateInterface
from rolf_wrappers.stick_observation import Sticking, StickObservation

__all__ = [
    "DistortObservation",
    "Distortion",
    "Drift",
    "DriftObservation",
    "ImpulseObservation",
    "Impulses",
    "Jitter",
    "JitterFrames",
    "MetricsInfo",
    "Network",
    "NetworkAction",
    "NetworkObservation",
    "Noise",
    "NoisyObservation",
    "RecordCast",
    "RecordTrajectory",
    "RotateInterface",
    "StickObservation",
    "Sticking",
]
