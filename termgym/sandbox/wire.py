"""Messages between a process and its supervisor: JSON with a length in front, file descriptors beside it."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from typing import Any

_MAX_FDS = 16


class Wire:
    """One end of the conversation. Not thread-safe."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def fileno(self) -> int:
        """Return the socket's descriptor, for poll."""
        return self._connection.fileno()

    def send(self, message: Mapping[str, Any], fds: Sequence[int] = ()) -> None:
        """Send one message; ``fds`` are duplicated into the receiver."""
        body = json.dumps(message).encode("ascii")
        head = len(body).to_bytes(4, "big")
        if fds:
            socket.send_fds(self._connection, [head], list(fds))
            self._connection.sendall(body)
        else:
            self._connection.sendall(head + body)

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """Return the next message and the descriptors that came with it.

        Raises:
            EOFError: the other end is gone.
        """
        head, fds, _, _ = socket.recv_fds(self._connection, 4, _MAX_FDS)
        while len(head) < 4:
            head += self._some(4 - len(head))
        size = int.from_bytes(head, "big")
        body = bytearray()
        while len(body) < size:
            body += self._some(size - len(body))
        message: dict[str, Any] = json.loads(body)
        return message, fds

    def _some(self, size: int) -> bytes:
        data = self._connection.recv(min(size, 1 << 20))
        if not data:
            raise EOFError("the other end of the supervisor's socket is gone")
        return data

    def close(self) -> None:
        """Close this end."""
        self._connection.close()
