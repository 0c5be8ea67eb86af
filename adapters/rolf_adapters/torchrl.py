"""TorchRL: environments as its collectors and losses take them (extra ``torchrl``).

    from rolf_adapters.torchrl import make_torchrl_env

    env = make_torchrl_env("linegym:LineEnv-v1", 64)
    env.rollout(100, break_when_any_done=False)

With a number of rows all are stepped at once (`RowsEnv`); without one it is TorchRL's own wrapper round a single
environment: texts are ``NonTensor`` there, actions too. For several terminals there is TorchRL's ``SerialEnv``.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from rolf_wrappers.menu_action import MASK

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, MultiCategorical, Unbounded
    from torchrl.envs import EnvBase, GymWrapper
except ImportError as error:
    raise ImportError(f"rolf_adapters.torchrl needs TorchRL ({error}): pip install 'rolf[torchrl]'") from error

Device = Any
"""What ``torch.device`` takes."""


def make_torchrl_env(env_id: str, n_envs: int | None = None, *, device: Device = None, **settings: Any) -> EnvBase:
    """Return an environment for TorchRL.

    Args:
        env_id: As ``gymnasium.make`` takes it, with the module before it: ``"linegym:LineEnv-v1"``.
        n_envs: Rows that are stepped at once; None: one environment, without a dimension for rows.
        device: Where tensors go.
        **settings: For the environment: as ``gymnasium.make_vec`` takes them with rows (``variants``), else as
            ``gymnasium.make`` does.

    Raises:
        TypeError: rows are asked for and observations or actions are no numbers.
    """
    if n_envs is None:
        return GymWrapper(gym.make(env_id, **settings), categorical_action_encoding=True, device=device)
    mode = {"vectorization_mode": "vector_entry_point", "autoreset_mode": AutoresetMode.DISABLED}
    envs = gym.make_vec(env_id, n_envs, **mode, **settings)  # type: ignore[arg-type]
    try:
        return RowsEnv(envs, device=device)
    except (TypeError, ValueError):
        envs.close()
        raise


class RowsEnv(EnvBase):  # type: ignore[misc]  # untyped here
    """Step all rows of a vector environment at once: an ``EnvBase`` of batch size ``(rows,)``, without processes.

    ``observation`` is what the environment shows, of a ``Dict`` each entry by its name. Where actions are ``Discrete``
    there is ``action_mask`` (bool) beside it, for ``MaskedCategorical`` or TorchRL's ``ActionMask``: what is possible,
    and everything where the environment does not tell. A row that has ended stays where it is until it is reset, as
    TorchRL's rollouts and collectors do it. ``set_seed(s)`` seeds row 0 with ``s`` at the next reset, row 1 with
    ``s + 1`` and so on.

    Args:
        envs: The vector environment, which leaves resetting to its user (``AutoresetMode.DISABLED``).
        device: Where tensors go.

    Raises:
        TypeError: observations or actions are no numbers.
        ValueError: rows are reset in another way.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any], *, device: Device = None) -> None:
        mode = envs.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.DISABLED:
            raise ValueError(f"autoreset_mode is {mode}; make the environment with AutoresetMode.DISABLED")
        rows = envs.num_envs
        shown = envs.single_observation_space
        entries = shown.spaces if isinstance(shown, spaces.Dict) else {"observation": shown}
        seen = {name: _spec(space, rows, name) for name, space in entries.items()}
        action = _spec(envs.single_action_space, rows, "action")
        super().__init__(device=device, batch_size=torch.Size([rows]))
        self._envs = envs
        self._shown = dict(seen)
        self._next_seed: int | None = None
        self._choices = int(envs.single_action_space.n) if isinstance(envs.single_action_space, spaces.Discrete) else 0
        if self._choices:
            seen[MASK] = Binary(self._choices, shape=(rows, self._choices), dtype=torch.bool)
        self.observation_spec = Composite(**seen, shape=(rows,)).to(self.device)
        self.action_spec = action.to(self.device)
        self.reward_spec = Unbounded(shape=(rows, 1), dtype=torch.float32, device=self.device)
        ends = {name: Binary(1, shape=(rows, 1), dtype=torch.bool) for name in ("done", "terminated", "truncated")}
        self.done_spec = Composite(**ends, shape=(rows,)).to(self.device)

    @property
    def envs(self) -> VectorEnv[Any, Any, Any]:
        """The vector environment."""
        return self._envs

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        chosen = None if tensordict is None else tensordict.get("_reset", None)
        options = None if chosen is None else {"reset_mask": chosen.reshape(-1).cpu().numpy()}
        observations, infos = self._envs.reset(seed=self._next_seed, options=options)
        self._next_seed = None
        over = np.zeros(self._envs.num_envs, np.bool_)
        return self._told(observations, infos, over, over)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        actions = tensordict.get("action").cpu().numpy()
        observations, rewards, terminated, truncated, infos = self._envs.step(actions)
        told = self._told(observations, infos, terminated, truncated)
        return told.set("reward", self._tensor(rewards, torch.float32).unsqueeze(-1))

    def _set_seed(self, seed: int | None) -> None:
        self._next_seed = seed

    def _told(
        self, observations: Any, infos: Any, terminated: NDArray[np.bool_], truncated: NDArray[np.bool_]
    ) -> TensorDictBase:
        """Return what is seen, possible and over."""
        entries = observations if isinstance(observations, dict) else {"observation": observations}
        told = {name: self._tensor(entries[name], spec.dtype) for name, spec in self._shown.items()}
        if self._choices:
            mask = infos.get(MASK, np.ones((self._envs.num_envs, self._choices)))
            told[MASK] = self._tensor(mask, torch.bool)
        ends = {"done": terminated | truncated, "terminated": terminated, "truncated": truncated}
        told |= {name: self._tensor(each, torch.bool).unsqueeze(-1) for name, each in ends.items()}
        return TensorDict(told, batch_size=self.batch_size, device=self.device)

    def _tensor(self, array: NDArray[Any], dtype: Any) -> Any:
        # A copy: the environment may write into its array again.
        return torch.tensor(np.asarray(array), dtype=dtype, device=self.device)

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Close the environment."""
        if not self.is_closed:
            self._envs.close()
        super().close(raise_if_closed=raise_if_closed)


def _spec(space: gym.Space[Any], rows: int, name: str) -> Any:
    """Return what TorchRL calls a space, for so many rows.

    Raises:
        TypeError: it is no numbers.
    """
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return Categorical(int(space.n), shape=(rows,), dtype=torch.int64)
    if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1 and not space.start.any():
        return MultiCategorical(space.nvec.tolist(), shape=(rows, len(space.nvec)), dtype=torch.int64)
    if isinstance(space, spaces.MultiBinary):
        shape = space.shape
        return Binary(shape[-1], shape=(rows, *shape), dtype=torch.bool)
    if isinstance(space, spaces.Box):
        dtype = torch.from_numpy(np.zeros(1, space.dtype)).dtype
        if not space.is_bounded("both"):
            return Unbounded(shape=(rows, *space.shape), dtype=dtype)
        low, high = (
            torch.from_numpy(np.broadcast_to(each, (rows, *space.shape)).copy()) for each in (space.low, space.high)
        )
        return Bounded(low, high, shape=(rows, *space.shape), dtype=dtype)
    raise TypeError(
        f"{name} is {space}, which rows of numbers cannot hold; leave n_envs out for a single environment, and step "
        "several with torchrl.envs.SerialEnv or ParallelEnv"
    )
