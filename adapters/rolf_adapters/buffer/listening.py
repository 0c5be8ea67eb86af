"""Listening: who understands what an environment tells of what came of what."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from rolf_adapters.buffer.edges import Causes, NoEdges
from rolf_adapters.buffer.line_edges import LineEdges
from rolf_adapters.buffer.terminal_edges import TerminalEdges


def listener(env: gym.Env[Any, Any]) -> Causes:
    """Return who understands an environment, by what it offers and not by its name."""
    world: Any = env.unwrapped
    names = {tool.name for tool in getattr(world, "tools", ())} if hasattr(world, "call_of") else set()
    if {"diagnose", "dispatch", "close"} <= names and hasattr(world, "obs_spec"):
        return LineEdges(world)
    if "run" in names and hasattr(world, "diff"):
        return TerminalEdges(world)
    return NoEdges()
