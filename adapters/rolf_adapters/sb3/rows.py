"""RowsVecEnv: a Gymnasium vector environment, which steps all rows at once, as a VecEnv of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from rolf_adapters.presentation import NUMBERS, count_from_zero
from rolf_adapters.row_info import of_row
from rolf_adapters.sb3.info_mask import choices
from rolf_adapters.sb3.presentation import CHOICES
from rolf_wrappers.menu_action import MASK

TOLD = ("end", "step")
ENDS = ("final_obs", "final_obs_array", "final_info")
Indices = int | Iterable[int] | None
Stepped = tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]


class RowsVecEnv(VecEnv):  # type: ignore[misc]  # untyped here
    """Step all rows of a vector environment at once, without a process or a Python call for each.

    A row whose episode ends begins the next in the same step, as SB3 wants it: its ``info`` holds
    ``terminal_observation``, ``TimeLimit.truncated`` (whether to bootstrap from there), ``is_success`` where the
    environment tells ``success``, and all that the environment told of that last step. Of other steps nothing is told,
    for a dictionary a row and step takes longer than the step itself; ``told="step"`` tells it all the same.

    ``env_method("action_masks")`` is what MaskablePPO asks; where no mask is told everything is possible.

    Args:
        envs: The vector environment, which resets rows in the step that ends them (``AutoresetMode.SAME_STEP``).
        told: ``"end"``: what the environment tells of the last step of an episode; ``"step"``: of every step.

    Raises:
        TypeError: observations or actions are no numbers.
        ValueError: rows are reset in another way, or ``told`` is neither.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any], *, told: str = "end") -> None:
        mode = envs.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode is {mode}; make the environment with AutoresetMode.SAME_STEP")
        if told not in TOLD:
            raise ValueError(f"told={told!r} is not known; allowed are {', '.join(map(repr, TOLD))}")
        observations, actions = envs.single_observation_space, envs.single_action_space
        if not (isinstance(observations, NUMBERS) and isinstance(actions, NUMBERS)):
            raise TypeError(
                f"observations are {observations} and actions {actions}; Stable-Baselines3 takes numbers: with "
                "make_sb3_env(..., presentation=Presentation(...)) rows are made one by one and wrapped"
            )
        count_from_zero(actions, "Stable-Baselines3")
        self.envs = envs
        self._each = told == "step"
        self._actions: Any = None
        self._reused = not getattr(envs.unwrapped, "copy", False)  # as Gymnasium's own vectors call it
        self._size = choices(actions) if isinstance(actions, CHOICES) else 0
        self._masks: NDArray[np.bool_] | None = None
        super().__init__(envs.num_envs, observations, actions)

    def reset(self) -> NDArray[Any]:
        """Begin an episode in every row, with the seeds and options that were set."""
        if any(options != self._options[0] for options in self._options):
            raise ValueError("rows are reset together and take the same options; set_options(one dictionary)")
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        observations, infos = self.envs.reset(seed=seeds, options=self._options[0] or None)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [_row(infos, row) for row in range(self.num_envs)]
        self._see(infos)
        return self._kept(observations)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take note of the actions."""
        self._actions = actions

    def step_wait(self) -> Stepped:
        """Step."""
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        over = terminated | truncated
        told = [_row(infos, row) if self._each else {} for row in range(self.num_envs)]
        for row in np.flatnonzero(over).tolist():
            told[row] = self._ending(infos, row, bool(truncated[row] and not terminated[row]))
        self._see(infos)
        return self._kept(observations), rewards.astype(np.float32), over, told

    def _kept(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return observations that the next step does not write over: algorithms store them after it."""
        return observations.copy() if self._reused else observations

    def _ending(self, infos: Mapping[str, Any], row: int, cut: bool) -> dict[str, Any]:
        """Return what is told of the last step of a row's episode."""
        last = _row(infos["final_info"], row)
        if "success" in last:
            last["is_success"] = bool(last["success"])
        return {**last, "terminal_observation": infos["final_obs"][row], "TimeLimit.truncated": cut}

    def _see(self, infos: Mapping[str, Any]) -> None:
        mask = infos.get(MASK)
        fits = mask is not None and np.shape(mask) == (self.num_envs, self._size)
        self._masks = np.array(mask, np.bool_) if fits else None

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Return what a method returns for each row: ``action_masks``, or one of the environment's that takes ``row``.

        Raises:
            AttributeError: there is no such method.
        """
        rows = self._get_indices(indices)
        if method_name == "action_masks" and self._size:
            if self._masks is None:
                return [np.ones(self._size, np.bool_) for _ in rows]
            return [self._masks[row] for row in rows]
        method = getattr(self.envs.unwrapped, method_name)
        return [method(row, *args, **kwargs) for row in rows]

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of the vector environment, for every row the same.

        Raises:
            AttributeError: there is no such attribute.
        """
        rows = self._get_indices(indices)
        if attr_name == "action_masks" and self._size:
            return [self.env_method for _ in rows]
        return [getattr(self.envs.unwrapped, attr_name) for _ in rows]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Refuse: rows are no objects of their own.

        Raises:
            AttributeError: always.
        """
        del value
        raise AttributeError(
            f"{attr_name} cannot be set in rows {indices}: they are rows of one environment; make it as it is to be"
        )

    def env_is_wrapped(self, wrapper_class: Any, indices: Indices = None) -> list[bool]:
        """Return False for every row: there are no single environments that could be wrapped."""
        del wrapper_class
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return a picture of each row; None where the environment was made without ``render_mode``."""
        pictures: Any = None if self.render_mode is None else self.envs.render()
        return [None] * self.num_envs if pictures is None else list(pictures)

    def close(self) -> None:
        """Close the environment."""
        self.envs.close()


def _row(infos: Mapping[str, Any], row: int) -> dict[str, Any]:
    """Return what is told of one row, but for what `RowsVecEnv` tells of an end in its own words."""
    return of_row({name: value for name, value in infos.items() if name not in ENDS}, row)
