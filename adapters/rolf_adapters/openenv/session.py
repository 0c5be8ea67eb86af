"""Session: one environment behind a connection, with OpenEnv's face."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import Any, TypeVar
from uuid import uuid4

import gymnasium as gym
from openenv.core.env_server import Environment
from openenv.core.env_server.types import EnvironmentMetadata

import rolf
from rolf.interface import CallError, Tooled
from rolf.interface.call import checked
from rolf.interface.layouts import layout
from rolf.interface.styles.openai_tools import function
from rolf.trajectory import jsonable
from rolf.variant import Variant
from rolf_adapters.openenv.choices import chosen
from rolf_adapters.openenv.errors import DeadlineError, FaultError, NotResetError
from rolf_adapters.openenv.messages import Told, ToolCall, Whereabouts

DEADLINE = 60.0
"""How long a reset or a step may take, where nothing is said [s]."""
Result = TypeVar("Result")


class Session(Environment):  # type: ignore[misc]  # openenv is untyped where it is not installed
    """One environment and its episodes. Nothing is started before the first ``reset``.

    A step without an episode is `NotResetError`; one that takes too long is `DeadlineError`, one whose machine failed
    `FaultError`, and both end the episode: its environment is closed, and the next ``reset`` makes another. What is no
    call of a tool takes the step that the environment has for that, and ``malformed`` says why.

    Args:
        env_id: Gymnasium id with its module.
        arguments: For ``gymnasium.make``.
        deadline: How long a reset or a step may take [s].
        told: Layout of what is told: ``json``, ``tags``, ``transcript``.
        choices: Arguments that a client's variant may set, besides those that the environment says are harmless.

    Raises:
        ValueError: the deadline is not positive.
        LookupError: there is no such layout.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        env_id: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        deadline: float = DEADLINE,
        told: str = "tags",
        choices: Sequence[str] = (),
    ) -> None:
        super().__init__()
        if not deadline > 0:
            raise ValueError(f"deadline={deadline} [s]; give a positive time")
        self._usual = Variant(env_id, dict(arguments or {}))
        self._deadline = deadline
        self._layout = layout(told)
        self._choices = tuple(choices)
        self._env: gym.Env[Any, Any] | None = None
        self._made: Variant | None = None
        self._whole = False
        self._at = Whereabouts(env_id=env_id)

    def try_out(self) -> None:
        """Make the environment and close it again, unused: what cannot be played is told before anybody connects.

        Raises:
            TypeError: it has no tools.
            Exception: whatever it or Gymnasium says of its id and arguments.
        """
        env = self._usual.make()
        try:
            self._tooled(env)
        finally:
            env.close()

    @property
    def state(self) -> Whereabouts:
        """Where the session is."""
        return self._at

    def get_metadata(self) -> EnvironmentMetadata:
        """Return what OpenEnv shows of the environment."""
        name = self._usual.env_id.rpartition(":")[2]
        described = f"{name} of rolf: actions are calls of its tools, observations what a policy is told."
        return EnvironmentMetadata(name=name, description=described, version=rolf.__version__)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        variant: str | Mapping[str, Any] | None = None,
        attempt: int = 0,
        whole: bool = False,
        **unknown: Any,
    ) -> Told:
        """Begin an episode.

        Args:
            seed: What the environment is seeded with; None: it draws one, or the variant says.
            episode_id: What `state` calls the episode; None: something that no other is called.
            variant: What to play, as JSON or an object (`rolf.variant.Variant`): what the server plays, with what a
                client may choose of it.
            attempt: Which attempt at the variant.
            whole: Whether each observation has the environment's own beside the text.
            unknown: Refused.

        Raises:
            TypeError: an option is unknown, or the environment has no tools.
            ValueError: the variant is none, is of another environment, or asks for more than a client may choose.
            DeadlineError: it took too long.
            FaultError: the machine failed.
        """
        if unknown:
            raise TypeError(
                f"reset has no {', '.join(sorted(unknown))}; it has seed, episode_id, variant, attempt, whole"
            )
        self._at = Whereabouts(env_id=self._usual.env_id, seed=seed, episode_id=episode_id or str(uuid4()))
        self._whole = whole
        made = self._usual
        if variant is not None:
            asked, made = chosen(self._usual, variant, self._choices)
            if seed is None:  # that of the variant as it is written, wherever it is played
                seed = self._at.seed = asked.attempt_seed(attempt)
        observation, info = self._begin(made, seed)
        self._at.running = True
        told = self._told(observation, info)
        told.tools = [function(each) for each in self._world.tools]
        return told

    def step(self, action: ToolCall, timeout_s: float | None = None, **unknown: Any) -> Told:  # noqa: ARG002
        """Take the step that a call does.

        Args:
            action: The call.
            timeout_s: How long it may take, if that is less than what the server allows [s].
            unknown: Of no meaning; OpenEnv may pass what it likes.

        Raises:
            NotResetError: no episode has begun, or it is over.
            DeadlineError: it took too long.
            FaultError: the machine failed.
        """
        env = self._env
        if not self._at.running or env is None:
            happened = "the episode is over" if self._at.step_count else "no episode has begun"
            raise NotResetError(f"{happened}; reset first")
        malformed, world = "", self._world
        try:
            native = world.action_of(checked(action.tool, action.arguments, world.tools))
        except CallError as error:
            malformed = str(error)
            native = world.malformed(malformed)
        observation, reward, terminated, truncated, info = self._timely(
            "the step", lambda: env.step(native), env, timeout_s
        )
        self._at.step_count += 1
        if info.get("failure_kind") is not None:
            self.close()
            raise FaultError(f"{info['failure_kind']}; the episode is over")
        over = bool(terminated or truncated)
        self._at.total += float(reward)
        self._at.running = not over
        told = self._told(observation, info)
        told.reward, told.done, told.malformed = float(reward), over, malformed
        told.terminated, told.truncated = bool(terminated), bool(truncated)
        if over and "success" in info:
            told.success = bool(info["success"])
        return told

    def close(self) -> None:
        """Close the environment; calling it twice is allowed."""
        self._at.running = False
        env, self._env, self._made = self._env, None, None
        if env is not None:
            env.close()

    @property
    def _world(self) -> Tooled:
        assert self._env is not None
        return self._tooled(self._env)

    def _tooled(self, env: gym.Env[Any, Any]) -> Tooled:
        world = env.unwrapped
        if not isinstance(world, Tooled):
            raise TypeError(f"{self._usual.env_id} has no tools to be called; it must be rolf.interface.Tooled")
        return world

    def _begin(self, asked: Variant, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment of a variant: the one that is there, where it was made alike."""
        env = self._env
        if env is None or self._made is None or self._made.kwargs != asked.kwargs:
            self.close()
            self._env, self._made = asked.make(), asked
            env = self._env
            _ = self._world
        return self._timely("the reset", lambda: env.reset(seed=seed), env)

    def _told(self, observation: Any, info: Mapping[str, Any]) -> Told:
        told = Told(text=self._layout(self._world.told(observation, info), ""))
        if self._whole:
            told.observation = jsonable(observation)
        return told

    def _timely(
        self, what: str, do: Callable[[], Result], env: gym.Env[Any, Any], limit: float | None = None
    ) -> Result:
        """Do something within the deadline, in a thread of its own, since nothing here could be interrupted."""
        seconds = self._deadline if limit is None else min(limit, self._deadline)
        promise: Future[Result] = Future()
        late = threading.Event()
        name, work = f"rolf-session-{id(self)}", (promise, do, late, env)
        threading.Thread(target=_kept, args=work, name=name, daemon=True).start()
        wait([promise], seconds)
        if not promise.done():
            late.set()
            self.close()
            raise DeadlineError(f"{what} took longer than {seconds:g} s; the episode is over")
        try:
            return promise.result()
        except (RuntimeError, OSError) as error:  # what environments raise where their machine is to blame
            self.close()
            raise FaultError(f"{what}: {type(error).__name__}: {error}") from error


def _kept(promise: Future[Result], do: Callable[[], Result], late: threading.Event, env: gym.Env[Any, Any]) -> None:
    """Do it and keep what came of it; where nobody waits any more, close what it may have opened meanwhile."""
    try:
        promise.set_result(do())
    except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
        promise.set_exception(error)
    if late.is_set():
        env.close()
