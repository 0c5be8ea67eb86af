"""present: an environment as Stable-Baselines3 takes it, and what is possible as MaskablePPO asks for it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from rolf_adapters.presentation import NUMBERS, Library, Presentation, presented
from rolf_adapters.sb3.info_mask import InfoMask

STABLE_BASELINES3 = Library("Stable-Baselines3", NUMBERS, flat=False, places=256)
CHOICES = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def present(env: gym.Env[Any, Any], presentation: Presentation | None = None) -> gym.Env[Any, Any]:
    """Return an environment in the form that Stable-Baselines3 takes; choices with their mask (`InfoMask`).

    Args:
        env: The environment.
        presentation: What the rules leave open; a text becomes 256 numbers where nothing is said.

    Raises:
        TypeError: observations or actions are such that no rule fits.
        ValueError: what was said does not fit the environment.
    """
    shown = presented(env, presentation or Presentation(), STABLE_BASELINES3)
    return InfoMask(shown) if isinstance(shown.action_space, CHOICES) else shown
