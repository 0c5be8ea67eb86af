"""local_ray: Ray on this machine alone, which nobody reaches from outside, and of which nothing stays behind."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import ray
from ray._private import ray_constants

OBJECT_STORE = 200 * 2**20
"""What objects in shared memory may take [bytes]."""
OBJECT_STORE_LEAST: int = ray_constants.OBJECT_STORE_MINIMUM_MEMORY_BYTES


@contextmanager
def local_ray(cpus: int = 2, *, object_store: int = OBJECT_STORE) -> Iterator[None]:
    """Start Ray for this process, and stop it at the end of the context.

    ``ray.init`` listens on all of a machine's addresses, and whoever reaches its ports runs code; here they are on the
    loopback address. What workers print is not shown.

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
    try:
        with _loopback():
            ray.init(
                num_cpus=cpus,
                include_dashboard=False,
                object_store_memory=object_store,
                log_to_driver=False,
                configure_logging=False,
                _node_ip_address="127.0.0.1",
                _temp_dir=folder,
            )
        try:
            yield
        finally:
            ray.shutdown()
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # its processes may still write their last words there


@contextmanager
def _loopback() -> Iterator[None]:
    """Keep Ray from looking for an address that others reach, which it does not do on macOS and Windows anyway."""
    usual = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = usual
