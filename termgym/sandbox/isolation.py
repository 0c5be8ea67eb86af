"""Isolation of the supervisor itself: namespaces in which it may mount, and who it is there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from termgym.errors import SandboxUnavailable
from termgym.sandbox import bubblewrap, syscalls
from termgym.sandbox.environment import AGENT_UID

_NEEDED = (0, 1, 5, 6, 7, 19)
"""CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SYS_PTRACE (linux/capability.h): to become the
agent, and to see and end its processes after that. A container's root often lacks the last."""


def isolate() -> str:
    """Enter private namespaces; return ``root`` or ``userns``.

    Raises:
        SandboxUnavailable: neither works; the message says why and what to do.
    """
    if bubblewrap.executable() is None:
        raise SandboxUnavailable(
            "bubblewrap is not installed (no `bwrap` on the path), so nothing can be isolated; install it "
            "(`apt-get install bubblewrap`), or ask for backend='local-unsafe' to run without isolation"
        )
    uid, gid = os.getuid(), os.getgid()
    reasons = []
    if uid == 0:
        try:
            syscalls.unshare(syscalls.CLONE_NEWNS)
            syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
            return "root"
        except OSError as error:
            reasons.append(f"as root: {error.strerror} (no CAP_SYS_ADMIN?)")
    try:
        syscalls.unshare(syscalls.CLONE_NEWUSER | syscalls.CLONE_NEWNS)
    except OSError as error:
        reasons.append(f"in a user namespace: {error.strerror}")
        raise SandboxUnavailable(_no_namespaces(reasons)) from error
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    return "userns"


def can_become_agent() -> bool:
    """Return whether this process may give files to the agent's user and become it (root of the whole machine)."""
    status = Path("/proc/self/status").read_text()
    capabilities = int(next(line for line in status.splitlines() if line.startswith("CapEff")).split()[1], 16)
    ranges = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    mapped = any(int(first) <= AGENT_UID < int(first) + int(count) for first, _, count in ranges)
    return os.getuid() == 0 and mapped and all(capabilities >> bit & 1 for bit in _NEEDED)


def _no_namespaces(reasons: Sequence[str]) -> str:
    return (
        f"this machine gives no namespaces to isolate the agent in ({'; '.join(reasons)}); allow user namespaces "
        "(sysctl user.max_user_namespaces > 0; in docker: --security-opt seccomp=unconfined --security-opt "
        "systempaths=unconfined), run as root with "
        "CAP_SYS_ADMIN, or ask for backend='local-unsafe' to run without isolation"
    )
