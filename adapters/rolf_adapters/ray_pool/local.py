"""local_ray: Ray on this machine alone, which nobody reaches from outside, and of which nothing stays behind."""

from __future__ import annotations

import math
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import ray
from ray._private import ray_constants

OBJECT_STORE = 200 * 2**20
"""What objects in shared memory may take [bytes]."""
OBJECT_STORE_LEAST: int = ray_constants.OBJECT_STORE_MINIMUM_MEMORY_BYTES


@contextmanager
def local_ray(cpus: int = 2, *, object_store: int = OBJECT_STORE) -> Iterator[None]:
    """Start Ray for this process, and stop it at the end of the context.

    ``ray.init`` listens on all of a machine's addresses, and whoever reaches its ports runs code; here they are on the
    loopback address. What workers print is not shown. Whoever listens for SIGTERM goes on listening, though Ray puts a
    handler of its own there; that one stays, within the context, where nobody does.

    Args:
        cpus: How many processors there are to be reserved.
        object_store: What objects in shared memory may take [bytes]; at least 75 MiB.

    Raises:
        RuntimeError: Ray is running already.
        ValueError: Ray could not be started with so many processors, or so little memory.
    """
    # Ray itself looks at them when half of its processes run already, and nobody ends those then.
    if isinstance(cpus, bool) or not isinstance(cpus, int) or cpus < 0:
        raise ValueError(f"cpus={cpus!r}; give a whole number of processors, 0 to reserve none")
    if object_store < OBJECT_STORE_LEAST:
        raise ValueError(f"object_store={object_store} [bytes]; Ray wants at least {OBJECT_STORE_LEAST}")
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # the paths of its sockets may have 107 characters
    former = signal.getsignal(signal.SIGTERM)
    try:
        with _loopback():
            ray.init(
                "local",  # not one that RAY_ADDRESS names
                num_cpus=cpus,
                include_dashboard=False,
                object_store_memory=object_store,
                log_to_driver=False,
                configure_logging=False,
                _node_ip_address="127.0.0.1",
                _temp_dir=folder,
            )
        rays = signal.getsignal(signal.SIGTERM)
        try:
            if former is not signal.SIG_DFL:
                _hears(former)
            yield
        finally:
            ray.shutdown()
            if signal.getsignal(signal.SIGTERM) is rays:
                _hears(former)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # its processes may still write their last words there


@contextmanager
def room(actors: int, cpus: float, *, object_store: int = OBJECT_STORE) -> Iterator[None]:
    """Have a Ray within the context that has room for actors: the one that runs, or else one on this machine alone.

    Args:
        actors: How many.
        cpus: What is reserved for each [processors].
        object_store: As of `local_ray`, where it is started here.

    Raises:
        ValueError: the one that runs has fewer processors.
    """
    with ExitStack() as own:
        if not ray.is_initialized():
            own.enter_context(local_ray(max(1, math.ceil(actors * cpus)), object_store=object_store))
        there = ray.cluster_resources().get("CPU", 0.0)
        if there < actors * cpus:
            each = f"{actors} actors with {cpus:g} processors each"
            raise ValueError(f"{each}; Ray has {there:g}: give fewer, or cpus=")
        yield


@contextmanager
def _loopback() -> Iterator[None]:
    """Keep Ray from looking for an address that others reach, which it does not do on macOS and Windows anyway."""
    usual = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = usual


def _hears(handler: Any) -> None:
    """Have a handler for SIGTERM again, in whose place Ray has put its own; it does so in the main thread alone."""
    if threading.current_thread() is threading.main_thread() and handler is not None:  # None: one that is not Python's
        signal.signal(signal.SIGTERM, handler)
