"""Choose a sandbox by name."""

from __future__ import annotations

from typing import Any

from termgym.sandbox.protocol import Sandbox

BACKENDS = ("local", "local-unsafe")


def open_sandbox(backend: str = "local", **options: Any) -> Sandbox:
    """Return a sandbox.

    Args:
        backend: ``local`` (namespaces) or ``local-unsafe`` (no isolation at all: only for commands you would type
            into your own shell).
        **options: see ``LocalSandbox``.

    Raises:
        ValueError: no backend of that name.
        SandboxUnavailable: this host cannot provide it; the message says what is missing.
    """
    if backend not in BACKENDS:
        raise ValueError(f"no backend {backend!r}; allowed are {', '.join(map(repr, BACKENDS))}")
    from termgym.sandbox.local import LocalSandbox

    return LocalSandbox(isolated=backend == "local", **options)
