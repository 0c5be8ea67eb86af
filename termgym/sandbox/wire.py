"""Messages between a process and its supervisor: JSON with a length in front, file descriptors beside it."""

from __future__ import annotations

import array
import json
import select
import socket
from collections.abc import Mapping, Sequence
from typing import Any

_MAX_FDS = 16
_HEAD = 4  # [bytes], the length of what follows


class Wire:
    """One end of the conversation. Not thread-safe."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def wait(self, timeout: float) -> bool:
        """Return whether a message (or the end) comes within ``timeout`` [s]; nothing is read."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        return bool(poll.poll(timeout * 1000))

    def fileno(self) -> int:
        """Return the socket's descriptor, for poll."""
        return self._connection.fileno()

    @staticmethod
    def encode(message: Mapping[str, Any]) -> bytes:
        """Return a message as it is sent.

        Raises:
            TypeError, ValueError: JSON has no form for something in it.
        """
        body = json.dumps(message).encode("ascii")
        return len(body).to_bytes(4, "big") + body

    def send(self, message: Mapping[str, Any], fds: Sequence[int] = ()) -> None:
        """Send one message; ``fds`` are duplicated into the receiver."""
        self.send_encoded(self.encode(message), fds)

    def send_encoded(self, data: bytes, fds: Sequence[int] = ()) -> None:
        """Send what ``encode`` returned."""
        if fds:
            socket.send_fds(self._connection, [data[:_HEAD]], list(fds))
            data = data[_HEAD:]
        self._connection.sendall(data)

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """Return the next message and the descriptors that came with it.

        Raises:
            EOFError: the other end is gone.
        """
        head, fds = self._first()
        while len(head) < _HEAD:
            head += self._some(_HEAD - len(head))
        size = int.from_bytes(head, "big")
        body = bytearray()
        while len(body) < size:
            body += self._some(size - len(body))
        message: dict[str, Any] = json.loads(body)
        return message, fds

    def _first(self) -> tuple[bytes, list[int]]:
        """Receive the start of a message, and its descriptors so that nothing this process starts inherits them.

        ``socket.recv_fds`` leaves its flags unused in Python 3.11.
        """
        fds = array.array("i")
        space = socket.CMSG_SPACE(_MAX_FDS * fds.itemsize)
        head, extras, _, _ = self._connection.recvmsg(_HEAD, space, socket.MSG_CMSG_CLOEXEC)
        for level, kind, data in extras:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(data)
        return head, list(fds)

    def _some(self, size: int) -> bytes:
        data = self._connection.recv(min(size, 1 << 20))
        if not data:
            raise EOFError("the other end of the supervisor's socket is gone")
        return data

    def close(self) -> None:
        """Close this end."""
        self._connection.close()
