"""Strays: what is left of a sandbox whose supervisor was killed while bubblewrap was putting it together.

Bubblewrap is two processes. The inner one is bound to the outer one's life (--die-with-parent) only after it has waited
twice: for a word of the outer one, and for its limits. If the outer one dies before, with its supervisor or at the pipe
that nobody reads any more, the inner one waits for ever, or goes on by itself and starts the program, under no limits.
The kernel does not take it away. The owner does when it finds its supervisor killed, or where the owner was killed too,
the next supervisor on this machine.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

from termgym.sandbox.bubblewrap import OPTIONS_FD

BOOT = "from termgym.sandbox.supervisor import main"
"""A line of the command of every supervisor, by which its process is known."""
_OURS = [b"--args", str(OPTIONS_FD).encode(), b"--"]
"""The first words after bubblewrap's own name, wherever a supervisor has started it."""
_DEADLINE = 5.0  # [s]; two looks do, but a loaded machine may take its time


def clear_strays() -> None:
    """Kill every process of bubblewrap that a supervisor started which is gone, until there is none.

    Those of other users are left alone, and so are those of supervisors in other namespaces of pids: of a container's
    nothing can be known from outside.
    """
    end = time.monotonic() + _DEADLINE
    while (found := strays()) and time.monotonic() < end:
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def strays() -> list[int]:
    """Return the pids of processes of bubblewrap that a supervisor started, and that have nobody above them."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _is_stray(int(name))]


def _is_stray(pid: int) -> bool:
    try:
        if not _is_bubblewrap(pid) or os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return False
        parent, inside = _place(pid)
        below = len(inside) - len(_place(os.getpid())[1])
        is_outer, is_inner = below == 0, below == 1 and inside[-1] == 1
        return (is_outer and not _is_supervisor(parent)) or (is_inner and not _is_bubblewrap(parent))
    except (FileNotFoundError, ProcessLookupError):
        return False  # it has ended meanwhile
    except (PermissionError, KeyError):
        return False  # not to be known: /proc is mounted with hidepid, or the kernel does not tell namespaces


def _is_bubblewrap(pid: int) -> bool:
    name, *words = _command(pid)
    return os.path.basename(name) == b"bwrap" and words[: len(_OURS)] == _OURS


def _is_supervisor(pid: int) -> bool:
    return any(BOOT.encode() in word for word in _command(pid))


def _command(pid: int) -> list[bytes]:
    """Return the words of a process's command; of one that has ended, or of the kernel's own, one empty word."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return [b""]


def _place(pid: int) -> tuple[int, list[int]]:
    """Return the parent of a process, and its pid in each of the namespaces that it is in, the innermost one's last.

    Raises:
        FileNotFoundError, ProcessLookupError: it has ended.
    """
    with open(f"/proc/{pid}/status", "rb") as file:
        fields = dict(line.split(b":", 1) for line in file.read().splitlines() if b":" in line)
    return int(fields[b"PPid"]), [int(word) for word in fields[b"NSpid"].split()]
