"""make_sb3_env: an environment's id to a VecEnv of Stable-Baselines3."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import VectorizeMode, load_env_creator
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv, VecMonitor

from rolf_adapters.presentation import Presentation
from rolf_adapters.sb3.presentation import present
from rolf_adapters.sb3.rows import RowsVecEnv


def make_sb3_env(
    env_id: str,
    n_envs: int = 1,
    *,
    seed: int | None = None,
    presentation: Presentation | None = None,
    processes: bool = False,
    monitor: Path | str | None = None,
    told: str = "end",
    **settings: Any,
) -> VecEnv:
    """Return a VecEnv that Stable-Baselines3 takes as it is, with the return and length of each episode in its infos.

    An environment that comes with a vector environment, as ``linegym:LineEnv-v1`` does, is stepped all rows at once
    (`RowsVecEnv`). Where that cannot be, or a presentation is given, rows are made one by one and wrapped by its rules.

    Args:
        env_id: As ``gymnasium.make`` takes it, with the module before it: ``"linegym:LineEnv-v1"``.
        n_envs: Rows.
        seed: Of the first row; the next ones have the numbers after it. None: drawn, from NumPy's global generator.
        presentation: What the rules leave open; ``Presentation()`` leaves it to them.
        processes: Whether each row gets a process of its own, where rows are made one by one.
        monitor: File, or directory with a file a row where rows are made one by one, for SB3's log of episodes.
        told: ``"end"`` or ``"step"``: see `RowsVecEnv`.
        **settings: For the environment: as ``gymnasium.make_vec`` takes them where rows are stepped at once
            (``variants``), else as ``gymnasium.make`` does.

    Raises:
        TypeError: observations or actions are such that no rule fits.
        ValueError: there are no rows, or what was said does not fit the environment.
    """
    if isinstance(n_envs, bool) or not isinstance(n_envs, int) or n_envs < 1:
        raise ValueError(f"n_envs={n_envs!r} is not allowed; give a whole number from 1")
    if presentation is None and not processes and _steps_rows(env_id):
        rows = _rows(env_id, n_envs, told, settings)
        rows.seed(seed)
        return VecMonitor(rows, None if monitor is None else str(monitor))
    if told != "end":
        raise ValueError(f"told={told!r}: rows that are made one by one tell of every step anyway; leave it out")
    made: VecEnv = make_vec_env(
        lambda: present(gym.make(env_id, **settings), presentation),
        n_envs,
        seed=seed,
        monitor_dir=None if monitor is None else str(monitor),
        vec_env_cls=SubprocVecEnv if processes else DummyVecEnv,
        vec_env_kwargs={"start_method": "forkserver"} if processes else None,
    )
    return made


def _steps_rows(env_id: str) -> bool:
    """Return whether an environment comes with a vector environment that resets rows as SB3 wants it."""
    module, _, name = env_id.rpartition(":")
    if module:
        import_module(module)
    entry: Any = gym.spec(name).vector_entry_point
    creator = load_env_creator(entry) if isinstance(entry, str) else entry
    return creator is not None and "autoreset_mode" in signature(creator).parameters


def _rows(env_id: str, n_envs: int, told: str, settings: dict[str, Any]) -> RowsVecEnv:
    """Return all rows as one environment."""
    envs: VectorEnv[Any, Any, Any] = gym.make_vec(
        env_id,
        n_envs,
        vectorization_mode=VectorizeMode.VECTOR_ENTRY_POINT,
        autoreset_mode=AutoresetMode.SAME_STEP,
        **settings,
    )
    try:
        return RowsVecEnv(envs, told=told)
    except (TypeError, ValueError):
        envs.close()
        raise
