"""Judge an exported task's goal from outside: ``judge.py CHECKS VERDICT``.

This file is copied into the folder of the task as tests/judge.py. It runs with Python's own library alone, in whatever
container the harness gives it, as root or as the agent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import stat
import subprocess
import sys
from typing import Any

LIMIT = 1 << 20
"""How much of a file or of output a pattern is searched in [bytes]."""


class Judge:
    """Says whether a check holds; each method is a type of check."""

    def __init__(self, home: str, user: int) -> None:
        self.home = home
        self.user = user

    def holds(self, check: dict[str, Any]) -> bool:
        """Return whether a check holds now."""
        return bool(getattr(self, check["type"])(check))

    def file_exists(self, check: dict[str, Any]) -> bool:
        """A path exists, and is of the kind wanted."""
        kind = _kind(self._absolute(check["path"]))
        return kind is not None and check.get("kind", "any") in ("any", kind)

    def file_absent(self, check: dict[str, Any]) -> bool:
        """Nothing has this name."""
        return _kind(self._absolute(check["path"])) is None

    def text_in_file(self, check: dict[str, Any]) -> bool:
        """A pattern matches in a file, or does not."""
        data = _content(self._absolute(check["path"]))
        return data is not None and _found(check["pattern"], data) is not check.get("negate", False)

    def file_sha256(self, check: dict[str, Any]) -> bool:
        """A file has this digest."""
        data = _content(self._absolute(check["path"]))
        return data is not None and hashlib.sha256(data).hexdigest() == check["sha256"]

    def file_mode(self, check: dict[str, Any]) -> bool:
        """A path has these permission bits."""
        try:
            return stat.S_IMODE(os.stat(self._absolute(check["path"])).st_mode) == int(check["mode"], 8)
        except OSError:
            return False

    def link_target(self, check: dict[str, Any]) -> bool:
        """A link points there."""
        try:
            return bool(os.readlink(self._absolute(check["path"])) == check["target"])
        except OSError:
            return False

    def process_running(self, check: dict[str, Any]) -> bool:
        """A process of this command line is alive, or none is."""
        lines = (_command_line(entry) for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != os.getpid())
        alive = any(line is not None and _found(check["pattern"], line) for line in lines)
        return alive is not check.get("negate", False)

    def port_open(self, check: dict[str, Any]) -> bool:
        """Something listens on a port, or nothing does."""
        with socket.socket() as client:
            client.settimeout(2)
            listening = client.connect_ex(("127.0.0.1", check["port"])) == 0
        return listening is not check.get("negate", False)

    def command(self, check: dict[str, Any]) -> bool:
        """A command, run as the agent, ends as wanted."""
        argv = ["/bin/bash", "--norc", "--noprofile", "-c", check["command"]]
        if os.geteuid() == 0:
            argv = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", *argv]
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.home, "USER": "agent", "TZ": "UTC"}
        env.update(LANG="C.UTF-8", LC_ALL="C.UTF-8", PYTHONNOUSERSITE="1", PYTHONSAFEPATH="1")
        env.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", GIT_OPTIONAL_LOCKS="0")
        cwd = self._absolute(check.get("cwd") or self.home)
        try:
            ended = subprocess.run(
                argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=check.get("timeout", 10)
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        pattern = check.get("pattern")
        return ended.returncode == check.get("exit_code", 0) and (pattern is None or _found(pattern, ended.stdout))

    def _absolute(self, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return os.path.normpath(os.path.join(self.home, path))


def _kind(path: str) -> str | None:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    kinds = ((stat.S_ISLNK, "symlink"), (stat.S_ISDIR, "dir"), (stat.S_ISREG, "file"))
    return next((name for test, name in kinds if test(mode)), "other")


def _content(path: str) -> bytes | None:
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _command_line(entry: str) -> bytes | None:
    """Return how a process was started; None: it has ended, and perhaps waits for its parent to ask."""
    try:
        with open(f"/proc/{entry}/cmdline", "rb") as file:
            return file.read(LIMIT).rstrip(b"\0").replace(b"\0", b" ") or None
    except OSError:
        return None


def _found(pattern: str, data: bytes) -> bool:
    return re.search(pattern, data[:LIMIT].decode("utf-8", "replace"), re.MULTILINE) is not None


def main(checks: str, verdict: str) -> None:
    """Judge all checks of a file and write the verdict: 1 if all hold, else 0."""
    with open(checks, encoding="utf-8") as file:
        told = json.load(file)
    judge = Judge(told["home"], told["user"])
    passed = True
    for check in told["checks"]:
        holds = judge.holds(check)
        print("ok    " if holds else "FAILED", json.dumps(check, sort_keys=True))
        passed = passed and holds
    os.makedirs(os.path.dirname(verdict), exist_ok=True)
    with open(verdict, "w", encoding="utf-8") as file:
        file.write("1\n" if passed else "0\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
