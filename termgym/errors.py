"""What can go wrong, as a tree.

TermGymError
├── SandboxError                 the machine under the agent failed (an infrastructure fault, never the agent's)
│   ├── SandboxUnavailable       this host cannot provide the backend asked for; says what is missing
│   ├── SandboxLost              a running sandbox vanished
│   ├── LimitNotEnforced         a limit was set and did not take effect
│   └── VerifierError            a verifier gave no verdict that counts
├── SnapshotError (OSError)      a tree could not be copied, restored or compared
├── PlanError (ValueError)       text is not an action plan
├── UnknownTask (LookupError)    no task of that name; suggests the nearest
└── TaskError (ValueError)       a task cannot be built as it is written
    ├── FolderError              a task folder is no task as it is written; says file, line, value and what is allowed
    └── ImageError               a task's image cannot be built; says Dockerfile, line, what is allowed and what helps
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def why(error: OSError) -> str:
    """Return what went wrong, without the path that it went wrong at: pids and random names differ from run to run."""
    at = error.filename
    if error.strerror is None or not isinstance(at, str) or "/" in at:
        return error.strerror or str(error)
    return f"{at}: {error.strerror}"


class TermGymError(Exception):
    """Any error that termgym raises on purpose."""


class SandboxError(TermGymError, RuntimeError):
    """The machine under the agent failed: an infrastructure fault, never the agent's."""


class SandboxUnavailable(SandboxError):
    """This host cannot provide the backend asked for."""


class SandboxLost(SandboxError):
    """A running sandbox vanished."""


class LimitNotEnforced(SandboxError):
    """A limit was set and did not take effect."""


class VerifierError(SandboxError):
    """A verifier gave no verdict that counts: no reward, no number, or it could not be run."""

    told: Mapping[str, object] = MappingProxyType({})
    """What is known of its run, as ``info["verifier"]`` tells it."""


class SnapshotError(TermGymError, OSError):
    """A tree could not be copied, restored or compared."""


class PlanError(TermGymError, ValueError):
    """Text is not an action plan."""


class UnknownTask(TermGymError, LookupError):
    """No task of that name."""


class TaskError(TermGymError, ValueError):
    """A task cannot be built as it is written."""


class FolderError(TaskError):
    """A task folder is no task as it is written."""


class ImageError(TaskError):
    """A task's image cannot be built."""
