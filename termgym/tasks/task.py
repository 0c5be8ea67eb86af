"""Task: everything an episode needs to know about what is to be done, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from termgym.checks import Check
from termgym.plan import ActionPlan

HOME = "/home/agent"
"""The agent's home, the same on every backend but ``local-unsafe``."""


@dataclass(frozen=True, slots=True)
class FileSpec:
    """One file of the initial state. Parents are made as needed; everything belongs to the agent."""

    path: str
    """Absolute path as the agent sees it, under a writable root (/home/agent, /tmp, /srv)."""
    content: bytes = b""
    mode: int = 0o644
    kind: str = "file"
    """``file``, ``dir`` or ``symlink`` (then ``content`` is the target)."""


@dataclass(frozen=True, slots=True)
class Service:
    """A program that runs when the episode starts, as the agent's user, before the shell."""

    argv: tuple[str, ...]
    ready_port: int | None = None
    """TCP port on loopback whose opening says that the program is ready."""
    ready_path: str | None = None
    """Path whose existence says that the program is ready."""
    cwd: str = HOME


@dataclass(frozen=True, slots=True)
class Limits:
    """What an episode may use. None means no limit of that kind."""

    memory_bytes: int | None = 1 << 30
    """Memory of all processes together [bytes]."""
    processes: int | None = 256
    """Processes and threads alive at once."""
    cpu_cores: float | None = None
    """CPU time per wall time [cores]."""
    file_bytes: int | None = 1 << 30
    """Largest file that may be written [bytes]."""
    disk_bytes: int | None = 1 << 30
    """All that the episode may write [bytes] (memory-backed snapshots)."""


@dataclass(frozen=True, slots=True)
class Task:
    """One instance of a task: family, cause and world seed already chosen."""

    id: str
    """``family/cause@seed``, e.g. ``git-dirty-pull/modified@7``; unique content for a unique id."""
    instruction: str
    """What the agent is asked to do, in a person's words; names the symptom, never the cause."""
    goal: tuple[Check, ...] = ()
    """All must hold for success. Empty: the episode has no goal (free shell)."""
    files: tuple[FileSpec, ...] = ()
    setup: str = ""
    """Bash script run once, as the agent in $HOME inside a sandbox without network, to finish the initial state.
    Its result is frozen (modification times set to SOURCE_DATE_EPOCH) and shared by every episode of this id."""
    tree: str | None = None
    """Host directory that is copied to become the initial $HOME, before ``files`` and ``setup``."""
    services: tuple[Service, ...] = ()
    read_only: tuple[str, ...] = ()
    """Paths of the initial state that are mounted read-only."""
    allowed: tuple[str, ...] = (f"{HOME}/**",)
    """Globs (``**`` crosses directories) of paths that may change without state drift."""
    required_env: Mapping[str, str] = field(default_factory=dict)
    """Shell variables that must have these values for the environment to count as active; ``*``: any non-empty."""
    limits: Limits = field(default_factory=Limits)
    oracle: tuple[ActionPlan, ...] = ()
    """Plans that reach the goal: the proof that it can be reached."""
    max_steps: int = 30
    symptom: tuple[ActionPlan, ...] = ()
    """Plans that show what the instruction complains of: in the initial state each ends with its expected exit status
    and its validation steps hold. ``validate`` runs them, episodes do not."""
    tags: tuple[str, ...] = ()
    family: str = ""
    cause: str = ""
    seed: int = 0
