"""A user namespace beside the agent's, with the same users in it.

What runs there is the agent's user to every file, and out of its reach all the same: to trace a process, or to open
what it has open (/proc/PID/mem, /proc/PID/fd), takes a capability in that process's user namespace, and the agent has
none there: it made neither this one nor the one above (user_namespaces(7), ptrace(2) "Ptrace access mode checking").
"""

from __future__ import annotations

import os
from pathlib import Path

from termgym.errors import why
from termgym.sandbox import syscalls
from termgym.sandbox.environment import AGENT_GID, AGENT_UID
from termgym.sandbox.offspring import finish, fork

_EVERYBODY = 0xFFFF_FFFF
"""Number of users: all but the one that stands for an error (user_namespaces(7))."""


def make(*, real_root: bool) -> tuple[int | None, str | None]:
    """Return a descriptor of the namespace, or None and why there is none.

    Args:
        real_root: whether the agent is a user of its own, or the caller itself under another number.
    """
    made_r, made_w = os.pipe()
    done_r, done_w = os.pipe()

    def be_first() -> int:
        os.close(done_w)
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        os.write(made_w, b"x")
        os.read(done_r, 1)
        return 0

    pid = fork(be_first)
    os.close(made_w)
    os.close(done_r)
    try:
        if not os.read(made_r, 1):
            return None, "the kernel gives no further user namespace"
        _map(Path(f"/proc/{pid}"), real_root=real_root)
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC), None
    except OSError as error:
        return None, why(error)
    finally:
        os.close(made_r)
        os.close(done_w)
        finish(pid)


def _map(process: Path, *, real_root: bool) -> None:
    """Give everybody the number that they have where the agent is."""
    if real_root:
        (process / "uid_map").write_text(f"0 0 {_EVERYBODY}")
        (process / "gid_map").write_text(f"0 0 {_EVERYBODY}")
        return
    (process / "setgroups").write_text("deny")
    (process / "uid_map").write_text(f"{AGENT_UID} 0 1")
    (process / "gid_map").write_text(f"{AGENT_GID} 0 1")
