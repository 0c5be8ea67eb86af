"""One Ray for all tests: on this machine alone, with two processors, and gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

from rolf_adapters.ray_pool import local_ray


@pytest.fixture(scope="module", autouse=True)
def _ray() -> Iterator[None]:
    """Start Ray and stop it; what it started must be gone."""
    before = set(psutil.Process().children(recursive=True))  # helpers of Python's own, from other tests
    with local_ray(2):
        yield
        now = set(psutil.Process().children(recursive=True)) - before
        ours = {each: " ".join(each.cmdline()) for each in now}
    # What supervises terminals lives as long as this process.
    of_ray = [each for each, line in ours.items() if "termgym" not in line]
    assert of_ray
    assert psutil.wait_procs(of_ray, timeout=20)[1] == []
