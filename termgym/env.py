"""TermEnv: a real terminal with Gymnasium's face."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from rolf.interface import Call, Section, Tool
from rolf.output import OutputSink
from termgym import tools
from termgym.assignment import Assignment, sandbox_opener
from termgym.episode import Episode
from termgym.observation import Observation, observe
from termgym.options import RENDER_MODES, Options
from termgym.outcome import Outcome
from termgym.plan import malformed
from termgym.render.viewer import Viewer
from termgym.reward.terms import Violation
from termgym.saved import Saved
from termgym.session.driving import Driver
from termgym.snapshot.change import Change
from termgym.spaces import action_space, observation_space
from termgym.tasks.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VOLATILE = ("info.late_output", "info.sandbox", "info.verifier.output")
"""What may differ between two runs of the same actions: when background jobs speak, what the machine provides, what a
verifier prints (test runners tell the time)."""

ACTIONS = (
    '{"command": "ls -a"}',
    '{"command": "mkdir -p ~/a/b && cd ~/a; pwd"}',
    '{"command": "cd /tmp; echo $PWD"}',
    '{"command": "echo one >> ~/note; cat ~/note"}',
    '{"command": "export WORD=two; echo $WORD > ~/word"}',
    '{"command": "echo $WORD; rm -f ~/word"}',
    '{"command": "cat ~/missing", "expected_exit_code": 1}',
    '{"command": "read answer"}',
    '{"keys": "yes Enter"}',
    '{"command": "exit 3"}',
)
"""Actions worth trying, which nobody would come upon by sampling text; whatever they do, they do again."""


class TermEnv(gym.Env[Observation, str]):
    """
    ## Description

    An agent works in one persistent bash of a real Linux system. It types a command, sees what comes of it, and goes on
    in the same shell: directory, variables, functions, jobs and files stay. Every step ends in exactly one event; a
    command that hangs, asks for input, leaves the shell or kills it does not stop the episode.

    The shell runs in a sandbox: an unprivileged user in namespaces of its own, with the host's system read-only, a
    private home, and no network unless asked for. A task says what is to be done and when it is; without one the shell
    is free.

    ## Action Space

    Text that holds one JSON object. `termgym.plan`, `termgym.keys` and `termgym.submit` write it.

    | action | keys | meaning |
    |---|---|---|
    | plan | `command`, `timeout` [s], … | run a command, with what the agent expects of it |
    | keys | `keys`, `timeout` [s] | type at the program that waits for input |
    | submission | `submit` | say that all is done; ends the episode |

    A plan may also say `idle_timeout` [s], `expected_exit_code`, `validation_steps` (checks) and `dialogue` (answers
    to a program that asks); `termgym.plan_schema` returns the JSON Schema. Text that is none of these never
    reaches the shell: the event is `MALFORMED`, and `stderr` holds the reason. `{"malformed": reason}` is what an
    interface in between gives where it could not read the agent's answer (`rolf_wrappers.RotateInterface`).

    ## Observation Space

    | key | meaning | space | unit |
    |---|---|---|---|
    | `instruction` | what is to be done | Text, 0 to 65 536 | characters |
    | `stdout` | what the command wrote to the terminal; head and tail if over `output_limit` | Text | characters |
    | `stderr` | what it wrote to its error stream; the reason of a malformed action | Text | characters |
    | `cwd` | where the shell stands | Text, 0 to 4 112 | characters |
    | `exit_code` | exit status, 128 + signal; -1 where no command ended in this step | Box(-1, 255, (1,)) | |
    | `event` | how the step ended: an index into `termgym.Event` | Discrete(11) | |
    | `step` | steps taken | Box(0, 2**31 - 1, (1,)) | steps |

    Text is Unicode; bytes that are no UTF-8 come as U+FFFD.

    ## Rewards

    `reward="terms"`: the sum of eleven terms, each told in `info["reward_terms"]`; `termgym.RewardWeights` has every
    number. `reward="success"`: 1.0 for the step that reaches the goal, else 0.0. `reward="shaped"`: the same plus a
    potential over the goal checks that leaves the best policy the best. What a verifier grants (0 to 1) is the share of
    success that is paid. A step that the machine failed has reward 0.0 and `info["masked"]`.

    ## Starting State

    The task's files, services and a fresh shell in `/home/agent`. A family of tasks draws its world (names, contents,
    cause) from the seed: `reset(seed=s)` depends on the task and `s` alone; `options={"world_seed": n}`, or a task
    `family/cause@n`, pins the world.

    ## Episode End

    - *Termination*: the goal is reached (`check_goal="step"`), the agent submits, or no shell starts any more. In a
      task of several stages a submission ends the stage, and the instruction of the next is in the observation.
    - *Truncation*: `max_steps` or `trajectory_timeout` is reached, or the machine failed (`info["failure_kind"]`).

    A task folder's verifier runs when the episode ends, on what is left when every process is dead. If it gives no
    verdict that counts, the episode is masked (`failure_kind="VerifierError"`).

    At the end all processes are killed, and `info` tells `diff`, `drift` and `state_digest`. A step after the end, or
    before the first reset, does nothing: its event is `NOT_RESET`, and it is truncated.

    ## Information

    `info` holds what the same actions bring about again: `event` (its name), `success`, `reward_terms`, `checks`,
    `violations`, `output_truncated`, `late_output` (of background jobs, before this step), `respawned` (the shell is a
    new one: files stay), `failure_kind`, `masked`; after a reset `task` and `sandbox`. What is measured is in
    `env.unwrapped.metrics`. A task folder's verdict is `verifier` (`reward`, `rewards`, `output`, `put_back`, …);
    that on one of several stages is `stage` as well.

    ## Arguments

    - `task`: name, path of a task folder (Harbor, Terminal-Bench 1), `Task`, or None for a free shell.
    - `tasks`: directory of task folders, or a list of what `task` takes: the seed draws one for each episode.
    - `backend`: `"local"` (namespaces) or `"local-unsafe"` (no isolation at all).
    - `snapshot`: how files are put back: `"overlay"`, `"overlay-userns"`, `"manifest"`, `"rsync"`; None: the first of
      these that works.
    - `reward`, `weights`: see Rewards; `weights` is a `RewardWeights` or a mapping of some of its fields.
    - `health`: what the health term looks at: `"heat"`, or `"score"`: load, GPU and disk too.
    - `check_goal`: `"step"` looks at the goal after every step, `"submit"` when the episode ends.
    - `max_steps`: steps until truncation; None: the task's own.
    - `trajectory_timeout`: wall time until truncation [s]; `"task"`: what the task's folder says; None: none.
    - `output_limit`: kept of each output stream [bytes].
    - `network`: whether the sandbox shares the host's network; a verifier too.
    - `build_network`: whether images may be built with the host's network.
    - `clock`: `"real"`, or `"frozen"` (libfaketime) where the time of day must not matter.
    - `limits`: a `Limits`, or a mapping of some of its fields, instead of the task's own.
    - `snapshot_dir`: where the rsync snapshot writes its logs.
    - `render_mode`: `"ansi"`, `"human"` or `"rgb_array"`.
    - `driver`: the event loop that drives the shell; a vector environment gives one to all its rows.

    ## Version History

    * v1: first version.

    ## Source

    bash(1), pty(7), namespaces(7); reward table and plan format of the project's own design.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium's base class declares it so
        "render_modes": [*RENDER_MODES],
        "render_fps": 4,
        "volatile": VOLATILE,
        "actions": ACTIONS,
    }

    def __init__(
        self,
        task: str | Path | Task | None = None,
        *,
        tasks: str | Path | Sequence[str | Path | Task] | None = None,
        driver: Driver | None = None,
        **settings: Any,
    ) -> None:
        options = Options.of(settings)
        self._assignment = Assignment(task, tasks)
        self.episode = Episode(sandbox_opener(options), options, driver)
        """The world behind this face."""
        # An environment that is dropped without close gives its machine back; at exit the supervisor sees to it.
        weakref.finalize(self, self.episode.close).atexit = False
        self._stepping = threading.Lock()
        self._check_goal = options.check_goal
        self.render_mode = options.render_mode
        self._viewer = None if options.render_mode is None else Viewer(options.render_mode, sys.stdout)
        self.action_space = action_space()
        self.observation_space = observation_space(options.output_limit)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Seeds the generator that the world seed is drawn from; None: the generator goes on.
            options: ``world_seed`` pins the world.

        Raises:
            ValueError: an option is unknown.
            TaskError: the task cannot be built.
            SandboxUnavailable: this host cannot provide the backend; the message says what is missing.
            SandboxError, SnapshotError: the machine failed, and so did a fresh one.
        """
        outcome = self.start(seed, options)
        return observe(outcome), outcome.info

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one step; see the class for what comes of it. Raises nothing that an agent could bring about.

        Raises:
            RuntimeError: another thread is in the middle of a step of this environment.
        """
        if not self._stepping.acquire(blocking=False):
            raise RuntimeError(
                "this environment is in step() in another thread and outputs would mix; give every thread its own"
            )
        try:
            outcome = self.shown(action, self.episode.step(action))
        finally:
            self._stepping.release()
        return observe(outcome), outcome.reward, outcome.terminated, outcome.truncated, outcome.info

    def start(self, seed: int | None, options: dict[str, Any] | None) -> Outcome:
        """Begin an episode as ``reset`` does; a vector environment batches the outcomes itself."""
        super().reset(seed=seed)
        outcome = self.episode.start(self._assignment.next(self.np_random, options))
        if self._viewer is not None:
            self._viewer.begin(outcome)
        return outcome

    def shown(self, action: str, outcome: Outcome) -> Outcome:
        """Show a step to whoever looks, and return it."""
        if self._viewer is not None:
            self._viewer.step(action, outcome)
        return outcome

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the episode so far as text (``ansi``) or the screen as an array (``rgb_array``)."""
        if self._viewer is None:
            gym.logger.warn("render was called without a render mode; give make(..., render_mode='ansi')")
            return None
        return self._viewer.render()

    def close(self) -> None:
        """Kill what runs and give the machine back; may be called again."""
        self.episode.close()

    def record_output(self, sink: OutputSink | None) -> None:
        """From the next step on hand to ``sink`` every stream that observation and info do not hold in full: those over
        ``output_limit``, and those that are no UTF-8. None: no longer (``rolf.output``)."""
        self.episode.sink = sink

    @property
    def task(self) -> Task | None:
        """The task of the episode; None before the first reset."""
        return self.episode.task

    # ---- as calls of tools (rolf.interface.Tooled)

    @property
    def purpose(self) -> str:
        """What is to be done in a terminal, in two sentences."""
        return tools.PURPOSE

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the episode."""
        return tools.tools(self._check_goal, self.task)

    def action_of(self, call: Call) -> str:
        """Return the action text of a call."""
        return tools.action_of(call)

    def call_of(self, action: str) -> Call:
        """Return the call that does what an action text does; raises `PlanError` where that is none."""
        return tools.call_of(action)

    def malformed(self, reason: str) -> str:
        """Return the action text for what was no call: the step is ``MALFORMED``, and ``stderr`` holds the reason."""
        return malformed(reason)

    def told(self, observation: Observation, info: Mapping[str, Any]) -> Sequence[Section]:
        """Return what an agent is told of an observation, section by section."""
        return tools.told(observation, info)

    # ---- beside the steps

    @property
    def metrics(self) -> dict[str, Any]:
        """What the last step cost: ``wall_s``, ``cpu_s`` [s]; ``peak_bytes``, ``io_bytes``; their ``source``."""
        return self.episode.metrics

    @property
    def violations_log(self) -> Sequence[Violation]:
        """The latest safety violations that were charged, oldest first."""
        return self.episode.violations_log

    def diff(self) -> tuple[Change, ...]:
        """Return what differs from the task's initial state now."""
        return self.episode.diff()

    def state_digest(self) -> str:
        """Return the digest of the files now: equal for equal content, modes, owners, links; times do not count."""
        return self.episode.state_digest()

    def save(self) -> Saved:
        """Keep this moment of the episode: files, directory, exported variables, steps and reward state.

        Processes, functions and aliases are not kept.

        Raises:
            RuntimeError: no episode is running, or a program waits for input.
        """
        return self.episode.save()

    def restore(self, saved: Saved) -> tuple[Observation, dict[str, Any]]:
        """Go back to a kept moment of this episode, as often as wanted; return what is seen there.

        A directory that cannot be entered again, because it was removed or closed while the shell stood in it, leaves
        the shell in its home; ``stderr`` says so.

        Raises:
            ValueError: it was kept in another episode.
        """
        if not isinstance(saved, Saved):
            raise TypeError(f"restore got {saved!r:.60}; give what save() returned")
        outcome = self.episode.restore(saved)
        if self._viewer is not None:
            self._viewer.begin(outcome)
        return observe(outcome), outcome.info

    def forget(self, saved: Saved) -> None:
        """Free what a kept moment holds; the next reset does it too."""
        self.episode.forget(saved)
