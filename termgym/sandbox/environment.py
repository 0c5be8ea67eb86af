"""The variables every shell starts with: pinned, so that the same commands print the same text on every machine."""

from __future__ import annotations

import os
from collections.abc import Mapping

AGENT_UID = 1000
AGENT_GID = 1000
AGENT_NAME = "agent"
HOSTNAME = "rolf"
EPOCH = 1_767_225_600
"""2026-01-01T00:00:00Z [s]: modification time of every file of an initial state, and the dates git and builds use."""

WRITABLE_ROOTS = ("home", "tmp", "srv", "dev/shm")
"""What the agent may write to, relative to ``/``: the directories a snapshot covers."""

DOCKERS_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs of an image are looked for that does not say (moby, ``system.DefaultPathEnv``)."""

_FAKETIME_LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
)


def pinned(home: str = f"/home/{AGENT_NAME}") -> dict[str, str]:
    """Return the environment of a shell whose home is ``home``."""
    date = f"@{EPOCH} +0000"
    return {
        "HOME": home,
        "USER": AGENT_NAME,
        "LOGNAME": AGENT_NAME,
        "SHELL": "/bin/bash",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TERM": "xterm-256color",
        # C.UTF-8: English messages and byte order as in C, but UTF-8 is kept.
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "80",
        "LINES": "24",
        "PYTHONHASHSEED": "0",
        "PERL_HASH_SEED": "0",
        # Compiled files hold the source's modification time, which no clock pins.
        "PYTHONDONTWRITEBYTECODE": "1",
        "SOURCE_DATE_EPOCH": str(EPOCH),
        # Commit ids follow from names and dates.
        "GIT_AUTHOR_NAME": AGENT_NAME,
        "GIT_AUTHOR_EMAIL": f"{AGENT_NAME}@{HOSTNAME}",
        "GIT_COMMITTER_NAME": AGENT_NAME,
        "GIT_COMMITTER_EMAIL": f"{AGENT_NAME}@{HOSTNAME}",
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_DATE": date,
    }


def inside_image(image: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the environment of a shell on an image: what docker sets, what makes output the same everywhere, and over
    it the image's own ``ENV``."""
    ours = {
        "PATH": DOCKERS_PATH,
        "HOME": home,
        "HOSTNAME": HOSTNAME,
        "TERM": "xterm-256color",
        "TZ": "UTC",
        "COLUMNS": "80",
        "LINES": "24",
        "PYTHONHASHSEED": "0",
        # Root would leave compiled files in the system's directories, of which nobody asked for one.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if not {"LANG", "LC_ALL"} & image.keys():
        ours |= {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    return {**ours, **image}


def faketime_library() -> str | None:
    """Return the path of libfaketime's thread-safe library, or None where it is not installed."""
    return next((path for path in _FAKETIME_LIBRARIES if os.path.exists(path)), None)


def frozen_clock(library: str) -> dict[str, str]:
    """Return the variables that stop the wall clock at ``EPOCH``; sleeping and time-outs go on as ever."""
    return {"LD_PRELOAD": library, "FAKETIME": "2026-01-01 00:00:00", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
