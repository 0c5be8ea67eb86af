"""Run Python on machines that lack something: an ordinary user, no user namespaces, no bubblewrap.

Each is made by namespaces around a fresh interpreter, so nothing is patched and nothing stays behind.
"""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
import sysconfig
from pathlib import Path

ORDINARY = 65534


def _hidden_ancestor(path: Path) -> Path | None:
    """Return the topmost directory above ``path`` that an ordinary user may not enter."""
    for ancestor in reversed(path.parents):
        if not ancestor.stat().st_mode & stat.S_IXOTH:
            return ancestor
    return None


def _expose(paths: set[Path]) -> list[str]:
    """Return shell lines that make ``paths`` reachable for everybody, in a private mount namespace."""
    lines = ["set -e", "mount -t tmpfs -o mode=755 tmpfs /media"]
    hidden = {path: ancestor for path in sorted(paths) if (ancestor := _hidden_ancestor(path))}
    for number, path in enumerate(hidden):
        lines += [f"mkdir /media/{number}", f"mount --bind {shlex.quote(str(path))} /media/{number}"]
    for ancestor in sorted(set(hidden.values())):
        lines.append(f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(ancestor))}")
    for number, path in enumerate(hidden):
        quoted = shlex.quote(str(path))
        lines += [f"mkdir -p {quoted}", f"mount --bind /media/{number} {quoted}"]
    return lines


def python_on(
    code: str, *, user: bool = False, setup: tuple[str, ...] = (), wrap: tuple[str, ...] = (), timeout: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a fresh interpreter.

    Args:
        code: the program.
        user: as an ordinary user without capabilities.
        setup: shell lines that run before, as root in a private mount namespace.
        wrap: a launcher's argv between that and Python.
        timeout: [s]
    """
    purelib = Path(sysconfig.get_paths()["purelib"])
    package_home = Path(__import__("termgym").__file__).resolve().parents[1]
    reached = {Path(sys.base_prefix), Path(sys.prefix), purelib, package_home}
    if os.getuid() != 0:
        assert not setup, "this test needs root for its set-up"
        command = [*wrap, sys.executable, "-c", code]
    else:
        as_user = ["setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", "--bounding-set=-all"]
        inner = [*(as_user if user else []), *wrap, sys.executable, "-c", code]
        script = "\n".join([*(_expose(reached) if user else []), *setup, f"exec {shlex.join(inner)}"])
        command = ["unshare", "--mount", "--propagation", "private", "bash", "-c", script]
    environment = {**os.environ, "HOME": "/tmp", "PYTHONWARNINGS": "error"}
    return subprocess.run(
        command, env=environment, cwd="/", capture_output=True, text=True, timeout=timeout, check=False
    )
