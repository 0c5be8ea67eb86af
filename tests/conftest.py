"""How Hypothesis draws and judges in these tests.

By what code does, not by how long it takes: others use the machine too. Ordinary runs draw the same examples each time,
so that a change is judged by what it changes; ``--hypothesis-profile=nightly`` draws others each time, finds what no
fixed examples would, and prints the line that brings a failure back.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("hypothesis"):  # the environment without extras runs a few tests too
    from hypothesis import HealthCheck, settings

    shared = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("ordinary", shared, derandomize=True, database=None)
    settings.register_profile("nightly", shared, derandomize=False, print_blob=True)
    settings.load_profile("ordinary")
