"""How Hypothesis judges on a machine that others use too: by what code does, not by how long it takes."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("hypothesis"):  # the environment without extras runs a few tests too
    from hypothesis import HealthCheck, settings

    settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("shared machine")
