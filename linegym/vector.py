"""LineVectorEnv: thousands of production lines, stepped together by one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from linegym.actions import batch_commands
from linegym.assignment import Assignment, Variants
from linegym.batch import Batch
from linegym.env import LineEnv, Observation, Saved, saved_for
from linegym.information import Infos, Roster, of_rows, with_presence
from linegym.plant import HORIZON, LONGEST_HORIZON
from linegym.seeding import drawn_seed, row_seeds
from linegym.settings import Settings, refuse_unknown, whole, yes_or_no
from linegym.spaces import Entry, action_space, obs_spec, observation_space
from linegym.variants import Variant

if TYPE_CHECKING:
    from rolf.interface import Call, Tool

Stepped = tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]

MOST_THREADS = 1024
ARGUMENTS = (
    "num_envs",
    "variants",
    "autoreset_mode",
    "horizon",
    "max_episode_steps",
    "ticks_per_step",
    "action",
    "observation",
    "evaluation",
    "masks",
    "num_threads",
    "copy",
    "render_mode",
)
OPTIONS = ("reset_mask", "variants")
"""What ``reset(options=...)`` may hold."""


class LineVectorEnv(VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """Many lines in one compiled batch: row by row, bit by bit what as many ``LineEnv`` give.

    A row depends on its variant, its seed and its actions alone: not on its place, its neighbours or the threads.
    ``gymnasium.make_vec("linegym:LineEnv-v1", num_envs=7000, variants="train")`` makes one.

    ``infos`` holds dense arrays, one row an environment, of all that ``LineEnv`` tells, each with a mask ``_name`` as
    in Gymnasium's vector environments. In a ``SAME_STEP`` step that ends episodes it holds ``final_obs`` (an array of
    objects, as Gymnasium has it), ``final_obs_array`` (the same as one array, zero in other rows; with
    ``observation="dict"`` the numbers) and ``final_info``.

    Args:
        num_envs: Rows.
        variants: The name of a set (``"train"``), or a sequence of ids or ``Variant``: dealt to the rows in order, and
            on over the episodes; the beginning of a set is a sample of it, and as many rows as variants play each once.
            One id or ``Variant``: for all rows. Or a function ``(row, episode) -> variant``, asked as the row's episode
            begins.
        autoreset_mode: ``NEXT_STEP``: the step after the end ignores the action, pays 0 and returns the next episode's
            first observation. ``SAME_STEP``: the step that ends an episode returns it. ``DISABLED``:
            ``reset(options={"reset_mask": …})`` begins it.
        horizon: As for ``LineEnv``.
        max_episode_steps: The horizon in steps, as Gymnasium's ``make_vec`` names it.
        ticks_per_step: As for ``LineEnv``, and so are ``action``, ``observation``, ``evaluation``, ``masks`` and
            ``render_mode``.
        action: See there.
        observation: See there.
        evaluation: See there.
        masks: See there.
        num_threads: Threads that step the rows; more than one has an effect from 256 rows on.
        copy: Whether observations are the caller's own. False returns the array that the next step overwrites:
            quicker by milliseconds for 7 000 rows, and wrong for whoever keeps what it returned.
        render_mode: See ``LineEnv``; ``render`` draws every row.

    Raises:
        TypeError: an argument is of the wrong type, or unknown; the message suggests the nearest.
        ValueError: an argument is out of range, or a variant unknown.
    """

    def __init__(
        self,
        num_envs: int = 1,
        variants: Variants = "train",
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        horizon: int | None = None,
        max_episode_steps: int | None = None,
        ticks_per_step: int = 1,
        action: str = "flat",
        observation: str = "flat",
        evaluation: bool = False,
        masks: bool = True,
        num_threads: int = 1,
        copy: bool = True,
        render_mode: str | None = None,
        **unknown: Any,
    ) -> None:
        super().__init__()
        refuse_unknown("LineVectorEnv", unknown, ARGUMENTS)
        self.num_envs = whole("num_envs", num_envs, 1, 2**31 - 1)
        ticks = _horizon(horizon, max_episode_steps, ticks_per_step)
        self.settings = Settings(ticks, ticks_per_step, action, observation, evaluation, masks, render_mode)
        yes_or_no("copy", copy)
        self.copy = copy
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**LineEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self._set_spaces()
        self._assignment = Assignment(variants, num_envs)
        self._batch = self._made_batch(whole("num_threads", num_threads, 1, MOST_THREADS))
        self._roster = Roster(self._batch.variants)
        self._seeds = np.zeros(num_envs, np.int64)
        self._begun = np.zeros(num_envs, np.bool_)
        self._settled = np.full(num_envs, self._assignment.lasting)
        """Rows whose variant is already that of all their coming episodes."""
        self._viewers = self._opened_viewers()

    def _made_batch(self, threads: int) -> Batch:
        # SAME_STEP begins rows here and not in the kernel, so that all of their last state can still be told.
        in_kernel = self.autoreset_mode is AutoresetMode.NEXT_STEP
        return Batch(
            [self._assignment.of(row, 0) for row in range(self.num_envs)],
            horizon=self.settings.horizon,
            ticks_per_step=self.settings.ticks_per_step,
            autoreset="next_step" if in_kernel else "disabled",
            threads=threads,
            evaluation=self.settings.evaluation,
            masks=self.settings.masks,
        )

    def _set_spaces(self) -> None:
        self.single_action_space = action_space(self.settings.action)
        self.single_observation_space = observation_space(self.settings.observation)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    @property
    def obs_spec(self) -> tuple[Entry, ...]:
        """What each number of a row's flat observation is."""
        return obs_spec()

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variant of each row's present episode."""
        return tuple(self._batch.variants)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of every row, as `LineEnv.tools`."""
        from linegym import tools as calls

        return calls.TOOLS

    def call_of(self, action: Any) -> Call:
        """Return the call that a row's action stands for; raises ``ValueError`` or ``TypeError`` where it is none."""
        from linegym import tools as calls

        return calls.call_of(action, self.settings.action)

    # ---- Gymnasium's face

    def reset(
        self, *, seed: int | Sequence[int | None] | NDArray[Any] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Infos]:
        """Begin an episode in every row.

        Args:
            seed: Of the first row, the next ones have the numbers after it; or one a row; None: the next episode of
                the row's seed, at first a seed that is drawn.
            options: ``reset_mask``, an array of booleans, leaves out the rows that are False; ``variants`` deals
                others, as the constructor's argument does, to the episodes that begin from now on.

        Raises:
            TypeError: a seed is no whole number, an option is unknown, or the mask is no array of booleans.
            ValueError: there are not as many seeds or mask values as rows, or one is out of range.
            gymnasium.error.ResetNeeded: the mask leaves out a row that has never been reset.
        """
        given = options or {}
        refuse_unknown("LineVectorEnv.reset", given, OPTIONS, "option")
        seeds, rows = row_seeds(seed, self.num_envs), _rows(given.get("reset_mask"), self.num_envs)
        if not (self._begun | rows).all():
            raise gym.error.ResetNeeded("some rows have never been reset; call reset() without a reset_mask first")
        if "variants" in given:
            self._assignment = Assignment(given["variants"], self.num_envs)
            self._settled[:] = False
        if seed is not None and not isinstance(seed, (Sequence, np.ndarray)):
            super().reset(seed=int(seed))
        self._begin(rows, seeds)
        for row in np.flatnonzero(rows):
            self._shown(int(row), None)
        return self._observed(), with_presence(self._infos(), rows)

    def step(self, actions: NDArray[Any] | Sequence[Any]) -> Stepped:
        """Take one step in every row.

        Raises:
            TypeError, ValueError: the actions are not of the action space; nothing has happened then.
            gymnasium.error.ResetNeeded: rows have never been reset, or with ``DISABLED`` have ended.
        """
        commands = batch_commands(actions, self.num_envs, self.settings.action)
        if not self._begun.all():
            raise gym.error.ResetNeeded("no episode has begun; call reset() before step()")
        fresh = self._batch.truncated.copy()
        if fresh.any():
            if self.autoreset_mode is AutoresetMode.DISABLED:
                ended = np.flatnonzero(fresh)
                told = f"{ended[:8].tolist()}{' and more' if len(ended) > 8 else ''}"
                raise gym.error.ResetNeeded(
                    f"the episodes of rows {told} have ended; call reset(options={{'reset_mask': ...}}) first"
                )
            self._deal(fresh, self._batch.facts[:, 0] + 1)
        self._batch.step(commands)
        for row in range(len(self._viewers)):
            self._shown(row, None if fresh[row] else commands[row, 0])
        rewards, over = self._batch.rewards.copy(), self._batch.truncated.copy()
        last = self._same_step(over) if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any() else {}
        infos = {**with_presence(self._infos(), np.ones(self.num_envs, np.bool_)), **last}
        return self._observed(), rewards, np.zeros(self.num_envs, np.bool_), over, infos

    def render(self) -> tuple[Any, ...] | None:
        """Return every row's frame.

        Raises:
            gymnasium.error.ResetNeeded: no episode has begun.
        """
        if self.render_mode is None:
            gym.logger.warn("render was called without a render mode; give make_vec(..., render_mode='rgb_array')")
            return None
        if not self._begun.all():
            raise gym.error.ResetNeeded("no episode has begun; call reset() before render()")
        return tuple(viewer.render() for viewer in self._viewers)

    # ---- one row among many

    def save(self, row: int) -> Saved:
        """Keep this moment of a row's episode; ``LineEnv.restore`` takes it too.

        Raises:
            gymnasium.error.ResetNeeded: no episode has begun.
        """
        row = whole("row", row, 0, self.num_envs - 1)
        if not self._begun[row]:
            raise gym.error.ResetNeeded("no episode has begun; call reset() before save()")
        return Saved(self._batch.save(row), int(self._seeds[row]), self.settings, bool(self._batch.truncated[row]))

    def restore(self, row: int, saved: Saved) -> None:
        """Put a row back to a kept moment; it goes on from there, and its later episodes are dealt as before.

        Raises:
            TypeError: it is not what ``save`` returned.
            ValueError: it was kept in an environment of another horizon or namespace, or there is no such row.
        """
        row = whole("row", row, 0, self.num_envs - 1)
        saved_for(saved, self.settings)
        self._batch.restore(row, saved.state)
        self._seeds[row], self._begun[row], self._settled[row] = saved.seed, True, False
        self._roster.note(row, self._batch.variants[row])
        self._shown(row, None)

    def state_digest(self, row: int) -> str:
        """Return a digest of a row's state, the same as ``LineEnv.state_digest`` of an equal line."""
        return self._batch.save(whole("row", row, 0, self.num_envs - 1)).digest()

    # ---- episodes

    def _begin(self, rows: NDArray[np.bool_], seeds: Sequence[int | None]) -> None:
        """Begin an episode in some rows, with the seeds that they are given or the one that they have."""
        seeded = np.zeros(self.num_envs, np.bool_)
        for row in np.flatnonzero(rows).tolist():
            seed = seeds[row]
            if seed is None and not self._begun[row]:
                seed = drawn_seed(self.np_random)
            if seed is not None:
                self._seeds[row], seeded[row] = seed, True
        self._deal(rows, np.where(seeded, 0, self._batch.facts[:, 0] + 1))
        if seeded.any():
            self._batch.reset(self._seeds.astype(np.uint64), seeded)
        if (rows & ~seeded).any():
            self._batch.reset(None, rows & ~seeded)
        self._begun |= rows

    def _deal(self, rows: NDArray[np.bool_], episodes: NDArray[Any]) -> None:
        """Give the rows that are about to begin an episode its variant."""
        for row in np.flatnonzero(rows & ~self._settled):
            variant = self._assignment.of(int(row), int(episodes[row]))
            self._batch.set_variant(int(row), variant)
            self._roster.note(int(row), variant)
            self._settled[row] = self._assignment.lasting

    def _same_step(self, over: NDArray[np.bool_]) -> Infos:
        """Begin the rows that have ended; return how they ended."""
        seen = np.zeros_like(self._batch.observations)
        seen[over] = self._batch.observations[over]
        final = np.full(self.num_envs, None, dtype=object)
        for row in np.flatnonzero(over):
            final[row] = seen[row].copy()
            if self.settings.observation == "dict":
                final[row] = {"action_mask": self._batch.masks[row].astype(np.int8), "observation": final[row]}
        last = {"final_obs": final, "final_info": of_rows(self._infos(), over)}
        self._begin(over, [None] * self.num_envs)
        for row in np.flatnonzero(over):
            self._shown(int(row), None)
        return {**with_presence(last, over), "final_obs_array": seen}

    # ---- what is told

    def _infos(self) -> Infos:
        return self._roster.infos(self._batch, self._seeds, self.settings.masks)

    def _observed(self) -> Observation:
        seen, masks = self._batch.observations, self._batch.masks.view(np.int8)
        if self.copy:
            seen = seen.copy()
        if self.settings.observation == "flat":
            return seen
        return {"action_mask": masks.copy() if self.copy else masks, "observation": seen}

    def _opened_viewers(self) -> tuple[Any, ...]:
        if self.render_mode is None:
            return ()
        from linegym.render.viewer import Viewer  # Pillow loads only where pictures are wanted

        return tuple(Viewer(self._batch, self.render_mode, row) for row in range(self.num_envs))

    def _shown(self, row: int, command: NDArray[np.int32] | None) -> None:
        """Let a row's viewer see a step, or the beginning of an episode."""
        if self._viewers and command is None:
            self._viewers[row].begin()
        elif self._viewers:
            self._viewers[row].step(command)


