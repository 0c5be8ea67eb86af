"""The procedural families, one file each: a file in this folder that defines ``FAMILY`` is a family."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from termgym.tasks.family import Family

FAMILIES: tuple[Family, ...] = tuple(
    import_module(f"{__name__}.{module.name}").FAMILY
    for module in sorted(iter_modules(__path__), key=lambda module: module.name)
)
