"""Devpts instances: each sandbox has terminals of its own, numbered from 0."""

from __future__ import annotations

import os
from pathlib import Path

from termgym.sandbox import syscalls

_MOST = 64
"""Terminals of one sandbox, the shell's own two included; kernel.pty.max holds for the whole host."""


def mount_terminals(target: Path, *, real_root: bool) -> None:
    """Mount a new, empty instance, in place of the one that may be there."""
    unmount_terminals(target)
    group = ",gid=5" if real_root else ""
    syscalls.mount("devpts", target, "devpts", 0, f"newinstance,ptmxmode=0666,mode=620,max={_MOST}{group}")


def unmount_terminals(target: Path) -> None:
    """Unmount the instance, if there is one."""
    if os.path.ismount(target):
        syscalls.umount(target, syscalls.MNT_DETACH)
