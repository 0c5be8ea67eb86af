"""How the kernel is compiled, and kept compiled between runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.resources import files
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_njit: Any = njit  # its types leave out the option that turns reference counts off


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a part of the kernel into its callers.

    An array argument is seven numbers and a reference count at every call, so the parts are inlined and do without
    counts (which also proves that they ask for no memory). ``fastmath`` is off: nothing is fused or reordered. The
    numpy error model leaves out the tests for division by zero.
    """
    return cast(Callable[Arguments, Result], _njit(error_model="numpy", forceinline=True, _nrt=False)(function))


def apart(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a large part of the kernel once, to be called: inlined everywhere it would take minutes to compile."""
    return cast(Callable[Arguments, Result], _njit(error_model="numpy", _nrt=False)(function))


def entry(function: Callable[Arguments, Result], *, parallel: bool = False) -> Callable[Arguments, Result]:
    """Compile a function that Python calls, and keep it on disk; ``parallel`` ones need the reference counts."""
    options = {"parallel": True} if parallel else {"_nrt": False}
    made = _njit(cache=True, error_model="numpy", **options)
    return cast(Callable[Arguments, Result], made(function))


def revision() -> int:
    """Return a number that changes with every source that the kernel is compiled from.

    Numba keeps compiled functions on disk and looks at the file of the function alone to see whether they are stale;
    an entry point that closes over this number is compiled anew when any part of it changes.
    """
    package = files("linegym")
    sources = [package / name for name in ("plant.py", "layout.py", "rng.py")]
    sources += sorted((path for path in (package / "kernel").iterdir() if path.name.endswith(".py")), key=str)
    found = hashlib.sha256()
    for source in sources:
        found.update(source.read_bytes())
    return int.from_bytes(found.digest()[:6])
