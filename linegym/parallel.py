"""LineParallelEnv: the production line as a PettingZoo environment, with a role for each of three agents."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from linegym.actions import COMMANDS, NOOP
from linegym.assignment import as_variant
from linegym.batch import Batch
from linegym.env import DEFAULT_VARIANT
from linegym.information import RowInfo, card
from linegym.plant import HORIZON
from linegym.roles import Role, roles
from linegym.seeding import checked_seed, drawn_seed
from linegym.settings import RENDER_MODES, Settings
from linegym.shares import Moment, Shares, shares
from linegym.spaces import observation_space
from linegym.variants import Variant

try:
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as error:
    if error.name != "pettingzoo":
        raise
    raise ModuleNotFoundError(
        "linegym.parallel needs PettingZoo, which is not installed: pip install 'rolf[pettingzoo]'", name="pettingzoo"
    ) from error

if TYPE_CHECKING:
    from linegym.render.viewer import Viewer

Observation = dict[str, NDArray[Any]]
Observations = dict[str, Observation]
Infos = dict[str, dict[str, Any]]


class LineParallelEnv(ParallelEnv[str, Observation, int]):  # type: ignore[misc]  # as above
    """
    ## Description

    The line of `LineEnv`, run by three agents that act at the same time. In a step their commands are done in the order
    of the table, whatever the order in which they are given: the dispatch role can send a technician on the work
    order that the diagnosis role opens in the same step, and cannot send the one who was just called to an inspection.

    | agent | orders | action | sees |
    |---|---|---|---|
    | `diagnosis` | inspect, diagnose | `Discrete(313)`: as in `LineEnv` | sensors, flow, work orders |
    | `logistics` | order parts | `Discrete(17)`: 0, those of `LineEnv` from 313 | work orders, parts |
    | `dispatch` | dispatch, close, throttle | `Discrete(217)`: 0, those from 329 | flow, work orders, crew, stock |

    0 does nothing. With the other two at 0 a role's episode is that of `LineEnv`, bit for bit.

    ## Observation Space

    `Dict`: `observation`, the numbers of `LineEnv`'s observation that belong to the role
    (`env.role(agent).places` says which; all see the line's time, output, scrap and counts), and `action_mask`, what is
    possible before the others have acted. `env.state()` is the whole observation of `LineEnv`, for a central critic;
    `env.state_space` is its space.

    ## Rewards

    All get the reward of the line. `info["own_reward"]` is what the role's own commands cost in this step (inspections,
    false dismissals and the ways to inspect; parts; ways to repair, orders closed in vain or late; impossible
    commands), `info["shared_reward"]` what the line earned: output less scrap and the time that faults last. The
    reward is the sum of all three roles' own and the shared one, but for rounding.

    ## Episode End

    As in `LineEnv`: after `horizon` ticks all three are truncated at once, and `agents` is empty until a reset.

    ## Information

    Each agent's info holds what `LineEnv`'s does but for the mask, with `invalid_action` of its own command.

    ## Arguments

    `variant`, `horizon`, `evaluation`, `render_mode`: as in `LineEnv`. One step is one tick.

    ## Version History

    * v1: first version.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo's base class declares it so
        "name": "line_v1",
        "render_modes": [*RENDER_MODES],
        "render_fps": 10,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        variant: str | Variant = DEFAULT_VARIANT,
        *,
        horizon: int = HORIZON,
        evaluation: bool = False,
        render_mode: str | None = None,
    ) -> None:
        self.settings = Settings(horizon=horizon, evaluation=evaluation, render_mode=render_mode)
        self.render_mode = render_mode
        self._roles = {role.name: role for role in roles()}
        self.possible_agents = [*self._roles]
        self.agents: list[str] = []
        self.state_space = observation_space("flat")
        variants = [as_variant(variant)]
        self._batch = Batch(
            variants, horizon=horizon, autoreset="disabled", commands=len(self._roles), evaluation=evaluation
        )
        self._row_info = RowInfo(self._batch, masks=False)
        self._card = card(variants[0])
        self._seed: int | None = None
        self._generator, _ = gym.utils.seeding.np_random()
        self._viewer = self._opened_viewer()

    def role(self, agent: str) -> Role:
        """Return what an agent may order and sees.

        Raises:
            KeyError: there is no such agent.
        """
        if agent not in self._roles:
            raise KeyError(f"agent is {agent!r}; there are {', '.join(self.possible_agents)}")
        return self._roles[agent]

    def observation_space(self, agent: str) -> gym.spaces.Dict:
        """Return the observation space of an agent, always the same object."""
        return self.role(agent).observation_space

    def action_space(self, agent: str) -> gym.spaces.Discrete:
        """Return the action space of an agent, always the same object."""
        return self.role(agent).action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Begin an episode: episode 0 of a seed, or the next one of the same.

        Args:
            seed: As in ``LineEnv.reset``; the first reset without one draws it.
            options: ``variant``: from this episode on. PettingZoo's own conformance test gives unknown options, so
                these are ignored.
        """
        following = as_variant(options["variant"]) if options and "variant" in options else None
        if seed is not None:
            seed = checked_seed(seed)
        elif self._seed is None:
            seed = drawn_seed(self._generator)
        if following is not None:
            self._batch.set_variant(0, following)
        if seed is None:
            self._batch.reset()
        else:
            self._seed = seed
            self._batch.reset(np.array([seed], np.uint64))
        self._card = card(self._batch.variants[0])
        self.agents = [*self.possible_agents]
        if self._viewer is not None:
            self._viewer.begin()
        nothing = Shares((0.0, 0.0, 0.0), 0.0, (True, True, True))
        return self._observed(), self._infos(nothing)

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Take one step with an action of each agent.

        Raises:
            ValueError: an agent's action is missing or out of range, or there is no such agent.
            TypeError: an action is no whole number.
            gymnasium.error.ResetNeeded: the episode has ended, or none has begun.
        """
        flat = self._flat(actions)
        if not self.agents:
            happened = "no episode has begun" if self._seed is None else "the episode has ended"
            raise gym.error.ResetNeeded(f"{happened}; call reset() before step()")
        commands = COMMANDS[[*flat]]
        before = Moment.of(self._batch)
        self._batch.step(commands[None])
        parts = shares(before, self._batch, flat, commands)
        if self._viewer is not None:
            asked = [command for action, command in zip(flat, commands, strict=True) if action != NOOP]
            self._viewer.step(asked[-1] if asked else commands[0])
        ended, reward = bool(self._batch.truncated[0]), float(self._batch.rewards[0])
        results = (
            self._observed(),
            dict.fromkeys(self.agents, reward),
            dict.fromkeys(self.agents, False),
            dict.fromkeys(self.agents, ended),
            self._infos(parts),
        )
        if ended:
            self.agents = []
        return results

    def state(self) -> NDArray[np.float32]:
        """Return the whole observation of ``LineEnv``: (632,)."""
        seen: NDArray[np.float32] = self._batch.observations[0].copy()
        return seen

    def state_digest(self) -> str:
        """Return a digest of the whole state, the same as ``LineEnv.state_digest`` of an equal line."""
        return self._batch.save(0).digest()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the line now as text (``ansi``) or as a picture (``rgb_array``).

        Raises:
            gymnasium.error.ResetNeeded: no episode has begun.
        """
        if self._viewer is None:
            gym.logger.warn("render was called without a render mode; give LineParallelEnv(render_mode='rgb_array')")
            return None
        if self._seed is None:
            raise gym.error.ResetNeeded("no episode has begun; call reset() before render()")
        return self._viewer.render()

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _flat(self, actions: Mapping[str, int]) -> tuple[int, int, int]:
        """Return the flat action of each role."""
        strange, missing = set(actions) - set(self._roles), set(self._roles) - set(actions)
        if strange or missing:
            raise ValueError(
                f"got actions of {', '.join(map(str, actions)) or 'nobody'}; give one of each of "
                f"{', '.join(self.possible_agents)} (0 does nothing)"
            )
        diagnosis, logistics, dispatch = (_flat(role, actions[name]) for name, role in self._roles.items())
        return diagnosis, logistics, dispatch

    def _observed(self) -> Observations:
        seen, mask = self._batch.observations[0], self._batch.masks[0]
        return {name: role.view(seen, mask) for name, role in self._roles.items()}

    def _infos(self, parts: Shares) -> Infos:
        seed = self._seed if self._seed is not None else 0
        return {
            name: {
                **self._row_info.told(self._card, seed),
                "invalid_action": not possible,
                "own_reward": own,
                "shared_reward": parts.shared,
            }
            for name, own, possible in zip(self._roles, parts.own, parts.possible, strict=True)
        }

    def _opened_viewer(self) -> Viewer | None:
        if self.render_mode is None:
            return None
        from linegym.render.viewer import Viewer  # Pillow loads only where pictures are wanted

        return Viewer(self._batch, self.render_mode)


parallel_env = LineParallelEnv
"""The name under which PettingZoo's tools look for it."""
ENV_ID = "linegym:LineEnv-v1"
"""Whose line it is."""


def _flat(role: Role, action: Any) -> int:
    """Return the flat action that a role's action stands for."""
    allowed = f"give a whole number from 0 to {len(role.actions) - 1}"
    try:
        number = index(action)
    except TypeError:
        raise TypeError(f"action of {role.name} is {action!r} of type {type(action).__name__}; {allowed}") from None
    if not 0 <= number < len(role.actions):
        raise ValueError(f"action of {role.name} is {action!r}, which is out of range; {allowed}")
    return int(role.actions[number])
