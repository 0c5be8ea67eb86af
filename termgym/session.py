"""Session: one persistent bash (contract; being written)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from termgym.result import StepResult


class Terminal(NamedTuple):
    """Our ends of a shell's ptys and report pipe, and the ways to end it. Made by a sandbox, used by a Session."""

    command_fd: int
    """Master of the raw command pty (the shell's fd 0)."""
    main_fd: int
    """Master of the controlling terminal (fd 1; keystrokes go here)."""
    error_fd: int
    """Master of the error pty (fd 2)."""
    report_fd: int
    """Read end of the report pipe (the shell's fd 240)."""
    script_fd: int
    """memfd shared with the shell (its fd 241) for commands too long to type."""
    shell_pid: int
    """The shell's pid as this process sees it."""
    wait: Callable[[float], int | None]
    """``wait(seconds)``: the shell's exit status (128 + signal), or None if it has not ended by then."""
    kill_all: Callable[[], None]
    """Kill every process of the sandbox; returns when none is left. The last rung of the ladder."""
    pids: Callable[[], Sequence[int]]
    """Every process of the sandbox as this process sees it, the shell included."""


class Session:
    """See shared design termgym.md section 2."""

    def __init__(self, terminal: Terminal, *, watch: Sequence[str] = (), output_limit: int = 32_768) -> None: ...

    def begin(self, command: bytes, *, timeout: float, idle_timeout: float | None = None,
              dialogue: Sequence[tuple[str, str]] = ()) -> None:
        """Send a command; returns at once. Drive it with ``fds``, ``ready`` and ``tick`` until ``result`` is there."""

    def begin_keys(self, keys: bytes, *, timeout: float, idle_timeout: float | None = None) -> None:
        """Send keystrokes to the program that waits for input."""

    def interests(self) -> Sequence[tuple[int, int]]:
        """(fd, poll event mask) pairs to watch now."""

    def ready(self, fd: int, events: int) -> None: ...

    def deadline(self) -> float:
        """When ``tick`` wants to be called next [s, time.monotonic()]."""

    def tick(self) -> None: ...

    @property
    def result(self) -> StepResult | None:
        """The outcome, once the step has ended."""

    @property
    def waiting(self) -> bool:
        """Whether the last step ended in WAITING_INPUT and the program still waits."""

    def step(self, command: bytes, *, timeout: float, idle_timeout: float | None = None,
             dialogue: Sequence[tuple[str, str]] = ()) -> StepResult:
        """``begin`` and drive to the end."""

    def exported(self) -> Mapping[str, str]:
        """Exported variables of the shell now."""

    @property
    def alive(self) -> bool: ...

    def close(self) -> None: ...
