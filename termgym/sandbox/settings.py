"""Settings of a machine: what it is made with and keeps for life."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from termgym.sandbox.limits import Enforcement


@dataclass(frozen=True, slots=True)
class Settings:
    """What a machine is made with and keeps for life."""

    isolation: str
    """``root``, ``userns`` or ``none``."""
    real_root: bool
    root: Path
    """What every sandbox sees (``rootfs``)."""
    proc_files: Sequence[tuple[str, str]]
    enforcement: Enforcement
    snapshot: str | None
    log_dir: Path | None
    network: bool
    filter: bytes | None
    """The seccomp filter; None where there is none."""
    apart: int | None
    """A user namespace beside the agent's (``apart``); None where there is none."""
    holds: bool
    """Whether processes can be held (``stillness``)."""
    masks: Sequence[tuple[str, str]]
    """What covers /proc where the agent is root."""
    bwrap: Path
    """Bubblewrap on a read-only mount."""
