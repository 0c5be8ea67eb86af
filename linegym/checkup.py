"""What a production line needs of this machine, found by trying; shown by ``rolf doctor``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from rolf.environments import Finding, State

_LONG = 3.0
"""A kernel that comes from its cache takes less than this [s]."""
_ANYWHERE = "export NUMBA_CACHE_DIR=~/.cache/numba"


def checkup() -> Iterator[Finding]:
    """Yield findings; a line is really stepped, so the first time takes as long as compiling does."""
    try:
        found = version("numba")
    except PackageNotFoundError:
        yield Finding("numba", State.MISSING, "not installed", "pip install numba")
        return
    yield Finding("numba", State.OK, found)
    yield _kernel()
    yield _pictures()


def _kernel() -> Finding:
    """Step a line and say where the compiled code came from."""
    from numba.core.errors import NumbaError

    began = time.perf_counter()
    try:
        from linegym.env import LineEnv
        from linegym.kernel.batch import step_serial

        env = LineEnv(horizon=2)
        env.reset(seed=0)
        env.step(0)
    except (NumbaError, RuntimeError, ImportError, OSError) as error:
        return Finding("compiled kernel", State.MISSING, f"{type(error).__name__}: {error}", _ANYWHERE)
    seconds = time.perf_counter() - began
    stats = getattr(step_serial, "stats", None)  # of numba's dispatcher; a plain function has none
    if stats is None:
        advice = "unset NUMBA_DISABLE_JIT: compiled it is a thousand times quicker"
        return Finding("compiled kernel", State.LIMITED, "runs uncompiled, as Python", advice)
    if sum(stats.cache_misses.values()) and seconds > _LONG:
        return Finding("compiled kernel", State.OK, f"compiled now in {seconds:.1f} s, kept in {stats.cache_path}")
    return Finding("compiled kernel", State.OK, f"ready in {seconds:.1f} s from {stats.cache_path}")


def _pictures() -> Finding:
    """Draw a letter."""
    from linegym.render.pen import Pen

    try:
        Pen(16, 16).text((2, 8), "S")
    except (ImportError, RuntimeError, OSError) as error:
        return Finding("pictures", State.LIMITED, str(error), "pip install -U pillow")
    return Finding("pictures", State.OK, f"Pillow {version('pillow')}")
