"""Lock: what the episodes of an evaluation were played with, so that nobody goes on with something else."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any

from rolf.evaluation.loading import Described, Spec
from rolf.variant import Split

FORMAT = "rolf-lock/1"
PACKAGES = ("rolf", "gymnasium", "numpy")
"""What every evaluation stands on; those of the environments and of the policy are added."""


def lock(split: Split, attempts: int, policy: Spec, described: Described, *, attribute: bool) -> dict[str, Any]:
    """Return what goes into lock.json."""
    env_ids = sorted({variant.env_id for variant in split.variants})
    modules = [*(env_id.partition(":")[0] for env_id in env_ids), policy.target.partition(":")[0]]
    return {
        "format": FORMAT,
        "packages": _versions(module.partition(".")[0] for module in modules),
        "machine": _machine(),
        "split_digest": split.digest,
        "limits": dict(split.limits),
        "attempts": attempts,
        "env_ids": env_ids,
        "policy_sha256": described.source,
        "attributed": attribute,
    }


def _versions(modules: Iterable[str]) -> dict[str, str]:
    """Return Python's version and those of the distributions that modules, by their first names, belong to."""
    belongs = packages_distributions()
    names = {*PACKAGES, *(name for module in modules for name in belongs.get(module, ()))}
    found = {"python": platform.python_version()}
    for name in sorted(names, key=str.lower):
        try:
            found[name.lower()] = version(name)
        except PackageNotFoundError:  # run from a checkout that is not installed
            found[name.lower()] = "not installed"
    return found


def _machine() -> dict[str, Any]:
    """Return what the machine is, for information."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": platform.machine(),
        "cpus": os.cpu_count(),
        "memory [bytes]": memory,
    }
