"""Masks over /proc, for an agent that is root: the kernel asks about many of its knobs who turns them, not what he may.

``echo '|/tmp/x' > /proc/sys/kernel/core_pattern`` needs no capability at all and runs a program as the host's root. So
the knobs are shown read-only, and what tells of the whole machine is not shown, as docker does it (moby,
``oci/defaults.go``), and a little more.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_READ_ONLY = ("bus", "driver", "dynamic_debug", "fs", "irq", "sys", "sysrq-trigger", "tty")
_HIDDEN = (
    "acpi", "asound", "interrupts", "kcore", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats", "sched_debug",
    "scsi", "timer_list", "timer_stats",
)  # fmt: skip


def make_masks(directory: Path) -> list[tuple[str, str]]:
    """Return (what is shown, path in the sandbox) pairs, to be mounted read-only in this order.

    Args:
        directory: a new directory for what is shown instead.
    """
    directory.mkdir()
    file, folder = directory / "file", directory / "folder"
    file.touch(0o444)
    folder.mkdir(0o555)
    masks = []
    for name in sorted(os.listdir("/proc")):
        path = Path("/proc", name)
        if name.isdigit() or path.is_symlink():
            continue
        if name in _HIDDEN:
            masks.append((str(folder if path.is_dir() else file), str(path)))
        elif name in _READ_ONLY or _is_writable_file(path):
            masks.append((str(path), str(path)))
    return masks


def _is_writable_file(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o222)
