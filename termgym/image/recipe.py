"""Recipe: where an image comes from, as plain data. Nothing is built before an episode needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an image is built from: a Dockerfile with its context, or a ready image of that name."""

    context: str = ""
    """Host directory that ``COPY`` reads from; empty: there is none."""
    dockerfile: str = ""
    """Host path of the Dockerfile; empty: ``reference`` is taken as it is."""
    reference: str = ""
    """What ``FROM`` would say, such as ``debian:12``, where there is no Dockerfile."""
    arguments: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Values of ``ARG``."""
    target: str = ""
    """Stage to stop at; empty: the last."""
    timeout: float = 600.0
    """How long the build may take [s]."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Variables that a task folder lays over ``ENV``; they change no layer."""
    cwd: str = ""
    """Directory that a task folder says instead of ``WORKDIR``; empty: the image's."""
    user: str = ""
    """User that a task folder says instead of ``USER``, for the agent; empty: the image's."""
