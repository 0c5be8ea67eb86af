"""Sandboxes: a machine for one agent at a time, put back to its initial state in milliseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from termgym.sandbox.opening import BACKENDS, open_sandbox
    from termgym.sandbox.protocol import Inspector, Sandbox

__all__ = ["BACKENDS", "Inspector", "Sandbox", "open_sandbox"]


def __getattr__(name: str) -> Any:
    # The supervisor imports this package and must not load what its owner needs.
    if name in ("open_sandbox", "BACKENDS"):
        from termgym.sandbox import opening

        return getattr(opening, name)
    if name in ("Inspector", "Sandbox"):
        from termgym.sandbox import protocol

        return getattr(protocol, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
