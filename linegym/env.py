"""LineEnv: a production line with Gymnasium's face."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from linegym.actions import single_command
from linegym.assignment import as_variant
from linegym.batch import Batch, RowState
from linegym.information import RowInfo, card
from linegym.plant import HORIZON
from linegym.seeding import checked_seed, drawn_seed
from linegym.settings import RENDER_MODES, Settings, refuse_unknown
from linegym.spaces import Entry, action_space, obs_spec, observation_space
from linegym.variants import Variant

if TYPE_CHECKING:
    from linegym.render.viewer import Viewer
    from rolf.interface import Call, Section, Tool

DEFAULT_VARIANT = "serial/thermocouple/profinet/bearing"
ARGUMENTS = (
    "variant",
    "horizon",
    "ticks_per_step",
    "action",
    "observation",
    "evaluation",
    "masks",
    "render_mode",
)
OPTIONS = ("variant",)
"""What ``reset(options=...)`` may hold."""

Observation = NDArray[np.float32] | dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Saved:
    """A moment of an episode, kept by ``LineEnv.save``."""

    state: RowState
    seed: int
    settings: Settings
    over: bool
    """Whether the episode had ended."""


class LineEnv(gym.Env[Any, Any]):
    """
    ## Description

    A production line of 8 to 24 stations makes parts, wears out and fails. An agent keeps it running: it reads sensors
    that may lie, over a network that may lose and delay what they say, finds out what is wrong, orders parts, sends
    technicians and closes work orders. A fault, a lying sensor, a bad network and a busy controller look alike at
    first sight; age, gaps, scan time and the other channels of a station tell them apart. A station whose alarm nobody
    answers stops.

    Each work order has four phases: *identify* the fault class, *assess* (inspect, have the part), *dispatch* a
    technician, *execute* the repair, verify and close. What is simulated, to the last operation: The plant, exactly.

    ## Action Space

    `action="flat"`: `Discrete(545)`; `linegym.inspect`, `diagnose`, `order`, `dispatch`, `close`, `throttle` and
    `resume` write the numbers, `linegym.describe` reads them.

    | numbers | action | number |
    |---|---|---|
    | 0 | do nothing | |
    | 1 – 72 | inspect a channel of a station: a clean measurement for a technician's time | 1 + station · 3 + channel |
    | 73 – 312 | diagnose: open a work order for a fault class (0 – 7) or dismiss (8, 9) | 73 + station · 10 + claim |
    | 313 – 328 | order 1 or 3 pieces of a spare part | 313 + part · 2 + size |
    | 329 – 472 | dispatch a technician to a station with an open work order | 329 + technician · 24 + station |
    | 473 – 496 | close a work order after the repair, or withdraw it | 473 + station |
    | 497 – 544 | resume (0) or throttle (1) a station | 497 + station · 2 + argument |

    `action="multi"`: `MultiDiscrete([7, 24, 16])`: verb, station and argument of the same commands
    (`linegym.actions.COMMANDS` has the one as the other). An action that is not possible now does nothing, costs a
    little and sets `info["invalid_action"]`; `info["action_mask"]` tells which of the 545 are possible.

    ## Observation Space

    `Box` of 632 float32, all bounds finite; `observation="dict"`: `{"observation": …, "action_mask": …}`.
    `env.unwrapped.obs_spec` names every number. A station's 24 numbers begin at `station · 24`, all zero for places
    without one; readings are counted from the quantity's usual value.

    | index | meaning | min | max | unit |
    |---|---|---|---|---|
    | 0 – 2 | newest delivered reading of each channel | -50 | 50 | usual spread |
    | 3 – 5 | standard deviation of the latest readings | 0 | 50 | usual spread |
    | 6 | age of the newest sample | 0 | 4 | 96 s |
    | 7 | smoothed count of samples that never came | 0 | 8 | 8 samples |
    | 8 | scan time that the PLC reported | 0 | 4 | nominal scan |
    | 9 | smoothed time to process a part | 0 | 8 | nominal time |
    | 10 | parts passed on | 0 | 10 | 100 parts |
    | 11, 12 | fill of the buffers before and after | 0 | 1 | capacity |
    | 13 | stack light (`linegym.Panel`) | 0 | 1 | 4 |
    | 14 | state of the work order (`linegym.Order`) | 0 | 1 | 4 |
    | 15 | claimed fault class, 0 none | 0 | 1 | 8 |
    | 16 | age of the work order | 0 | 2 | 600 s |
    | 17 | technician on it, 0 none | 0 | 1 | 6 |
    | 18 | health alarm | 0 | 1 | |
    | 19 | throttled | 0 | 1 | |
    | 20 – 22 | what the last inspection measured | -50 | 50 | usual spread |
    | 23 | time since the last inspection | 0 | 1 | 600 s |
    | 576 – 599 | each technician: state, place, target, time left | 0 | 1 | 4, 24, 24, 300 s |
    | 600 – 623 | each part: in store, ordered, time until it comes | 0 | 1 | 10, 10, 1200 s |
    | 624 | share of the shift that is over | 0 | 1 | horizon |
    | 625, 626 | parts finished, parts scrapped | 0 | 4 | nominal output |
    | 627 – 631 | alarms, idle technicians, last command impossible, stations, orders | 0 | 1 | 24, 6, 1, 24, 24 |

    The true cause of anything is never in it.

    ## Rewards

    | reward | for |
    |---|---|
    | 100 | the shift's whole nominal output, part by part |
    | -20 | scrap as large as that, part by part |
    | -0.03 | each tick of each station with a fault |
    | -0.05 | each spare part ordered |
    | -0.002 | each tick of each technician on the way |
    | -0.01 | each inspection |
    | -0.2 | each work order closed in vain, and each real fault dismissed |
    | -2 | each work order closed late |
    | -0.01 | each command that is not possible |

    ## Starting State

    A sound line with empty buffers. Everything that will happen by itself is fixed by the variant, the seed and the
    number of the episode: `reset(seed=s)` begins episode 0 of seed `s`, `reset()` the next; neither what was done
    before nor how long it lasted has a part in it. The first `reset()` without a seed draws one. 0 is a seed.

    ## Episode End

    - *Termination*: never; a line has no natural end.
    - *Truncation*: after `horizon` ticks.

    `info["success"]` then says whether every fault that appeared in the first three quarters was closed rightly and in
    time, and the output reached the target. A step after the end raises `gymnasium.error.ResetNeeded`.

    ## Information

    `variant_id`, `template_id`, `seed`, `episode_index`, `tick`; `action_mask` (545,) and `station_mask` (24,), int8;
    `invalid_action`; `phase` of the furthest work order (0 nothing to do, 1 identify … 4 execute); counts `output`,
    `scrap`, `faults`, `faults_due`, `closed`, `closed_due`, `wrong`, `late`; `success`; of the order closed in this
    step `closed_station` (-1 none), `closed_right` and the ticks of its phases `identify`, `assess`, `dispatch`,
    `execute`.

    For attribution, never for policies: `true_faults` (24,), the fault class of each station; `intensities` (3,) of
    the sensor, network and load perturbations. `rolf eval` shows contestants neither these nor what is judged by
    them: `linegym.catalogue.HIDDEN`.

    ## Arguments

    - `variant`: id such as `"serial/thermocouple/profinet/bearing+sensor:3"`, or a `linegym.Variant`;
      `reset(options={"variant": …})` changes it from that episode on.
    - `horizon`: length of the shift [ticks of 6 s].
    - `ticks_per_step`: ticks that a step takes; the command falls into the first.
    - `action`, `observation`: see the spaces.
    - `evaluation`: draw from a namespace of seeds that no training episode can come from.
    - `masks`: whether `info["action_mask"]` is told.
    - `render_mode`: `"ansi"` or `"rgb_array"`.

    ## Version History

    * v1: first version.

    ## Source

    docs/reference/plant.md, with the sources of each law.
    """

    metadata: dict[str, Any] = {"render_modes": [*RENDER_MODES], "render_fps": 10}  # noqa: RUF012 - as Gymnasium does

    def __init__(
        self,
        variant: str | Variant = DEFAULT_VARIANT,
        *,
        horizon: int = HORIZON,
        ticks_per_step: int = 1,
        action: str = "flat",
        observation: str = "flat",
        evaluation: bool = False,
        masks: bool = True,
        render_mode: str | None = None,
        **unknown: Any,
    ) -> None:
        refuse_unknown("LineEnv", unknown, ARGUMENTS)
        self.settings = Settings(horizon, ticks_per_step, action, observation, evaluation, masks, render_mode)
        self.render_mode = render_mode
        self.action_space = action_space(action)
        self.observation_space = observation_space(observation)
        self._batch = Batch(
            [as_variant(variant)],
            horizon=horizon,
            ticks_per_step=ticks_per_step,
            autoreset="disabled",
            evaluation=evaluation,
            masks=masks,
        )
        self._seen = self._batch.observations[0]
        self._row_info = RowInfo(self._batch, masks)
        self._commands = np.zeros((1, 1, 3), np.int32)
        self._card = card(self._batch.variants[0])
        self._seed: int | None = None
        self._over = False
        self._viewer = self._opened_viewer()

    @property
    def obs_spec(self) -> tuple[Entry, ...]:
        """What each number of the flat observation is: name, index, unit, min, max, meaning."""
        return obs_spec()

    @property
    def vector_kwargs(self) -> dict[str, Any]:
        """What ``gymnasium.make_vec`` takes for rows like this environment."""
        return {"variants": self.variant if "custom-" in self.variant.id else self.variant.id, **asdict(self.settings)}

    @property
    def variant(self) -> Variant:
        """The variant of the present episode."""
        return self._batch.variants[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Begin episode 0 of it; None: the next episode of the same seed.
            options: ``variant``: from this episode on.

        Raises:
            TypeError: the seed is no whole number, or an option is unknown.
            ValueError: the seed is negative or above 2**63 - 1, or there is no such variant.
        """
        given = options or {}
        refuse_unknown("LineEnv.reset", given, OPTIONS, "option")
        following = as_variant(given["variant"]) if "variant" in given else None
        if seed is not None:
            seed = checked_seed(seed)
        elif self._seed is None:
            seed = drawn_seed(self.np_random)
        super().reset(seed=seed)
        if following is not None:
            self._batch.set_variant(0, following)
        if seed is None:
            self._batch.reset()
        else:
            self._seed = seed
            self._batch.reset(np.array([seed], np.uint64))
        self._card = card(self._batch.variants[0])
        self._over = False
        if self._viewer is not None:
            self._viewer.begin()
        return self._observed(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one step; see the class.

        Raises:
            TypeError, ValueError: the action is not one of the action space.
            gymnasium.error.ResetNeeded: the episode has ended, or none has begun.
        """
        self._commands[0, 0] = single_command(action, self.settings.action)
        if self._over or self._seed is None:
            happened = "the episode has ended" if self._over else "no episode has begun"
            raise gym.error.ResetNeeded(f"{happened}; call reset() before step()")
        self._batch.step(self._commands)
        self._over = bool(self._batch.truncated[0])
        if self._viewer is not None:
            self._viewer.step(self._commands[0, 0])
        return self._observed(), float(self._batch.rewards[0]), False, self._over, self._info()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the line now as text (``ansi``) or as a picture (``rgb_array``).

        Raises:
            gymnasium.error.ResetNeeded: no episode has begun.
        """
        if self._viewer is None:
            gym.logger.warn("render was called without a render mode; give make(..., render_mode='rgb_array')")
            return None
        if self._seed is None:
            raise gym.error.ResetNeeded("no episode has begun; call reset() before render()")
        return self._viewer.render()

    def save(self) -> Saved:
        """Keep this moment of the episode.

        Raises:
            gymnasium.error.ResetNeeded: no episode has begun.
        """
        if self._seed is None:
            raise gym.error.ResetNeeded("no episode has begun; call reset() before save()")
        return Saved(self._batch.save(0), self._seed, self.settings, self._over)

    def restore(self, saved: Saved) -> tuple[Observation, dict[str, Any]]:
        """Go back to a kept moment, as often as wanted, in this environment or another; return what is seen there.

        Raises:
            TypeError: it is not what ``save`` returned.
            ValueError: it was kept in an environment of another horizon or namespace.
        """
        saved_for(saved, self.settings)
        self._batch.restore(0, saved.state)
        self._seed, self._over = saved.seed, saved.over
        self._card = card(self._batch.variants[0])
        if self._viewer is not None:
            self._viewer.begin()
        return self._observed(), self._info()

    def state_digest(self) -> str:
        """Return a digest of the whole state; equal states have equal ones on every machine."""
        return self._batch.save(0).digest()

    # ---- as calls of tools (rolf.interface.Tooled); what that needs loads only where it is wanted

    @property
    def purpose(self) -> str:
        """What is to be done on a line, in a few sentences."""
        from linegym import tools as calls

        return calls.PURPOSE

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools; the same in every episode."""
        from linegym import tools as calls

        return calls.TOOLS

    def action_of(self, call: Call) -> Any:
        """Return the action of a call."""
        from linegym import tools as calls

        return calls.action_of(call, self.settings.action)

    def call_of(self, action: Any) -> Call:
        """Return the call that does what an action does; raises ``ValueError`` or ``TypeError`` where it is none."""
        from linegym import tools as calls

        return calls.call_of(action, self.settings.action)

    def malformed(self, reason: str) -> Any:  # noqa: ARG002 - it has no place in a number
        """Return an action for what was no call: one that is not possible, with the small cost of such."""
        from linegym import tools as calls

        return calls.impossible(self._seen, self.settings.action)

    def told(self, observation: Observation, info: Mapping[str, Any]) -> Sequence[Section]:  # noqa: ARG002
        """Return what an agent is told of an observation, section by section; of ``info`` nothing."""
        from linegym import tools as calls

        return calls.told(observation)

    def _observed(self) -> Observation:
        seen: NDArray[np.float32] = self._seen.copy()
        if self.settings.observation == "flat":
            return seen
        return {"action_mask": self._batch.masks[0].astype(np.int8), "observation": seen}

    def _info(self) -> dict[str, Any]:
        return self._row_info.told(self._card, self._seed if self._seed is not None else 0)

    def _opened_viewer(self) -> Viewer | None:
        if self.render_mode is None:
            return None
        from linegym.render.viewer import Viewer  # Pillow loads only where pictures are wanted

        return Viewer(self._batch, self.render_mode)


def saved_for(saved: Saved, settings: Settings) -> None:
    """Refuse a kept moment that does not fit.

    Raises:
        TypeError: it is not what ``save`` returned.
        ValueError: it was kept in an environment of another horizon or namespace.
    """
    if not isinstance(saved, Saved):
        raise TypeError(f"restore got {saved!r:.60}; give what save() returned")
    for name in ("horizon", "evaluation"):
        theirs, ours = getattr(saved.settings, name), getattr(settings, name)
        if theirs != ours:
            raise ValueError(f"this moment was kept with {name}={theirs!r}, here it is {ours!r}; make both alike")