def _mode(given: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(given)
    except ValueError:
        allowed = ", ".join(f"{mode} or {mode.value!r}" for mode in AutoresetMode)
        raise ValueError(f"autoreset_mode={given!r} is not known; allowed are {allowed}") from None


def _horizon(horizon: int | None, max_episode_steps: int | None, ticks_per_step: int) -> int:
    """Return the length of the shift [ticks], by whichever name it was given."""
    if max_episode_steps is None:
        return HORIZON if horizon is None else horizon
    ticks = whole("max_episode_steps", max_episode_steps, 1, LONGEST_HORIZON) * ticks_per_step
    if horizon is not None and horizon != ticks:
        raise ValueError(
            f"horizon={horizon!r} and max_episode_steps={max_episode_steps!r} of {ticks_per_step} ticks differ"
        )
    return ticks


def _rows(mask: Any, rows: int) -> NDArray[np.bool_]:
    """Return which rows a reset is about."""
    if mask is None:
        return np.ones(rows, np.bool_)
    wanted = f"give a NumPy array of {rows} booleans, one True at least"
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError(f"reset_mask={mask!r:.80} is no array of booleans; {wanted}")
    if mask.shape != (rows,) or not mask.any():
        raise ValueError(f"reset_mask={mask!r:.80} is not allowed; {wanted}")
    return mask.copy()
