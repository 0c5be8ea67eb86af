"""Server: sessions behind OpenEnv's routes, on this machine's loopback address."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import uvicorn
from openenv.core.env_server import create_fastapi_app

from rolf_adapters.openenv.messages import Told, ToolCall, Whereabouts
from rolf_adapters.openenv.session import DEADLINE, Session

LOOPBACK = "127.0.0.1"


def app(
    env_id: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    sessions: int = 32,
    deadline: float = DEADLINE,
    told: str = "tags",
    choices: Sequence[str] = (),
) -> Any:
    """Return OpenEnv's FastAPI application for an environment.

    Args:
        env_id: Gymnasium id with its module.
        arguments: For ``gymnasium.make``.
        sessions: How many there may be at a time; one more is told that there is no room.
        deadline: How long a reset or a step may take [s].
        told: Layout of what is told: ``json``, ``tags``, ``transcript``.
        choices: Arguments that a client's variant may set, besides those that the environment says are harmless. All
            others are as ``arguments`` says, whoever asks: a client chooses no sandbox, no network and no limits.

    Raises:
        ValueError: there would be no session, or no time.
        TypeError: the environment has no tools.
        Exception: whatever the environment or Gymnasium says of its id and arguments.
    """
    if sessions < 1:
        raise ValueError(f"sessions={sessions}; give at least one")
    make = partial(Session, env_id, arguments, deadline=deadline, told=told, choices=tuple(choices))
    make().try_out()  # what is wrong with the arguments is told now, not to the first client
    name = env_id.rpartition(":")[2]
    return create_fastapi_app(make, ToolCall, Told, max_concurrent_envs=sessions, env_name=name, state_cls=Whereabouts)


def serve(
    application: Any, *, host: str = LOOPBACK, port: int = 8000, ready: Callable[[str], None] | None = None
) -> None:
    """Serve an application until the process is interrupted or told to end.

    Whoever reaches the port runs commands in the server's sandboxes: nobody is asked who they are. So it is on the
    loopback address; give another ``host`` only inside of a container, or behind something that asks.

    Args:
        application: What `app` returned.
        host: Address to listen on.
        port: Port; 0: a free one.
        ready: Is called with the URL as soon as clients can connect.

    Raises:
        OSError: nobody can listen there.
    """
    with _listening(host, port) as listening:
        if ready is not None:
            ready(f"http://{host}:{listening.getsockname()[1]}")
        uvicorn.Server(uvicorn.Config(application, log_level="warning")).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        reason = (
            f"cannot listen on {host}:{port}: {error.strerror}; give an address of this machine; port 0 is a free one"
        )
        raise OSError(error.errno, reason) from error
