"""Services: programs of a task that run before the shell does, and for as long as the episode."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from termgym.errors import SandboxError
from termgym.sandbox.birth import START_DEADLINE
from termgym.sandbox.execution import Entrance, start
from termgym.sandbox.offspring import finish
from termgym.sandbox.processes import listening_ports
from termgym.sandbox.reading import look_up

_PAUSE = 0.002  # between two looks whether it is ready [s]


def start_service(
    entrance: Entrance, argv: Sequence[str], env: Mapping[str, str], cwd: str, is_ready: Callable[[], bool]
) -> None:
    """Start one service inside a sandbox and wait until it is ready.

    Raises:
        SandboxError: it is not ready in time.
    """
    null = os.open(os.devnull, os.O_RDWR)
    try:
        pid = start(entrance, argv, env, cwd, (null, null, null), detach=True)
    finally:
        os.close(null)
    finish(pid, START_DEADLINE)
    end = time.monotonic() + START_DEADLINE
    while not is_ready():
        if time.monotonic() > end:
            raise SandboxError(f"service {argv!r} is not ready after {START_DEADLINE:.0f} s")
        time.sleep(_PAUSE)


def ready(service: Mapping[str, Any], watched: int, live: Path) -> bool:
    """Return whether what tells that a service is ready is there.

    Args:
        service: as it was asked for.
        watched: a process in its network namespace.
        live: the agent's tree.
    """
    port, path = service["ready_port"], service["ready_path"]
    if port is not None and port not in listening_ports(watched):
        return False
    return path is None or look_up(live, path) is not None
