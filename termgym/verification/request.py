"""What a sandbox is asked to run once the agent is gone, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TOOLS = "/run/rolf"
"""Where the tools that a verifier may want appear, for the time of the verification alone."""
COLLECTED = ("reward.json", "reward.txt")
"""Files under /logs/verifier that Harbor reads, the first of them first."""
LARGEST_FILE = 1 << 20
"""Largest file that comes back [bytes]; a reward is a few."""


@dataclass(frozen=True, slots=True)
class Verification:
    """One run of a verifier on the tree that the agent left, in namespaces made anew."""

    tests: str
    """Host directory; a copy of it is ``/tests``."""
    command: tuple[str, ...]
    timeout: float
    """[s]"""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Over the image's ``ENV``; nothing comes from the agent's shell."""
    user: str = ""
    """As ``USER`` in a Dockerfile; empty: root."""
    workdir: str = ""
    """Empty: the image's ``WORKDIR``."""
    put_back: tuple[str, ...] = ()
    """Agent paths that are shown as the image has them. Parents come before what lies in them."""
    hidden: tuple[str, ...] = ()
    """Agent paths, files or whole directories, that are not shown."""
    tools: str = ""
    """Host directory that is shown read-only as `TOOLS`, its ``bin`` first on PATH; empty: none."""
    collect: tuple[str, ...] = COLLECTED
    """Files under /logs/verifier that come back."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What a verification came to. Everything that it started is dead."""

    exit_code: int
    """128 + signal number if a signal ended it. It decides nothing."""
    timed_out: bool
    output: bytes
    """Both streams as they came, head and tail kept if it was too much."""
    output_bytes: int
    """How much there was before the cut [bytes]."""
    files: Mapping[str, bytes]
    """Regular files among those to be collected, up to `LARGEST_FILE`."""
    odd: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Those that were there and yet did not come back, and why: a FIFO, a link, too large."""
    refused: str = ""
    """Why its end says nothing: it could not be started, or was starved of memory. Empty otherwise."""
