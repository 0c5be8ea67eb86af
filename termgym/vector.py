"""TermVectorEnv: many terminals in one process, all driven by one event loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from termgym.batching import batch_infos
from termgym.env import TermEnv
from termgym.observation import Observation, observe, observe_all
from termgym.outcome import Outcome
from termgym.session.driving import Driver
from termgym.tasks.task import Task

Actions = Sequence[str]
Stepped = tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class TermVectorEnv(VectorEnv[Observation, Actions, NDArray[Any]]):
    """Many terminals, stepped together: row by row what as many single environments give.

    All commands of a step are sent before the first answer is waited for, so they run at the same time.
    ``gymnasium.make_vec("termgym:TermEnv-v1", num_envs=64)`` makes one.

    Args:
        num_envs: Rows.
        task: As for ``TermEnv``; a list gives each row its own.
        autoreset_mode: When a row whose episode has ended is reset: ``NEXT_STEP``, ``SAME_STEP`` or ``DISABLED``.
        **settings: As for ``TermEnv``.

    Raises:
        ValueError: there are no rows, or not as many tasks as rows.
    """

    def __init__(
        self,
        num_envs: int,
        task: str | Task | Sequence[str | Task | None] | None = None,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **settings: Any,
    ) -> None:
        super().__init__()
        if not isinstance(num_envs, int) or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not allowed; give a whole number from 1")
        tasks = _tasks(task, num_envs)
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**TermEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self._driver = Driver()
        self.envs = [TermEnv(one, driver=self._driver, **settings) for one in tasks]
        self.render_mode = self.envs[0].render_mode
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._outcomes: list[Outcome | None] = [None] * num_envs
        self._ended = np.zeros(num_envs, dtype=np.bool_)

    # ---- Gymnasium's face

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every row.

        Args:
            seed: Of the first row, the next ones have the numbers after it; or one a row.
            options: As for ``TermEnv.reset``; ``reset_mask``, an array of booleans, leaves out the rows that are False.

        Raises:
            ValueError: there are not as many seeds or mask values as rows; also what ``TermEnv.reset`` raises.
        """
        seeds = _seeds(seed, self.num_envs)
        told = dict(options or {})
        rows = _rows(told.pop("reset_mask", None), self.num_envs)
        infos = []
        for row in rows:
            self._outcomes[row] = outcome = self.envs[row].start(seeds[row], told)
            self._ended[row] = False
            infos.append((row, outcome.info))
        return observe_all(self._all()), batch_infos(self.num_envs, infos)

    def step(self, actions: Actions) -> Stepped:
        """Take one step in every row.

        Raises:
            ValueError: there are not as many actions as rows.
            gymnasium.error.ResetNeeded: ``DISABLED``, and an episode that has ended was not reset.
        """
        if isinstance(actions, (str, bytes)):
            raise TypeError(f"got one action, {actions!r:.60}, for {self.num_envs} rows; give a sequence of actions")
        if len(actions) != self.num_envs:
            raise ValueError(f"got {len(actions)} actions for {self.num_envs} rows; give one a row")
        fresh = self._fresh_rows()
        stepped = [row for row in range(self.num_envs) if row not in fresh]
        episodes = [self.envs[row].episode for row in stepped]
        begun = {e.session: e for e, row in zip(episodes, stepped, strict=True) if e.begin(actions[row])}
        for row in fresh:
            self._outcomes[row] = self.envs[row].start(None, None)
        for session, error in self._driver.drive(begun).items():
            begun[session].fail(error)
        for row, episode in zip(stepped, episodes, strict=True):
            self._outcomes[row] = self.envs[row].shown(actions[row], episode.finish())
        return self._batched()

    def render(self) -> tuple[Any, ...]:
        """Return every row's frame."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **_: Any) -> None:
        """Kill what runs and give the machines back."""
        for env in self.envs:
            env.close()
        self._driver.close()

    # ---- one row among many

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return what a method of every row returns, or what an attribute of every row holds."""
        found = [env.get_wrapper_attr(name) for env in self.envs]
        return tuple(each(*args, **kwargs) if callable(each) else each for each in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every row."""
        return self.call(name)

    @property  # type: ignore[misc]  # nothing can be set: each row has its own
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]  # as Gymnasium's own
        """The generators of the rows."""
        return tuple(env.np_random for env in self.envs)

    @property
    def np_random_seed(self) -> tuple[int | None, ...]:  # type: ignore[override]  # as Gymnasium's own
        """The seeds of the rows' generators."""
        return tuple(env.np_random_seed for env in self.envs)

    # ---- autoreset

    def _fresh_rows(self) -> frozenset[int]:
        """Return the rows that this step resets instead of stepping them."""
        ended = np.flatnonzero(self._ended)
        if self.autoreset_mode is AutoresetMode.DISABLED and len(ended):
            raise gym.error.ResetNeeded(
                f"the episodes of rows {ended.tolist()} have ended; call reset(options={{'reset_mask': ...}}) first"
            )
        return frozenset(ended.tolist()) if self.autoreset_mode is AutoresetMode.NEXT_STEP else frozenset()

    def _batched(self) -> Stepped:
        """Return the step's outcomes as arrays; ``SAME_STEP`` has ended rows begin again and tells their ends apart."""
        outcomes = self._all()
        rewards = np.array([outcome.reward for outcome in outcomes], dtype=np.float64)
        terminated = np.array([outcome.terminated for outcome in outcomes], dtype=np.bool_)
        truncated = np.array([outcome.truncated for outcome in outcomes], dtype=np.bool_)
        self._ended = terminated | truncated
        infos: list[tuple[int, dict[str, Any]]] = []
        for row, outcome in enumerate(outcomes):
            if self._ended[row] and self.autoreset_mode is AutoresetMode.SAME_STEP:
                infos.append((row, {"final_obs": observe(outcome), "final_info": outcome.info}))
                self._outcomes[row] = outcome = self.envs[row].start(None, None)
            infos.append((row, outcome.info))
        return observe_all(self._all()), rewards, terminated, truncated, batch_infos(self.num_envs, infos)

    def _all(self) -> list[Outcome]:
        """Return every row's latest outcome."""
        known = [outcome for outcome in self._outcomes if outcome is not None]
        if len(known) < self.num_envs:
            raise gym.error.ResetNeeded("some rows have never been reset; call reset() without a reset_mask first")
        return known


def _tasks(task: str | Task | Sequence[str | Task | None] | None, rows: int) -> list[str | Task | None]:
    if task is None or isinstance(task, (str, Task)):
        return [task] * rows
    tasks: list[str | Task | None] = list(task)
    if len(tasks) != rows:
        raise ValueError(f"there are {len(tasks)} tasks for num_envs={rows} rows; give one a row, or one for all")
    return tasks


def _seeds(seed: int | Sequence[int | None] | None, rows: int) -> list[int | None]:
    if seed is None:
        return [None] * rows
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + row for row in range(rows)]
    if len(seed) != rows:
        raise ValueError(f"got {len(seed)} seeds for {rows} rows; give one a row, or one for the first")
    return list(seed)


def _rows(mask: Any, rows: int) -> list[int]:
    """Return the rows that a reset is about."""
    if mask is None:
        return list(range(rows))
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (rows,) or not mask.any():
        raise ValueError(
            f"reset_mask={mask!r} is not allowed; give a NumPy array of {rows} booleans, one True at least"
        )
    return [int(row) for row in np.flatnonzero(mask)]
