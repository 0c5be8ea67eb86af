"""Images: whole root filesystems for tasks that bring a Dockerfile, built without a daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from termgym.image.image import Image
from termgym.image.recipe import Recipe

if TYPE_CHECKING:
    from termgym.image.builder import build
    from termgym.image.store import Store

__all__ = ["Image", "Recipe", "Store", "build"]


def __getattr__(name: str) -> Any:
    # A task is described by these two alone; what builds is loaded when something is built.
    if name == "build":
        from termgym.image.builder import build

        return build
    if name == "Store":
        from termgym.image.store import Store

        return Store
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
