"""Run a function in a child process as the supervisor runs snapshots, so that mounts and ids end with it."""

from __future__ import annotations

import ctypes
import os
import pickle
import shutil
import subprocess
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_DUMPABLE = 4
NOBODY = 65534

ROLES = {
    "root": ("overlay", "overlay-userns", "manifest", "rsync"),
    "user": ("overlay-userns", "manifest", "rsync"),
    "plain": ("manifest", "rsync"),
    "disk": ("manifest", "rsync"),
}
"""Who runs the snapshots -> the backends that must work for them: root in a private mount namespace, an ordinary user
in a user namespace, an ordinary user without any namespace in memory, and the same on a disk."""

_DIRECTORIES = {"plain": "/dev/shm", "disk": "/var/tmp"}
_LIBC = ctypes.CDLL(None, use_errno=True)


def roles_here() -> list[str]:
    """Return the roles that this test run can take on; an ordinary user cannot become root."""
    return [role for role in ROLES if role != "root" or os.geteuid() == 0]


def run_as(role: str, body: Callable[..., Any], *args: Any) -> Any:
    """Return ``body(scratch, *args)`` from a child process in that role; raise what it raises, with its trace."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        status = 1
        try:
            answer = _answer(role, body, args)
            with os.fdopen(sending, "wb") as pipe:
                pipe.write(pickle.dumps(answer))
            status = 0
        finally:
            os._exit(status)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    assert data, "the child died without an answer"
    failed, value = pickle.loads(data)
    if failed:
        raise AssertionError(f"as {role}:\n{value}")
    return value


def _answer(role: str, body: Callable[..., Any], args: tuple[Any, ...]) -> tuple[bool, Any]:
    scratch = None
    try:
        os.umask(0o022)
        scratch = _enter(role)
        return False, body(scratch, *args)
    except BaseException:  # noqa: BLE001 - the parent raises it again
        return True, traceback.format_exc()
    finally:
        if role in _DIRECTORIES and scratch is not None:
            subprocess.run(["/bin/chmod", "-R", "u+rwX", scratch], check=True)
            shutil.rmtree(scratch)


def _enter(role: str) -> Path:
    """Take on a role, and return an empty directory to work in."""
    if role != "root" and os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        _LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # or /proc/self/uid_map belongs to root
    if role in _DIRECTORIES:
        return Path(tempfile.mkdtemp(prefix="snapshot-test-", dir=_DIRECTORIES[role]))
    if role == "user":
        uid, gid = os.geteuid(), os.getegid()
        _check(_LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    else:
        _check(_LIBC.unshare(CLONE_NEWNS), "unshare")
    _check(_LIBC.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None), "make mounts private")
    _check(_LIBC.mount(b"tmpfs", b"/mnt", b"tmpfs", ctypes.c_ulong(0), b"size=1g"), "mount tmpfs")
    return Path("/mnt")


def _check(status: int, what: str) -> None:
    if status:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
