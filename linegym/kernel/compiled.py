"""How the kernel is compiled, and kept compiled between runs.

The first step on a machine takes half a minute, all others no time: entry points are kept on disk. By Numba's rules
that is where ``NUMBA_CACHE_DIR`` says, else beside the sources, else, where these are read-only, in the user's cache.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit
from numba.core import event
from numba.core.registry import cpu_target

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

logger = logging.getLogger(__name__)

_njit: Any = njit  # its types leave out the option that turns reference counts off
_PART: dict[str, bool] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Parts are called by the kernel alone: what Python or C would call them by is a tenth of the time to compile."""


_entries: list[object] = []
"""What Numba made of the functions that Python calls."""


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a part of the kernel into its callers.

    An array argument is seven numbers and a reference count at every call, so the parts are inlined and do without
    counts (which also proves that they ask for no memory). ``fastmath`` is off: nothing is fused or reordered. The
    numpy error model leaves out the tests for division by zero.
    """
    return cast(Callable[Arguments, Result], _njit(error_model="numpy", forceinline=True, **_PART)(function))


def apart(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a large part of the kernel once, to be called: inlined everywhere it would take minutes to compile."""
    return cast(Callable[Arguments, Result], _njit(error_model="numpy", **_PART)(function))


def entry(function: Callable[Arguments, Result], *, parallel: bool = False) -> Callable[Arguments, Result]:
    """Compile a function that Python calls, and keep it on disk; ``parallel`` ones need the reference counts.

    Numba numbers the compiled forms of one function in one index, without a lock: processes that start at once with
    different forms (another revision, another CPU on a shared disk), and one that is killed between index and code,
    leave an index that points to the wrong code. With ``stamp`` in its name each form has an index of its own.
    """
    function.__qualname__ = f"{function.__qualname__}-{stamp()}"
    options = {"parallel": True} if parallel else {"_nrt": False}
    try:
        made = _njit(cache=True, error_model="numpy", **options)(function)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        _warn_of_no_cache()
        made = _njit(error_model="numpy", **options)(function)
    _entries.append(made)
    return cast(Callable[Arguments, Result], made)


@cache
def _warn_of_no_cache() -> None:
    logger.warning(
        "no directory can be written to keep the compiled production line in: every process will compile it anew, for "
        "half a minute; export NUMBA_CACHE_DIR=... to name one"
    )


@cache
def stamp() -> str:
    """Return what tells compiled forms of the kernel apart: sources, Numba, and the CPU it compiles for."""
    machine = cpu_target.target_context.codegen().magic_tuple()
    return hashlib.sha256(repr((revision(), version("numba"), machine)).encode()).hexdigest()[:12]


def revision() -> int:
    """Return a number that changes with every source that the kernel is compiled from.

    Numba keeps compiled functions on disk and looks at the file of the function alone to see whether they are stale;
    an entry point with this number in its name is compiled anew when any part of it changes.
    """
    package = files("linegym")
    sources = [package / name for name in ("plant.py", "layout.py", "rng.py")]
    sources += sorted((path for path in (package / "kernel").iterdir() if path.name.endswith(".py")), key=str)
    found = hashlib.sha256()
    for source in sources:
        found.update(source.read_bytes())
    return int.from_bytes(found.digest()[:6])


class _Teller(event.Listener):
    """Says that an entry point is being compiled, which a user would take for a hang."""

    def __init__(self) -> None:
        self._told = False
        self._began = 0.0

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] not in _entries:
            return
        self._began = time.perf_counter()
        if not self._told:
            logger.warning("compiling the production line for this machine: half a minute, once")
        self._told = True

    def on_end(self, event: Any) -> None:
        made = event.data["dispatcher"]
        if made in _entries:
            name, seconds = made.py_func.__name__, time.perf_counter() - self._began
            logger.info("compiled %s in %.1f s; kept in %s", name, seconds, made.stats.cache_path)


_register: Any = event.register  # has no types
_register("numba:compile", _Teller())
