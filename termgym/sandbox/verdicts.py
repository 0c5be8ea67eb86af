"""A verification as a request to the supervisor tells of it, and what comes back."""

from __future__ import annotations

import base64
import signal
from collections.abc import Mapping
from typing import Any

from termgym.sandbox.hearing import Heard
from termgym.verification.request import LARGEST_FILE, TOOLS, Verification, Verified

_KILLED = 128 + signal.SIGKILL


def requested(verification: Verification) -> dict[str, Any]:
    """Return the fields of a request for a verification."""
    return {
        "tests": verification.tests,
        "command": list(verification.command),
        "env": dict(verification.env),
        "user": verification.user,
        "workdir": verification.workdir,
        "put_back": list(verification.put_back),
        "hidden": list(verification.hidden),
        "tools": verification.tools,
        "tools_at": TOOLS,
        "collect": list(verification.collect),
        "largest": LARGEST_FILE,
    }


def answered(reply: Mapping[str, Any], heard: Heard) -> Verified:
    """Return what a verification came to."""
    status = reply["exit_code"]
    return Verified(
        _KILLED if status is None else status,
        heard.timed_out,
        heard.output,
        heard.size,
        {name: base64.b64decode(text) for name, text in reply["files"].items()},
        reply["odd"],
        reply["refused"],
    )
