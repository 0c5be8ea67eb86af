"""Sessions: a persistent bash behind a terminal, driven one step at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from termgym.session.session import Session
    from termgym.session.terminal import Terminal

__all__ = ["Session", "Terminal"]


def __getattr__(name: str) -> Any:
    # The supervisor imports this package for its terminals and must not load what its owner needs.
    if name == "Session":
        from termgym.session.session import Session

        return Session
    if name == "Terminal":
        from termgym.session.terminal import Terminal

        return Terminal
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
