"""Namings: what tools and parameters are called; ``"own"`` is what the environment calls them (``Tool.aliases``)."""

from __future__ import annotations

TRAINING = ("own", "function")
"""``function``: verb and object, as functions for assistants are named: ``execute_bash(cmd=…)``."""
HELD_OUT = ("device",)
"""``device``: as the parts of a machine: ``shell_input(line=…)``."""
