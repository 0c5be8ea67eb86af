"""Change what is seen, done or paid, for any environment; one effect a file."""

from rolf_wrappers.metrics_info import MetricsInfo
from rolf_wrappers.record_cast import RecordCast
from rolf_wrappers.record_trajectory import RecordTrajectory

__all__ = ["MetricsInfo", "RecordCast", "RecordTrajectory"]
